/** The one schema of the whole document: validation, defaults, types and JSON Schema come from here. */
import { z } from 'zod';
import {
  bufferSize,
  choice,
  duration,
  flag,
  name,
  secretReference,
  size,
  strict,
  timer,
} from './document/fields.ts';
import { guardrailsSchema } from './document/guardrail-schema.ts';
import { providerSchema } from './document/provider-schema.ts';
import { tierSchema } from './document/tier-schema.ts';

const origin = z
  .string({ error: 'must be an origin' })
  .regex(/^(\*|https?:\/\/[A-Za-z0-9.:[\]-]{1,255})$/, 'must be an origin such as https://host');

export const documentSchema = strict({
  $schema: z.string().optional(),
  server: strict({
    max_body: bufferSize.default('32mb'),
    max_header: bufferSize.default('32kb'),
    drain_delay: timer.default('0s'),
    drain_timeout: timer.default('30s'),
    cors: z.array(origin, { error: 'must be a list' }).max(100).default([]),
  }).prefault({}),
  alerts: strict({
    webhook: secretReference.nullable().default(null),
    min_interval: timer.default('1h'),
  }).prefault({}),
  default_tier: name.nullable().default(null),
  log: strict({
    keep: duration.default('90d'),
    keep_bytes: size.nullable().default(null),
    bodies: choice(['none', 'sampled', 'all']).default('none'),
    commit_wait: timer.default('250ms'),
    on_failure: choice(['serve', 'refuse']).default('serve'),
  }).prefault({}),
  idempotency: strict({
    ttl: duration.default('24h'),
    detach: flag.default(true),
  }).prefault({}),
  guardrails: guardrailsSchema.prefault({}),
  providers: z.record(name, providerSchema, { error: 'must be a mapping of providers' }),
  tiers: z.record(name, tierSchema, { error: 'must be a mapping of tiers' }),
});

/** A valid document with every default filled in, still in its written units. */
export type DocumentValues = z.output<typeof documentSchema>;
