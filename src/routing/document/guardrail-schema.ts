/** Limits for agent loops, for all tiers and for one. */
import type { z } from 'zod';
import { choice, integer, strict } from './fields.ts';

const actions = ['off', 'observe', 'steer', 'land', 'stop'] as const;
const most = 1_000_000_000;

export const guardrailsSchema = strict({
  without_run_id: choice(['observe', 'off', 'enforce']).default('observe'),
  repeat: strict({
    limit: integer(1, 1000).default(2),
    same_args: integer(1, 1000).default(5),
    action: choice(actions).default('stop'),
  }).prefault({}),
  tool_failures: strict({
    limit: integer(1, 1000).default(2),
    action: choice(actions).default('steer'),
  }).prefault({}),
  steps: strict({
    limit: integer(1, most).nullable().default(15),
    action: choice(actions).default('stop'),
  }).prefault({}),
  tokens: strict({
    limit: integer(1, most).nullable().default(null),
    action: choice(actions).default('stop'),
  }).prefault({}),
});

/** A tier says only what differs from the whole document's. */
export const tierGuardrailsSchema = strict({
  without_run_id: choice(['observe', 'off', 'enforce']).optional(),
  repeat: strict({
    limit: integer(1, 1000).optional(),
    same_args: integer(1, 1000).optional(),
    action: choice(actions).optional(),
  }).optional(),
  tool_failures: strict({
    limit: integer(1, 1000).optional(),
    action: choice(actions).optional(),
  }).optional(),
  steps: strict({
    limit: integer(1, most).nullable().optional(),
    action: choice(actions).optional(),
  }).optional(),
  tokens: strict({
    limit: integer(1, most).nullable().optional(),
    action: choice(actions).optional(),
  }).optional(),
});

export type Guardrails = z.output<typeof guardrailsSchema>;
