/** Which client keys retry on top of our retries: over 10 % of a key's requests in 5 minutes (R32). */
import { ExpiringMap } from './expiring-map.ts';

/** A key's requests of the last 5 minutes, to within 30 s. `keyId` null = the gateway has no keys. */
export type RepeatShare = {
  readonly keyId: string | null;
  readonly requests: number;
  readonly repeats: number;
  /** Whether the alert `stacked_retries` is due; it is over when this is false again. */
  readonly isStacked: boolean;
};

type Bucket = { readonly number: number; requests: number; repeats: number };

const bucketMs = 30_000;
const bucketsKept = 10;
const keysMax = 1_000;
/** Below this a few repeats of a quiet key are no share of anything. */
const requestsMin = 20;
const shareMaxPercent = 10;

/** The 1,000 keys that asked last. Instants are monotonic ms. */
export class StackedRetries {
  readonly #keys = new ExpiringMap<{ readonly keyId: string | null; readonly buckets: Bucket[] }>({
    entriesMax: keysMax,
    keptMs: bucketMs * bucketsKept,
  });

  /** Counts a request that arrived, known as a repeat by its bytes or by its own count. */
  record(ask: {
    readonly keyId: string | null;
    readonly isRepeat: boolean;
    readonly nowMs: number;
  }): RepeatShare {
    const { keyId, nowMs } = ask;
    const name = nameOf(keyId);
    const key = this.#keys.get(name, nowMs) ?? { keyId, buckets: [] };
    const bucket = openBucket(key.buckets, nowMs);
    bucket.requests += 1;
    if (ask.isRepeat) bucket.repeats += 1;
    this.#keys.set(name, key, nowMs);
    return shareOf(key, nowMs);
  }

  /** The keys that stack retries now; for status, and to see that an alert is over. */
  stacked(nowMs: number): readonly RepeatShare[] {
    return this.#keys
      .entries(nowMs)
      .map(([, key]) => shareOf(key, nowMs))
      .filter((share) => share.isStacked);
  }
}

/** A key cannot be named like the absence of one. */
function nameOf(keyId: string | null): string {
  return keyId === null ? 'none' : `key ${keyId}`;
}

function openBucket(buckets: Bucket[], nowMs: number): Bucket {
  const number = Math.floor(nowMs / bucketMs);
  const last = buckets.at(-1);
  if (last !== undefined && last.number >= number) return last;
  const opened = { number, requests: 0, repeats: 0 };
  buckets.push(opened);
  if (buckets.length > bucketsKept) buckets.shift();
  return opened;
}

function shareOf(
  key: { readonly keyId: string | null; readonly buckets: readonly Bucket[] },
  nowMs: number,
): RepeatShare {
  const oldest = Math.floor(nowMs / bucketMs) - bucketsKept;
  const counted = key.buckets.filter((bucket) => bucket.number > oldest);
  const requests = counted.reduce((sum, bucket) => sum + bucket.requests, 0);
  const repeats = counted.reduce((sum, bucket) => sum + bucket.repeats, 0);
  const isStacked = requests >= requestsMin && repeats * 100 > requests * shareMaxPercent;
  return { keyId: key.keyId, requests, repeats, isStacked };
}
