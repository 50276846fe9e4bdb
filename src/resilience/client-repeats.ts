/**
 * A client's own repeats of what just failed, known by their bytes: some SDKs retry whatever they are told
 * and send no count that rises (R32). Nothing is hashed unless the same key lately failed with a body of
 * the same length.
 */
import { createHash } from 'node:crypto';
import { ExpiringMap } from './expiring-map.ts';

/** `keyId` is the client key's; null when the gateway has none. */
export type ClientAsk = {
  readonly keyId: string | null;
  readonly path: string;
  readonly body: Uint8Array;
  /** Monotonic ms. */
  readonly nowMs: number;
};

export type KnownRepeat<Failure> = {
  /** 1 for the first repeat. */
  readonly count: number;
  /** What to answer at once, since the `Retry-After` of the failure still runs; null = ask upstream. */
  readonly answer: { readonly failure: Failure; readonly retryAfterMs: number } | null;
};

type Failed<Failure> = {
  readonly lane: string;
  readonly failure: Failure;
  readonly retryAfterUntilMs: number | null;
  count: number;
};

const entriesMax = 10_000;
const keptMs = 60_000;

/** The last 10,000 requests that failed, each for 60 s after it last did. */
export class ClientRepeats<Failure> {
  readonly #failed = new ExpiringMap<Failed<Failure>>({ entriesMax, keptMs }, ({ lane }) =>
    this.#leave(lane),
  );
  /** How many failures there are by key and body length: what a lookup asks before it hashes. */
  readonly #lanes = new Map<string, number>();

  /**
   * `retryAfterUntilMs`: monotonic ms; null when the failure told no `Retry-After`. `clientRetryCount`:
   * which repeat this request was itself, 0 for none; it outlives an entry that expired meanwhile.
   */
  noteFailure(
    ask: ClientAsk,
    ended: {
      readonly failure: Failure;
      readonly retryAfterUntilMs: number | null;
      readonly clientRetryCount: number;
    },
  ): void {
    const lane = laneOf(ask);
    const digest = digestOf(ask);
    const { failure, retryAfterUntilMs } = ended;
    const known = this.#failed.get(digest, ask.nowMs)?.count ?? 0;
    const count = Math.max(known, ended.clientRetryCount);
    this.#lanes.set(lane, (this.#lanes.get(lane) ?? 0) + 1);
    this.#failed.set(digest, { lane, failure, retryAfterUntilMs, count }, ask.nowMs);
  }

  /**
   * Ask once for each request that arrives: null unless it repeats one that failed within the last 60 s,
   * and then the repeat is counted. One that gets the failure again has with that failed anew.
   */
  countRepeat(ask: ClientAsk): KnownRepeat<Failure> | null {
    const { nowMs } = ask;
    if (this.isEmpty(nowMs) || !this.#lanes.has(laneOf(ask))) return null;
    const digest = digestOf(ask);
    const failed = this.#failed.get(digest, nowMs);
    if (failed === undefined) return null;
    failed.count += 1;
    const retryAfterMs =
      failed.retryAfterUntilMs === null ? 0 : Math.max(0, failed.retryAfterUntilMs - nowMs);
    if (retryAfterMs === 0) return { count: failed.count, answer: null };
    this.#failed.set(digest, failed, nowMs);
    return { count: failed.count, answer: { failure: failed.failure, retryAfterMs } };
  }

  /** The request was served after all: the same bytes are a new request from now on. */
  noteServed(ask: ClientAsk): void {
    if (this.isEmpty(ask.nowMs) || !this.#lanes.has(laneOf(ask))) return;
    this.#failed.delete(digestOf(ask));
  }

  /** True in a healthy process: nothing failed within the last 60 s. */
  isEmpty(nowMs: number): boolean {
    return this.size(nowMs) === 0;
  }

  size(nowMs: number): number {
    return this.#failed.size(nowMs);
  }

  #leave(lane: string): void {
    const left = (this.#lanes.get(lane) ?? 0) - 1;
    if (left > 0) this.#lanes.set(lane, left);
    else this.#lanes.delete(lane);
  }
}

function laneOf(ask: ClientAsk): string {
  return `${ask.body.byteLength}:${ask.keyId ?? ''}`;
}

/** The parts are told apart by the JSON around the first two. */
function digestOf(ask: ClientAsk): string {
  const hash = createHash('sha256').update(JSON.stringify([ask.keyId, ask.path]));
  return hash.update(ask.body).digest('base64url');
}
