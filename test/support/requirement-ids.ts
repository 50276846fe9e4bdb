/** What the product must be true of: each id must stand in the name of a test that ran. */

/** Requirements, with a few words each. */
export const requirements: ReadonlyMap<string, string> = new Map([
  ['R01', 'delay grows exponentially, every part of it is a setting'],
  ['R02', 'five jitter forms'],
  ['R03', 'the cap holds for every form, after jitter too'],
  ['R04', 'a bounded number of retries, per target and in total'],
  ['R05', 'delays are reproducible from a seed and a fake clock'],
  ['R06', 'hints of every form come before our own arithmetic'],
  ['R07', 'a hint beyond the ceiling parks no request'],
  ['R08', 'a random offset on every hint'],
  ['R10', 'what is retryable and what is not'],
  ['R11', 'overload is told apart from the own rate limit'],
  ['R12', 'no money left: not retried, the message kept'],
  ['R13', 'a refused key is not tried again and alerts'],
  ['R14', 'a fault that the same body reproduces is told apart'],
  ['R15', 'rules of the operator decide class and retry'],
  ['R20', 'the deadline is set at arrival and passed down'],
  ['R21', 'what cannot fit is not begun'],
  ['R22', 'no inner loop outlives the caller'],
  ['R30', 'nothing is retried after a tool call was delivered'],
  ['R31', 'idempotency, by key or by the body'],
  ['R32', 'one retry layer; stacked retries are shown'],
  ['R40', 'silent restart within the hold'],
  ['R41', 'continue from the partial text'],
  ['R42', 'fail forward with an error in the stream'],
  ['R43', 'never restart into an open stream'],
  ['R44', 'the choice is explicit, per tier'],
  ['R50', 'a tool fails at most twice a turn'],
  ['R51', 'steps per run are bounded'],
  ['R52', 'tokens per run are bounded'],
  ['R53', 'the same call twice in a row breaks the loop'],
  ['R60', 'content errors have a path of their own'],
  ['R61', 'one repair prompt that names the error'],
  ['R62', 'then a stronger tier or a clean error'],
  ['R70', 'a capability tier, not a model name'],
  ['R71', 'prompt variants per provider'],
  ['R72', 'failover on sustained failure only, no flapping'],
  ['R73', 'the log says which provider served'],
  ['R80', 'every attempt is recorded in full'],
  ['R81', 'metrics of attempts, outcomes and time asleep'],
  ['R82', 'the client request id is constant over retries'],
  ['R90', 'proof: delays under a fake clock stay in bounds'],
  ['R91', 'proof: a fixed sequence of statuses'],
  ['R92', 'proof: a total outage stays within the retry budget'],
]);

const casesPerArea: ReadonlyMap<string, number> = new Map([
  ['BR', 13],
  ['CF', 6],
  ['FO', 10],
  ['LI', 6],
  ['LG', 7],
  ['RH', 11],
  ['SE', 13],
  ['ST', 31],
  ['TR', 21],
]);

/** Small faults seen in other gateways: `BR-01` and so on, by area. */
export const cases: readonly string[] = [...casesPerArea].flatMap(([area, count]) =>
  Array.from({ length: count }, (_none, index) => `${area}-${String(index + 1).padStart(2, '0')}`),
);

/** Ids of `known` that stand in none of `names`, in the order of `known`. */
export function idsWithoutTest(known: Iterable<string>, names: Iterable<string>): string[] {
  const named = new Set<string>();
  for (const name of names) {
    for (const [id] of name.matchAll(/\b(?:R\d{2}|[A-Z]{2}-\d{2})\b/g)) named.add(id);
  }
  return [...known].filter((id) => !named.has(id));
}
