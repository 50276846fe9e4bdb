/** How far a client's socket has come, seen from what still waits for it. */
import type { Socket } from 'node:net';

/** A write under way counts as waiting until all of it went; how much of it went stands in the handle. */
type SocketInside = {
  readonly _handle?: { readonly writeQueueSize?: number } | null;
};

/** Falls with every byte that the system takes, while nothing new is written; equal later = nothing was taken. */
export function waitingMark(socket: Socket | null): number {
  if (socket === null) return 0;
  const inside = socket as unknown as SocketInside;
  return socket.writableLength + (inside._handle?.writeQueueSize ?? 0);
}
