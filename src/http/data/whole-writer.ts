/** Writes a whole answer straight to the socket. */
import type { ServerResponse } from 'node:http';
import { cutWhenStalled, type StallOptions } from './stalled-client.ts';

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
  options: StallOptions & { readonly extraHeaders: Readonly<Record<string, string>> | null },
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
