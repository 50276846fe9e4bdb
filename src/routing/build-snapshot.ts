/** A valid document and its prompts -> the snapshot that requests run on. */
import type { JsonObject } from '../base/json.ts';
import { selectVariant } from '../prompts/select-variant.ts';
import type { Variant } from '../prompts/variant.ts';
import type { BindProvider, OperatorRule } from '../providers/bind.ts';
import type { Provider } from '../providers/provider.ts';
import { providerKind } from '../providers/registry.ts';
import type { ConcurrencyPolicy } from '../resilience/concurrency-limit.ts';
import type { ProviderValues } from './document/provider-schema.ts';
import type { TargetValues, TierValues } from './document/tier-schema.ts';
import type { DocumentValues } from './document.ts';
import { durationMs, sizeBytes } from './duration.ts';
import { targetId } from './effective.ts';
import { sharedLimits } from './shared-limits.ts';
import type { ClockPolicy, RetryPolicy, Snapshot, StreamPolicy, Target, Tier } from './snapshot.ts';
import { tierLookup } from './tier-lookup.ts';
import type { ValidDocument } from './validate.ts';

/** The prompt that asks for the rest of an answer that broke off. */
const continuationPrompt = 'continue';

/** Everything is resolved here; a request only reads. */
export function buildSnapshot(input: {
  readonly version: number;
  readonly createdAtMs: number;
  readonly valid: ValidDocument;
  readonly variants: ReadonlyMap<string, Variant>;
  readonly bindProvider: BindProvider;
}): Snapshot {
  const { values } = input.valid;
  const providers = new Map<string, Provider>();
  for (const [name, entry] of Object.entries(values.providers)) {
    providers.set(name, input.bindProvider(settingsOf(name, entry)));
  }
  const limitsOf = sharedLimits(Object.values(values.tiers));
  const tiers = new Map<string, Tier>();
  for (const [name, tier] of Object.entries(values.tiers)) {
    tiers.set(name, tierOf({ name, tier, providers, variants: input.variants, limitsOf }));
  }
  return {
    version: input.version,
    createdAtMs: input.createdAtMs,
    document: input.valid.document,
    server: serverOf(values),
    log: {
      keepMs: ms(values.log.keep),
      commitWaitMs: ms(values.log.commit_wait),
      onFailure: values.log.on_failure,
    },
    alerts: { webhook: values.alerts.webhook, minIntervalMs: ms(values.alerts.min_interval) },
    tiers,
    providers,
    resolveTier: tierLookup(tiers, values.default_tier),
  };
}

function ms(duration: string): number {
  const value = durationMs(duration);
  if (value === null) throw new Error('a duration that was not validated');
  return value;
}

function bytes(size: string): number {
  const value = sizeBytes(size);
  if (value === null) throw new Error('a size that was not validated');
  return value;
}

function serverOf(values: DocumentValues): Snapshot['server'] {
  return {
    bodyBytesMax: bytes(values.server.max_body),
    headerBytesMax: bytes(values.server.max_header),
    drainDelayMs: ms(values.server.drain_delay),
    drainTimeoutMs: ms(values.server.drain_timeout),
    cors: values.server.cors,
  };
}

function settingsOf(name: string, entry: ProviderValues): Parameters<BindProvider>[0] {
  const headers = Object.entries(entry.headers).map(([header, value]) => [
    header.toLowerCase(),
    value,
  ]);
  return {
    name,
    kind: entry.kind,
    baseUrl: entry.base_url,
    keyReferences: entry.api_keys,
    headers: Object.fromEntries(headers),
    allowMissingFinish: entry.allow_missing_finish,
    eventBytesMax: bytes(entry.max_event),
    rules: entry.rules.map(ruleOf),
    own: ownFields(entry),
  };
}

/** What this kind alone has. */
function ownFields(entry: ProviderValues): JsonObject {
  const names = Object.keys(providerKind(entry.kind)?.configShape ?? {});
  return Object.fromEntries(Object.entries(entry).filter(([name]) => names.includes(name)));
}

function ruleOf(rule: ProviderValues['rules'][number]): OperatorRule {
  return {
    status: listOf(rule.status),
    code: listOf(rule.code),
    type: listOf(rule.type),
    message: rule.message ?? null,
    errorClass: rule.class,
    retry: rule.retry,
  };
}

function listOf<Item>(value: Item | readonly Item[] | undefined): readonly Item[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as Item];
}

function tierOf(input: {
  readonly name: string;
  readonly tier: TierValues;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly variants: ReadonlyMap<string, Variant>;
  readonly limitsOf: (target: TargetValues) => ConcurrencyPolicy;
}): Tier {
  const { name, tier } = input;
  const clocks = clocksOf(tier.timeout);
  const targets = tier.targets.map((target) => targetOf(target, { ...input, clocks }));
  return {
    name,
    description: tier.description,
    aliases: tier.aliases,
    deadlineMs: ms(tier.deadline),
    retry: retryOf(tier.retry),
    breaker: {
      failures: tier.breaker.failures,
      windowMs: ms(tier.breaker.window),
      failureRate: tier.breaker.failure_rate,
      minSpanMs: ms(tier.breaker.min_span),
      idleWindowMs: ms(tier.breaker.idle_window),
      openForMs: ms(tier.breaker.open_for),
      openForMaxMs: ms(tier.breaker.open_for_max),
    },
    clocks,
    hedge: tier.hedge === false ? null : tier.hedge,
    failover: {
      onContentPolicy: tier.failover.on_content_policy,
      recheckMs: ms(tier.failover.recheck),
      waiters: tier.failover.waiters,
    },
    stream: streamOf(tier.stream),
    targets,
    variableFaults: tierVariableFaults(targets),
  };
}

