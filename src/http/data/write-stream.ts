/** A stream's answer on its way to the client: head, chunks as the client takes them, end. */
import type { ServerResponse } from 'node:http';
import type { Answer } from '../../pipeline/answer.ts';
import { cutWhenStalled, type StallOptions } from './stalled-client.ts';
import { StreamWriter } from './stream-writer.ts';

/** Whether all of it was handed over; else the client has gone. */
export async function writeStream(
  outgoing: ServerResponse,
  answer: Extract<Answer, { kind: 'stream' }>,
  options: StallOptions & { readonly extraHeaders: Readonly<Record<string, string>> | null },
): Promise<boolean> {
  const { chunks, keepAlive } = answer;
  outgoing.writeHead(200, {
    ...answer.headers,
    ...options.extraHeaders,
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  cutWhenStalled(outgoing, options);
  const writer = new StreamWriter(outgoing, options.clock, keepAlive);
  try {
    await pump(chunks, writer);
  } finally {
    writer.close();
  }
  if (writer.isGone) return false;
  outgoing.end();
  return true;
}

/** Pulls and writes until the stream ends or the client does. */
async function pump(
  chunks: AsyncGenerator<Buffer | string, void, undefined>,
  writer: StreamWriter,
): Promise<void> {
  while (!writer.isGone) {
    const step = await chunks.next();
    if (step.done === true) return;
    const room = writer.push(step.value);
    if (room !== null) await room;
  }
}
