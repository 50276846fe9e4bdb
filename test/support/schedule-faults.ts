/** Faults by chance: every way in which a provider was ever seen to fail, and its good and absurd hints. */
import { type Random, uniform } from '../../src/base/random.ts';
import { below, isChosen, logUniform, pick } from './schedule-draws.ts';
import type { Fault } from './schedule-model.ts';

const makers: readonly [(random: Random) => Fault, ...((random: Random) => Fault)[]] = [
  (random) => ({ kind: 'refuse', afterMs: pick(random, [0, 1, 200]) }),
  (random) => ({ kind: 'reset', afterMs: pick(random, [0, 20, 1500]) }),
  (random) => ({ kind: 'stale', afterMs: pick(random, [0, 5]) }),
  () => ({ kind: 'unreachable' }),
  () => ({ kind: 'silence' }),
  (random) => ({ kind: 'pings', everyMs: logUniform(random, 500, 40_000) }),
  (random) => ({ kind: 'slow', addMs: logUniform(random, 500, 120_000) }),
  (random) => ({ kind: 'trickle', gapMs: logUniform(random, 100, 40_000) }),
  (random) => ({ kind: 'stall', afterTokens: tokensSaid(random) }),
  (random) => ({ kind: 'cut', afterTokens: tokensSaid(random) }),
  (random) => ({ kind: 'end_early', afterTokens: tokensSaid(random) }),
  (random) => ({
    kind: 'error_event',
    afterTokens: pick(random, [0, tokensSaid(random)]),
    status: pick(random, [529, 500, 429, 400]),
    word: pick(random, ['overloaded', 'internal', 'rate_limit', 'x']),
  }),
  (random) => ({
    kind: 'bad_events',
    count: 1 + below(random, 3),
    afterTokens: tokensSaid(random),
  }),
  () => ({ kind: 'no_reply' }),
  () => ({ kind: 'empty' }),
  transient,
  transient,
  transient,
  transient,
  limited,
  limited,
  limited,
  refused,
  refused,
];

/** What breaks a stream that has begun. */
export function randomBreak(random: Random): Fault {
  const afterTokens = tokensSaid(random);
  return pick<Fault>(random, [
    { kind: 'stall', afterTokens },
    { kind: 'cut', afterTokens },
    { kind: 'cut', afterTokens },
    { kind: 'end_early', afterTokens },
    { kind: 'error_event', afterTokens, status: 529, word: 'overloaded' },
    { kind: 'bad_events', count: 2, afterTokens },
  ]);
}

/** Within the hold as often as after it. */
function tokensSaid(random: Random): number {
  return below(random, isChosen(random, 0.5) ? 5 : 40);
}

export function randomFault(random: Random): Fault {
  return pick(random, makers)(random);
}

function transient(random: Random): Fault {
  const status = pick(random, [500, 502, 503, 504, 529, 529, 408, 409]);
  return statusFault(random, status, status === 503 && isChosen(random, 0.5) ? 'overloaded' : null);
}

function limited(random: Random): Fault {
  return statusFault(random, 429, isChosen(random, 0.2) ? 'insufficient_quota' : null);
}

/** Faults of the request, the account or the model. */
function refused(random: Random): Fault {
  const [status, word] = pick<readonly [number, string | null]>(random, [
    [400, null],
    [400, 'context_length_exceeded'],
    [400, 'content_policy'],
    [401, null],
    [402, null],
    [403, null],
    [404, null],
    [404, 'model_not_found'],
    [413, null],
    [422, null],
  ]);
  return statusFault(random, status, word);
}

function statusFault(random: Random, status: number, word: string | null): Fault {
  return {
    kind: 'status',
    status,
    word,
    afterMs: pick(random, [1, 50, 400, logUniform(random, 1, 20_000)]),
    headers: isChosen(random, 0.5) ? hintHeaders(random) : {},
    hangs: isChosen(random, 0.05),
  };
}

const absurd = ['-5', 'soon', '1e9', '99999999999', '3600', '0', '', 'NaN', '5, 7'] as const;

function hintHeaders(random: Random): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  const draw = random.next();
  if (draw < 0.5) headers['retry-after'] = String(Math.ceil(logUniform(random, 0.5, 60)));
  else if (draw < 0.7) headers['retry-after-ms'] = uniform(random, 1, 5000).toFixed(1);
  else headers['retry-after'] = pick(random, absurd);
  if (isChosen(random, 0.1)) headers['x-should-retry'] = pick(random, ['true', 'false', 'maybe']);
  return headers;
}
