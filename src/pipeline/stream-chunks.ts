/** A committed stream in the client's dialect; its row is durable before the terminator is given out. */
import type { StreamPart } from '../chat/stream-event.ts';
import type { ClientStreamEncoder } from '../dialects/dialect.ts';
import type { AnswerBatch } from '../engine/engine-request.ts';

export type StreamChunksInput = {
  readonly batches: AsyncGenerator<AnswerBatch, void, undefined>;
  readonly encoder: ClientStreamEncoder;
  /** Writes the request's row as it now stands; called exactly once. */
  readonly record: () => Promise<void>;
};

export async function* streamChunks(
  input: StreamChunksInput,
): AsyncGenerator<Buffer | string, void, undefined> {
  const { batches, encoder } = input;
  let isRecorded = false;
  const record = async (): Promise<void> => {
    if (isRecorded) return;
    isRecorded = true;
    await input.record();
  };
  try {
    for await (const batch of batches) {
      const bytes = encode(encoder, batch.parts);
      if (!batch.isLast) {
        if (bytes.length > 0) yield bytes;
        continue;
      }
      await record();
      if (bytes.length > 0) yield bytes;
      if (batch.failure !== null) yield encoder.fail(batch.failure);
    }
  } finally {
    // Whoever stops early ends the engine's flow first, so that the row says how it ended.
    await batches.return();
    await record();
  }
}

function encode(encoder: ClientStreamEncoder, parts: readonly StreamPart[]): Buffer | string {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return encoder.push(first);
  const pieces = parts.map((part) => encoder.push(part)).filter((piece) => piece.length > 0);
  if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('');
  return Buffer.concat(
    pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)),
  );
}
