/** Reads a request body off the raw message, within a limit, into one Buffer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fail, type Result, success } from '../../base/result.ts';

/** `encoded`: a `content-encoding` we do not open, so that no small body grows large here. */
export type BodyFault = 'too_large' | 'encoded' | 'aborted';

const emptyBody = Buffer.alloc(0);

/**
 * The whole body, or the fault as soon as it is known: a length said to be too large is refused unread,
 * a chunked body once it is past `bytesMax` (at most one socket read, 64 KiB, beyond it). The rest is
 * left in the paused message.
 */
export function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  bytesMax: number,
): Promise<Result<Buffer, BodyFault>> {
  const { headers } = incoming;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    return Promise.resolve(fail('encoded'));
  }
  const length = headers['content-length'];
  if (length !== undefined && Number(length) > bytesMax) return Promise.resolve(fail('too_large'));
  if (length === '0') return Promise.resolve(success(emptyBody));
  if (headers.expect !== undefined) outgoing.writeContinue();
  return new Promise((resolve) => collect(incoming, bytesMax, resolve));
}

function collect(
  incoming: IncomingMessage,
  bytesMax: number,
  resolve: (result: Result<Buffer, BodyFault>) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const settle = (result: Result<Buffer, BodyFault>): void => {
    incoming.off('data', onData);
    incoming.off('end', onEnd);
    incoming.off('close', onClose);
    resolve(result);
  };
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      incoming.pause();
      settle(fail('too_large'));
    } else chunks.push(chunk);
  };
  const onEnd = (): void => {
    const [first] = chunks;
    if (first === undefined) settle(success(emptyBody));
    else settle(success(chunks.length === 1 ? first : Buffer.concat(chunks, bytes)));
  };
  const onClose = (): void => settle(fail('aborted'));
  incoming.on('data', onData);
  incoming.on('end', onEnd);
  incoming.on('close', onClose);
}
