/** What a document may say, but probably should not. */
import { type JsonObject, objectAt, stringAt } from '../../base/json.ts';
import { selectVariant } from '../../prompts/select-variant.ts';
import type { Variant } from '../../prompts/variant.ts';
import { credentialReferences } from '../../providers/credential-references.ts';
import { providerKind } from '../../providers/registry.ts';
import { parseSecretReference, type SecretResolver } from '../../providers/secrets.ts';
import type { DocumentValues } from '../document.ts';
import { durationMs } from '../duration.ts';
import { type ConfigFault, formatPath } from './config-fault.ts';
import type { TierValues } from './tier-schema.ts';

const attemptsUsual = 6;

/** References that lead to no secret now: read from the raw document, so that they are told beside faults. */
export function unresolvedSecrets(
  document: JsonObject,
  resolveSecret: SecretResolver,
): readonly ConfigFault[] {
  const warnings: ConfigFault[] = [];
  const check = (reference: unknown, path: readonly PropertyKey[]): void => {
    if (typeof reference !== 'string' || parseSecretReference(reference) === null) return;
    if (resolveSecret(reference) === null) {
      warnings.push({
        path: formatPath(path),
        message: `${reference} does not resolve: calls that need it will fail`,
      });
    }
  };
  for (const [name, entry] of Object.entries(objectAt(document, 'providers') ?? {})) {
    for (const { reference, path } of credentialReferences(entry)) {
      check(reference, ['providers', name, ...path]);
    }
    for (const [header, value] of Object.entries(objectAt(entry, 'headers') ?? {})) {
      check(value, ['providers', name, 'headers', header]);
    }
  }
  check(stringAt(objectAt(document, 'alerts'), 'webhook'), ['alerts', 'webhook']);
  return warnings;
}

/** Warnings about the values of a document that has no fault. */
export function documentWarnings(
  values: DocumentValues,
  variants: ReadonlyMap<string, Variant>,
): readonly ConfigFault[] {
  const warnings: ConfigFault[] = [];
  if (Object.keys(values.tiers).length === 0) {
    warnings.push({ path: 'tiers', message: 'is empty: no request can be served' });
  }
  for (const [name, provider] of Object.entries(values.providers)) {
    const kind = providerKind(provider.kind);
    const isVendor = kind?.isKeyRequired === true && provider.base_url === kind.baseUrl;
    const isKeyless = kind?.isKeyless?.(provider) === true;
    if (isVendor && !isKeyless && credentialReferences(provider).length === 0) {
      warnings.push({
        path: formatPath(['providers', name, 'api_keys']),
        message: `is empty: this service wants a key, such as env:${kind.keyVariable ?? 'NAME'}`,
      });
    }
  }
  for (const [name, tier] of Object.entries(values.tiers)) {
    warnings.push(...retryWarnings(name, tier), ...variantWarnings(name, tier, variants));
  }
  return [...warnings, ...aliasWarnings(values)];
}

function retryWarnings(name: string, tier: TierValues): readonly ConfigFault[] {
  const { attempts, base, cap, mult } = tier.retry;
  const warnings: ConfigFault[] = [];
  if (attempts > attemptsUsual) {
    warnings.push({
      path: formatPath(['tiers', name, 'retry', 'attempts']),
      message: `${attempts} attempts keep an ailing provider busy; ${attemptsUsual} are usually enough`,
    });
  }
  const deadlineMs = durationMs(tier.deadline) ?? 0;
  let waitMs = 0;
  for (let retry = 0; retry < attempts - 1; retry += 1) {
    waitMs += Math.min(durationMs(cap) ?? 0, (durationMs(base) ?? 0) * mult ** retry);
  }
  if (waitMs > deadlineMs) {
    warnings.push({
      path: formatPath(['tiers', name, 'retry']),
      message: `the waits of ${attempts} attempts (${waitMs}ms) do not fit the deadline of ${tier.deadline}`,
    });
  }
  return warnings;
}

function variantWarnings(
  name: string,
  tier: TierValues,
  variants: ReadonlyMap<string, Variant>,
): readonly ConfigFault[] {
  if (variants.size === 0) return [];
  const warnings: ConfigFault[] = [];
  const requiredBy = new Map<string, string>();
  for (const [index, target] of tier.targets.entries()) {
    const selected = selectVariant({
      named: target.prompt,
      tier: name,
      provider: target.provider,
      exists: (variant) => variants.has(variant),
    });
    if (selected === null) {
      warnings.push({
        path: formatPath(['tiers', name, 'targets', index]),
        message: `has no prompt variant: neither ${name}.${target.provider} nor ${name} exists`,
      });
    } else {
      const required = variants.get(selected)?.requiredVariables ?? [];
      requiredBy.set([...required].sort().join(', '), selected);
    }
  }
  if (requiredBy.size > 1) {
    const list = [...requiredBy].map(([names, variant]) => `${variant} (${names || 'none'})`);
    warnings.push({
      path: formatPath(['tiers', name]),
      message: `its variants require different variables: ${list.join('; ')}`,
    });
  }
  return warnings;
}

function aliasWarnings(values: DocumentValues): readonly ConfigFault[] {
  const warnings: ConfigFault[] = [];
  const owners = new Map<string, string>();
  for (const [name, tier] of Object.entries(values.tiers)) {
    for (const [index, alias] of tier.aliases.entries()) {
      const path = formatPath(['tiers', name, 'aliases', index]);
      const owner = owners.get(alias);
      if (Object.hasOwn(values.tiers, alias)) {
        warnings.push({ path, message: `never used: ${alias} is the name of a tier` });
      } else if (owner !== undefined) {
        warnings.push({ path, message: `never used: tier ${owner} has the same alias` });
      } else owners.set(alias, name);
    }
  }
  return warnings;
}
