import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PoisonTable } from '../../src/resilience/poison-table.ts';

const attempt = fc.record({
  kind: fc.constantFrom('fault', 'fault', 'fault', 'refusal', 'success'),
  fingerprint: fc.constantFrom('one', 'two'),
  bytes: fc.constant(3),
  target: fc.constantFrom('p1/m', 'p2/m', 'p3/m'),
  status: fc.constantFrom(500, 500, 502),
  code: fc.constantFrom(null, 'server_error'),
  isTargetHealthy: fc.boolean(),
});
type Attempt = typeof attempt extends fc.Arbitrary<infer Value> ? Value : never;

/** The rule read off the design, over the whole list of attempts. */
function isPoisoned(attempts: readonly Attempt[]): boolean {
  const firstFault = attempts.findIndex(({ kind }) => kind !== 'success');
  if (firstFault === -1) return false;
  return [...new Set(attempts.map(({ target }) => target))].some((target) => {
    const at = attempts.filter((each, index) => {
      if (each.target !== target) return false;
      // A success before the target's first failure was hashed by nobody.
      const failedBefore = attempts
        .slice(0, index)
        .some((earlier) => earlier.target === target && earlier.kind !== 'success');
      return each.kind !== 'success' || failedBefore;
    });
    const [first] = at;
    if (first === undefined) return false;
    const isSame = (each: Attempt): boolean =>
      each.kind === 'fault' && each.status === first.status && each.code === first.code;
    const isHealthy = at.filter(({ kind }) => kind !== 'success').at(-1)?.isTargetHealthy ?? false;
    const isElsewhere = attempts.some((each) => each.target !== target && isSame(each));
    return isHealthy && at.every(isSame) && at.length >= (isElsewhere ? 2 : 3);
  });
}

function tell(table: PoisonTable, given: Attempt): void {
  const { kind, ...rest } = given;
  if (kind === 'success') table.noteSuccess({ ...rest, nowMs: 0 });
  else if (kind === 'fault') table.note({ ...rest, errorClass: 'transient_infra', nowMs: 0 });
  else table.note({ ...rest, errorClass: 'rate_limit', status: 429, nowMs: 0 });
}

describe('poison table, for any attempts', () => {
  it('R14 agrees with the rule over the whole history, attempt by attempt', () => {
    fc.assert(
      fc.property(fc.array(attempt, { maxLength: 12 }), (attempts) => {
        const table = new PoisonTable();
        attempts.forEach((each, index) => {
          tell(table, each);
          for (const fingerprint of ['one', 'two']) {
            const own = attempts
              .slice(0, index + 1)
              .filter((past) => past.fingerprint === fingerprint);
            const verdict = isPoisoned(own) ? 'poisoned' : 'clean';
            expect(table.verdict(fingerprint, 0)).toBe(verdict);
          }
        });
      }),
      { numRuns: 500 },
    );
  });
});
