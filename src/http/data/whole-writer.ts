/** Writes a whole answer straight to the socket. */
import type { ServerResponse } from 'node:http';
import { type StreamWriterOptions, watchStall } from './stream-writer.ts';

export type WholeAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
};

/**
 * Head and body in one write, with `content-length`. A client that takes nothing of it for `stallMs` is
 * cut off. Does nothing when the client has gone or an answer has begun.
 */
export function writeWhole(
  outgoing: ServerResponse,
  answer: WholeAnswer,
  options: StreamWriterOptions & { readonly extraHeaders: Readonly<Record<string, string>> | null },
): void {
  if (outgoing.destroyed || outgoing.headersSent) return;
  const { body } = answer;
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  outgoing.writeHead(answer.status, {
    ...answer.headers,
    ...options.extraHeaders,
    'content-length': String(length),
  });
  outgoing.end(body);
  if (outgoing.socket !== null && outgoing.socket.writableLength > 0)
    cutWhenStalled(outgoing, options);
}

/** Watches an ended answer until it is out. */
export function cutWhenStalled(outgoing: ServerResponse, options: StreamWriterOptions): void {
  if (outgoing.writableFinished || outgoing.destroyed) return;
  const stopWatch = watchStall(outgoing, options, () => outgoing.destroy());
  outgoing.once('close', stopWatch);
}