function clocksOf(timeout: TierValues['timeout']): ClockPolicy {
  return {
    connectMs: ms(timeout.connect),
    headersMs: ms(timeout.headers),
    firstContentSoftMs: ms(timeout.first_content_soft),
    firstContentMs: ms(timeout.first_content),
    idleMs: ms(timeout.idle),
  };
}

function retryOf(retry: TierValues['retry']): RetryPolicy {
  return {
    attempts: retry.attempts,
    attemptsTotal: retry.attempts_total,
    repeatsProviderTools: retry.provider_tools === 'repeat',
    backoff: {
      jitter: retry.jitter,
      baseMs: ms(retry.base),
      multiplier: retry.mult,
      capMs: ms(retry.cap),
    },
    maxWaitMs: ms(retry.max_wait),
    hintCeilingMs: ms(retry.hint_ceiling),
    cooldownMaxMs: ms(retry.cooldown_max),
    budget: {
      ratio: retry.budget.ratio,
      minPerSecond: retry.budget.min_per_second,
      max: retry.budget.max,
    },
  };
}

function streamOf(stream: TierValues['stream']): StreamPolicy {
  return {
    holdTokens: stream.hold_tokens,
    holdMaxMs: ms(stream.hold_max),
    onInterrupt: stream.on_interrupt,
    maxContinuations: stream.max_continuations,
    maxDurationMs: ms(stream.max_duration),
    commitAfterMs: ms(stream.commit_after),
  };
}

/** What the document leaves open comes from the preset's model table. */
function targetOf(
  target: TargetValues,
  within: {
    readonly name: string;
    readonly tier: TierValues;
    readonly clocks: ClockPolicy;
    readonly providers: ReadonlyMap<string, Provider>;
    readonly variants: ReadonlyMap<string, Variant>;
    readonly limitsOf: (target: TargetValues) => ConcurrencyPolicy;
  },
): Target {
  const provider = within.providers.get(target.provider);
  if (provider === undefined) throw new Error('a target that was not validated');
  const facts = provider.modelFacts(target.model);
  const variant = selectVariant({
    named: target.prompt,
    tier: within.name,
    provider: target.provider,
    exists: (name) => within.variants.has(name),
  });
  const instruction = instructionFor(target.provider, within.variants);
  const hasOwnClocks = Object.keys(target.timeout).length > 0;
  return {
    id: targetId(target),
    provider,
    model: target.model,
    variant: variant === null ? null : (within.variants.get(variant) ?? null),
    params: target.params,
    contextWindow: target.context_window ?? facts.contextWindow,
    supports: { ...facts.supports, ...given(target.supports) },
    isThinking: target.thinking ?? facts.thinksByDefault ?? false,
    acceptsPrefill: target.accepts_prefill ?? facts.acceptsPrefill,
    ...(instruction === undefined ? {} : { instruction }),
    concurrency: within.limitsOf(target),
    clocks: hasOwnClocks
      ? clocksOf({ ...within.tier.timeout, ...given(target.timeout) })
      : within.clocks,
  };
}

/** `continue`, or the wording of that name for the provider. */
function instructionFor(
  provider: string,
  variants: ReadonlyMap<string, Variant>,
): Variant | undefined {
  const exists = (name: string): boolean => variants.has(name);
  const name = selectVariant({ named: null, tier: continuationPrompt, provider, exists });
  return name === null ? undefined : variants.get(name);
}

/** Without members that are undefined, which would hide what lies beneath. */
function given<Value>(values: { readonly [key: string]: Value | undefined }): {
  [key: string]: Value;
} {
  const entries = Object.entries(values).filter(
    (entry): entry is [string, Value] => entry[1] !== undefined,
  );
  return Object.fromEntries(entries);
}

/** All variants are asked, whichever will serve: a missing variable must not show on the day of the outage. */
function tierVariableFaults(targets: readonly Target[]): Tier['variableFaults'] {
  const byName = new Map<string, Variant>();
  for (const { variant } of targets) if (variant !== null) byName.set(variant.name, variant);
  const variants = [...byName.values()];
  return (variables: JsonObject) => {
    const namesByFault = new Map<string, string[]>();
    for (const variant of variants) {
      for (const fault of variant.variableFaults(variables)) {
        const names = namesByFault.get(fault);
        if (names === undefined) namesByFault.set(fault, [variant.name]);
        else names.push(variant.name);
      }
    }
    return [...namesByFault].map(([fault, names]) => `${fault} (prompt ${names.join(', ')})`);
  };
}
