/** What each provider received, newest last, in bounded memory. */
import type { ReplyEnd } from '../reply-plan.ts';
import type { HeaderValues } from './mask-headers.ts';

/** What answered a request. */
export type AnsweredBy =
  | { readonly kind: 'answer' }
  | { readonly kind: 'script'; readonly call: number }
  | { readonly kind: 'fault'; readonly fault: string }
  | { readonly kind: 'refusal' };

/** One request. The fields that are not read-only are filled in as it goes on. */
export type RequestRecord = {
  readonly id: number;
  readonly provider: string;
  readonly method: string;
  readonly path: string;
  readonly headers: HeaderValues;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Monotonic milliseconds, as are the other `...Ms` below. */
  readonly startedMs: number;
  body: Buffer;
  bodyBytes: number;
  /** Null until it is decided. */
  answeredBy: AnsweredBy | null;
  /** Null when no status line was written. */
  status: number | null;
  /** Why the real service would refuse the request, also when a script answered it. */
  complaint: string | null;
  /** Null while it is open. */
  end: ReplyEnd | null;
  endedMs: number | null;
  /** When the other side went before its answer was complete; null = it did not. */
  peerClosedMs: number | null;
};

const bodyBytesKept = 1_048_576;

export type RingLimits = { readonly entriesMax: number; readonly bytesMax: number };

export const ringLimits: RingLimits = { entriesMax: 1_000, bytesMax: 16 * 1_048_576 };

export class RequestRing {
  readonly #limits: RingLimits;
  #records: RequestRecord[] = [];
  #bytes = 0;

  constructor(limits: RingLimits = ringLimits) {
    this.#limits = limits;
  }

  push(record: RequestRecord): void {
    this.#records.push(record);
    this.#bytes += weight(record);
    this.#trim();
  }

  /** Keeps the body (the first MiB of it) with a record that is in the ring. */
  keepBody(record: RequestRecord, body: Buffer): void {
    record.bodyBytes = body.length;
    // A copy when cut: a slice would keep the whole buffer alive.
    record.body =
      body.length <= bodyBytesKept ? body : Buffer.from(body.subarray(0, bodyBytesKept));
    if (!this.#records.includes(record)) return;
    this.#bytes += record.body.length;
    this.#trim();
  }

  /** Oldest first; at most the latest `limit`. */
  list(provider: string | null, limit = this.#limits.entriesMax): readonly RequestRecord[] {
    const matching = this.#records.filter((one) => provider === null || one.provider === provider);
    return matching.slice(Math.max(0, matching.length - limit));
  }

  clear(): void {
    this.#records = [];
    this.#bytes = 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The newest entry stays, however large. */
  #trim(): void {
    let dropped = 0;
    const isTooMuch = (): boolean =>
      this.#records.length - dropped > this.#limits.entriesMax ||
      this.#bytes > this.#limits.bytesMax;
    while (dropped < this.#records.length - 1 && isTooMuch()) {
      const record = this.#records[dropped];
      if (record !== undefined) this.#bytes -= weight(record);
      dropped += 1;
    }
    if (dropped > 0) this.#records.splice(0, dropped);
  }
}

/** Body, headers and path in bytes, about. */
function weight(record: RequestRecord): number {
  let bytes = record.body.length + record.path.length + 400;
  for (const [name, value] of Object.entries(record.headers))
    bytes += name.length + String(value).length;
  return bytes;
}
