/** How far a client's socket has come: what waits for it, and what the system has taken. */
import type { Socket } from 'node:net';

/** A write under way counts as waiting until all of it went; how much of it went stands in the handle. */
type SocketInside = {
  readonly _handle?: {
    readonly bytesWritten?: number;
    readonly writeQueueSize?: number;
  } | null;
};

export function waitingBytes(socket: Socket | null): number {
  if (socket === null) return 0;
  const inside = socket as unknown as SocketInside;
  return socket.writableLength + (inside._handle?.writeQueueSize ?? 0);
}

/** Of all that was ever written to the socket. */
export function takenBytes(socket: Socket | null): number {
  const handle = (socket as unknown as SocketInside | null)?._handle;
  return (handle?.bytesWritten ?? 0) - (handle?.writeQueueSize ?? 0);
}
