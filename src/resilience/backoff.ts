/** How long to wait before asking the same target again (R01, R02, R03, R05). */
import { type Random, uniform } from '../base/random.ts';

export type Jitter = 'full' | 'decorrelated' | 'equal' | 'proportional' | 'none';

export type BackoffPolicy = {
  readonly jitter: Jitter;
  readonly baseMs: number;
  readonly multiplier: number;
  readonly capMs: number;
};

/** Keeps a power finite: infinity times a draw of 0 is not a number. */
const exponentialMsMax = 2 ** 53 - 1;

/**
 * The delay in ms before a retry that no hint governs: [0, cap] for `full`, [base, cap] for every
 * other form (a base beyond the cap is the cap). `attempt` counts retries from 0; `previousMs` is the
 * delay before this one, null for the first. Draws once, except for `none`.
 */
export function backoffDelayMs(input: {
  readonly policy: BackoffPolicy;
  readonly attempt: number;
  readonly previousMs: number | null;
  readonly random: Random;
}): number {
  const { policy, random } = input;
  const exponentialMs = exponential(policy, input.attempt);
  return Math.min(policy.capMs, uncappedMs(policy, exponentialMs, input.previousMs, random));
}

function uncappedMs(
  policy: BackoffPolicy,
  exponentialMs: number,
  previousMs: number | null,
  random: Random,
): number {
  switch (policy.jitter) {
    case 'full':
      return uniform(random, 0, Math.min(policy.capMs, exponentialMs));
    case 'decorrelated': {
      const upperMs = Math.max(policy.baseMs, 3 * (previousMs ?? policy.baseMs));
      return uniform(random, policy.baseMs, upperMs);
    }
    case 'equal':
      return policy.baseMs + uniform(random, 0, exponentialMs);
    case 'proportional':
      return exponentialMs + uniform(random, 0, exponentialMs / 2);
    case 'none':
      return exponentialMs;
  }
}

function exponential(policy: BackoffPolicy, attempt: number): number {
  // Kept finite: nothing times infinity is no number.
  const factor = Math.min(exponentialMsMax, policy.multiplier ** attempt);
  return Math.min(exponentialMsMax, policy.baseMs * factor);
}

const hintSpreadRatio = 0.1;
const hintSpreadMs = 250;

/**
 * The delay in ms for a wait that a provider named: never less than `waitMs`, plus U(0, 10 %) and
 * U(0, 250 ms), so that clients with one hint do not come back together (R08). Draws twice.
 */
export function hintDelayMs(input: { readonly waitMs: number; readonly random: Random }): number {
  const shareMs = uniform(input.random, 0, input.waitMs * hintSpreadRatio);
  return input.waitMs + shareMs + uniform(input.random, 0, hintSpreadMs);
}
