/** A client whose socket takes nothing while bytes wait for it is gone, whatever else happens to its answer. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { takenBytes, waitingBytes } from './socket-progress.ts';

export type StallOptions = {
  readonly clock: Clock;
  /** How long it may take nothing. */
  readonly stallMs: number;
};

/** How often it is looked at while it may take nothing. */
const looksPerStall = 4;

/** Destroys `outgoing` then. Ends with the response. */
export function cutWhenStalled(outgoing: ServerResponse, { clock, stallMs }: StallOptions): void {
  if (outgoing.writableFinished || outgoing.destroyed) return;
  const { socket } = outgoing;
  let taken = takenBytes(socket);
  let sinceMs = clock.monotonicMs();
  const look = (): void => {
    const nowMs = clock.monotonicMs();
    const takenNow = takenBytes(socket);
    if (takenNow !== taken || waitingBytes(socket) === 0) {
      taken = takenNow;
      sinceMs = nowMs;
    } else if (nowMs - sinceMs >= stallMs) {
      outgoing.destroy();
      return;
    }
    cancel = clock.schedule(stallMs / looksPerStall, look);
  };
  let cancel = clock.schedule(stallMs / looksPerStall, look);
  outgoing.once('close', () => cancel());
}
