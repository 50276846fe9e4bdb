/** Makes a `Provider` out of a document's entry: its kind's preset, its own URL, keys and rules. */
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { DialectName } from '../chat/request.ts';
import type { UpstreamDialect } from '../dialects/dialect.ts';
import type { ErrorClass } from '../failure/attempt-failure.ts';
import type { ErrorRule } from '../failure/error-rule.ts';
import type { Transport } from '../transport/transport.ts';
import { normalizedBaseUrl } from './base-url.ts';
import type { Provider, ProviderKey } from './provider.ts';
import type { ProviderKind } from './provider-kind.ts';
import { providerKind } from './registry.ts';
import { parseSecretReference, type SecretResolver, secretAlias } from './secrets.ts';

/** An operator's rule as the document has it; every given condition must hold. */
export type OperatorRule = {
  readonly status: readonly number[];
  readonly code: readonly string[];
  readonly type: readonly string[];
  /** The source of a regular expression, matched anywhere, in any case; null = any. */
  readonly message: string | null;
  readonly errorClass: ErrorClass;
  readonly retry: boolean | null;
};

/** A valid entry of `providers`, its units resolved. */
export type ProviderSettings = {
  readonly name: string;
  readonly kind: string;
  readonly baseUrl: string | null;
  /** `env:NAME` or `file:/path`, in the order of use. */
  readonly keyReferences: readonly string[];
  /** Lower-case names; a value may be a secret reference. */
  readonly headers: Readonly<Record<string, string>>;
  readonly allowMissingFinish: boolean;
  readonly eventBytesMax: number;
  readonly rules: readonly OperatorRule[];
  /** The fields that this kind alone has (`configShape`). */
  readonly own: JsonObject;
};

export type BindProvider = (settings: ProviderSettings) => Provider;

/**
 * The way from settings to providers. Settings come out of a validated document, so an unknown kind
 * or dialect is a bug and throws.
 */
export function createProviderBinder(input: {
  readonly dialectByName: (name: DialectName) => UpstreamDialect | null;
  readonly resolveSecret: SecretResolver;
  readonly clock: Clock;
  readonly transport: Transport;
}): BindProvider {
  return (settings) => {
    const kind = providerKind(settings.kind);
    if (kind === null) throw new Error(`no provider kind ${settings.kind}`);
    const dialect = input.dialectByName(kind.dialect);
    if (dialect === null) throw new Error(`no upstream dialect ${kind.dialect}`);
    return bind({ ...input, settings, kind, dialect });
  };
}

function bind(input: {
  readonly settings: ProviderSettings;
  readonly kind: ProviderKind;
  readonly dialect: UpstreamDialect;
  readonly resolveSecret: SecretResolver;
  readonly clock: Clock;
  readonly transport: Transport;
}): Provider {
  const { settings, kind, resolveSecret, clock, transport } = input;
  const { own } = settings;
  const { deadlineHeader, nameOf } = kind;
  const baseUrl = normalizedBaseUrl(
    settings.baseUrl ?? kind.baseUrlOf?.(own) ?? kind.baseUrl ?? '',
  );
  return {
    name: settings.name,
    kind: kind.name,
    dialect: kind.upstreamOf?.(own) ?? input.dialect,
    baseUrl,
    keys: [
      ...settings.keyReferences.map((reference): ProviderKey => {
        const alias = secretAlias(reference);
        const resolve = () => resolveSecret(reference);
        return { alias, resolve, ...kind.proofOf?.({ alias, resolve }, { clock, transport }) };
      }),
      ...(kind.credentialsOf?.({ own, resolveSecret, clock, transport }) ?? []),
    ],
    operatorRules: settings.rules.map(errorRule),
    allowMissingFinish: settings.allowMissingFinish,
    eventBytesMax: settings.eventBytesMax,
    takesIdempotencyKey: kind.takesIdempotencyKey,
    ...(deadlineHeader === undefined ? {} : { deadlineHeader }),
    passedHeaders: kind.passedHeaders,
    modelFacts: kind.modelFacts,
    ...(nameOf === undefined ? {} : { nameOf: (model) => nameOf(model, own) }),
    urlFor: ({ model, isStream }) => kind.urlFor({ baseUrl, model, isStream, own }),
    headersFor: headersOf(input),
  };
}

function headersOf({
  settings,
  kind,
  dialect,
  resolveSecret,
}: {
  readonly settings: ProviderSettings;
  readonly kind: ProviderKind;
  readonly dialect: UpstreamDialect;
  readonly resolveSecret: SecretResolver;
}): Provider['headersFor'] {
  const streamType = dialect.streamType ?? 'text/event-stream';
  const { authHeader, authValue } = kind.authOf?.(settings.own) ?? kind;
  const fixed: Record<string, string> = {
    'content-type': 'application/json',
    ...kind.fixedHeaders,
  };
  const referenced: (readonly [name: string, reference: string])[] = [];
  for (const [name, value] of Object.entries(settings.headers)) {
    if (parseSecretReference(value) === null) fixed[name] = value;
    else referenced.push([name, value]);
  }
  return ({ secret, isStream }) => {
    const headers: Record<string, string> = {
      ...fixed,
      accept: isStream ? streamType : 'application/json',
    };
    for (const [name, reference] of referenced) {
      const value = resolveSecret(reference);
      if (value !== null) headers[name] = value;
    }
    if (secret !== null) headers[authHeader] = authValue(secret);
    return headers;
  };
}

function errorRule(rule: OperatorRule, index: number): ErrorRule {
  return {
    name: `operator[${index}]`,
    ...(rule.status.length > 0 ? { status: rule.status } : {}),
    ...(rule.code.length > 0 ? { code: rule.code } : {}),
    ...(rule.type.length > 0 ? { type: rule.type } : {}),
    ...(rule.message === null ? {} : { message: new RegExp(rule.message, 'i') }),
    errorClass: rule.errorClass,
    retry: rule.retry,
  };
}
