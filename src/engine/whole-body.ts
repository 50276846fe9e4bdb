/** Reads a body that is wanted as one piece, bounded in size and time. */
import type { Clock } from '../base/clock.ts';
import type { TransportFailure, UpstreamResponse } from '../transport/transport.ts';
import { BodyReader, type ClockName, type Due } from './body-reader.ts';

export type WholeBody =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'failed'; readonly failure: TransportFailure }
  | { readonly kind: 'clock'; readonly clock: ClockName };

export type WholeBodyOptions = {
  readonly clock: Clock;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  readonly bytesMax: number;
  /** Longest silence between two reads, ms. */
  readonly idleMs: number;
  /** The body must be whole by then; asked again each time, since it may move later. */
  readonly due: () => Due;
};

/** Leaves the connection reusable after `read`; closes it otherwise. */
export async function readWholeBody(
  response: UpstreamResponse,
  options: WholeBodyOptions,
): Promise<WholeBody> {
  const reader = new BodyReader(response, options.clock, options.signal);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const result = await reader.read(dueOf(options));
    switch (result.kind) {
      case 'bytes':
        chunks.push(result.bytes);
        bytes += result.bytes.length;
        if (bytes <= options.bytesMax) continue;
        reader.cancel();
        return { kind: 'too_large' };
      case 'end':
        reader.close();
        return { kind: 'read', bytes: joined(chunks) };
      case 'failed':
        reader.close();
        return result;
      case 'clock':
        if (isMoved(result.clock, options)) continue;
        reader.cancel();
        return result;
    }
  }
}

function dueOf(options: WholeBodyOptions): Due {
  const due = options.due();
  const idleAtMs = options.clock.monotonicMs() + options.idleMs;
  return idleAtMs < due.atMs ? { atMs: idleAtMs, clock: 'idle' } : due;
}

/** The clock that ran out has been set later in the meantime. */
function isMoved(name: ClockName, { clock, due }: WholeBodyOptions): boolean {
  const now = due();
  return name === now.clock && clock.monotonicMs() < now.atMs;
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}
