/** Entries of `tiers`: the policies of a tier and its targets, with every default. */
import { z } from 'zod';
import { abilities } from '../../chat/requirements.ts';
import { promptNamePattern } from '../../prompts/load-variants.ts';
import {
  choice,
  decimal,
  duration,
  flag,
  integer,
  name,
  positiveTimer,
  strict,
  text,
  timer,
} from './fields.ts';
import { tierGuardrailsSchema } from './guardrail-schema.ts';
import { paramsSchema } from './params-schema.ts';
import { retryPresetNames, withRetryPreset } from './retry-presets.ts';

const tokensMax = 100_000_000;

const retryFields = strict({
  preset: choice(retryPresetNames).nullable().default(null),
  attempts: integer(1, 11, ': the first ask counts, so 1 is no retry').default(4),
  attempts_total: integer(1, 100).default(8),
  jitter: choice(['decorrelated', 'full', 'equal', 'proportional', 'none']).default('decorrelated'),
  base: timer.default('500ms'),
  mult: decimal(1, 10).default(2),
  cap: timer.default('30s'),
  max_wait: timer.default('10s'),
  hint_ceiling: timer.default('60s'),
  cooldown_max: timer.default('10m'),
  budget: strict({
    ratio: decimal(0, 10).default(0.2),
    min_per_second: decimal(0, 1000).default(1),
    max: decimal(0, 100_000).default(100),
  }).prefault({}),
  provider_tools: choice(['once', 'repeat']).default('once'),
});

const breakerSchema = strict({
  failures: integer(1, 1000).default(3),
  window: positiveTimer.default('30s'),
  failure_rate: decimal(0, 1).default(0.5),
  min_span: timer.default('1s'),
  idle_window: duration.default('0s'),
  open_for: timer.default('5s'),
  open_for_max: timer.default('15s'),
});

const timeoutSchema = strict({
  connect: positiveTimer.default('3s'),
  headers: positiveTimer.default('30s'),
  first_content_soft: positiveTimer.default('10s'),
  first_content: positiveTimer.default('60s'),
  idle: positiveTimer.default('30s'),
});

const targetTimeoutSchema = strict({
  connect: positiveTimer.optional(),
  headers: positiveTimer.optional(),
  first_content_soft: positiveTimer.optional(),
  first_content: positiveTimer.optional(),
  idle: positiveTimer.optional(),
});

const targetId = z
  .string({ error: 'must be a name' })
  .regex(/^[\x21-\x7e]{1,200}$/, 'must be printable ASCII without spaces, at most 200 characters')
  .refine((id) => !id.includes(','), { error: 'must hold no comma' });

const promptName = z
  .string({ error: 'must be the name of a prompt' })
  .regex(promptNamePattern, 'must be the name of a prompt');

const supportsSchema = strict({
  ...Object.fromEntries(abilities.map((ability) => [ability, flag.optional()])),
} as { readonly [ability in (typeof abilities)[number]]: z.ZodOptional<z.ZodBoolean> });

export const targetSchema = strict({
  id: targetId.optional(),
  provider: name,
  model: z
    .string({ error: "must be the provider's name for the model" })
    .regex(/^[\x21-\x7e]{1,200}$/, "must be the provider's name for the model"),
  prompt: promptName.nullable().default(null),
  params: paramsSchema.prefault({}),
  context_window: integer(1, tokensMax).nullable().default(null),
  supports: supportsSchema.prefault({}),
  thinking: flag.nullable().default(null),
  accepts_prefill: flag.nullable().default(null),
  timeout: targetTimeoutSchema.prefault({}),
  max_concurrent: integer(1, 1_000_000).default(1024),
  min_concurrent: integer(1, 1_000_000).default(4),
  queue: integer(0, 1_000_000).default(64),
  queue_wait: timer.default('2s'),
  price: z.record(text(64), decimal(0, 1_000_000)).nullable().default(null),
});

const alias = z
  .string({ error: 'must be a name or a glob' })
  .regex(/^[A-Za-z0-9._:/@+*-]{1,128}$/, 'must be a model name, or a glob with *');

export const tierSchema = strict({
  description: text(1000).default(''),
  aliases: z.array(alias, { error: 'must be a list' }).max(100).default([]),
  deadline: positiveTimer.default('120s'),
  dedupe: choice(['off', 'inflight', 'ttl']).default('off'),
  dedupe_ttl: timer.default('60s'),
  hedge: z
    .union([
      z.literal(false),
      strict({ ratio: decimal(0, 1).default(0.05), burst: decimal(0, 10_000).default(10) }),
    ])
    .prefault({}),
  retry: z.preprocess(withRetryPreset, retryFields).prefault({}),
  breaker: breakerSchema.prefault({}),
  timeout: timeoutSchema.prefault({}),
  failover: strict({
    on_content_policy: flag.default(false),
    recheck: timer.default('10m'),
    waiters: integer(0, 100_000).default(64),
  }).prefault({}),
  stream: strict({
    hold_tokens: integer(0, 10_000).default(20),
    hold_max: timer.default('500ms'),
    on_interrupt: choice(['continue', 'fail_forward']).default('continue'),
    max_continuations: integer(0, 10).default(2),
    max_duration: positiveTimer.default('10m'),
    commit_after: timer.default('45s'),
  }).prefault({}),
  output: strict({
    validate: flag.default(true),
    hold_streams: flag.default(false),
    repairs: integer(0, 5).default(1),
    escalate_to: name.nullable().default(null),
    on_refusal: choice(['deliver', 'escalate']).default('deliver'),
  }).prefault({}),
  guardrails: tierGuardrailsSchema.prefault({}),
  targets: z
    .array(targetSchema, { error: 'must be a list of targets' })
    .min(1, 'needs at least one target')
    .max(50, 'holds more than 50 targets'),
});

export type TierValues = z.output<typeof tierSchema>;
export type TargetValues = z.output<typeof targetSchema>;
