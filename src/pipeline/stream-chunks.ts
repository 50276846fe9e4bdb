/** A committed stream in the client's dialect; its row is durable before the terminator is given out. */
import type { StreamPart } from '../chat/stream-event.ts';
import type { ClientStreamEncoder } from '../dialects/dialect.ts';
import type { AnswerBatch } from '../engine/engine-request.ts';

export type StreamChunksInput = {
  readonly batches: AsyncGenerator<AnswerBatch, void, undefined>;
  readonly encoder: ClientStreamEncoder;
  /** Told of each batch before it is written. */
  readonly watch: (batch: AnswerBatch) => void;
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
      input.watch(batch);
      if (batch.joint !== undefined) {
        const comment = encoder.join(batch.joint);
        if (comment !== '') yield comment;
      }
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

/** Frames that lie side by side in what the provider sent leave as one stretch of it, uncopied. */
function encode(encoder: ClientStreamEncoder, parts: readonly StreamPart[]): Buffer | string {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return encoder.push(first);
  const pieces: (Buffer | string)[] = [];
  let stretch: Buffer | null = null;
  let stretchBytes = 0;
  const endStretch = (): void => {
    if (stretch === null) return;
    pieces.push(
      stretch.length === stretchBytes
        ? stretch
        : Buffer.from(stretch.buffer, stretch.byteOffset, stretchBytes),
    );
    stretch = null;
  };
  for (const part of parts) {
    const piece = encoder.push(part);
    if (piece.length === 0) continue;
    if (typeof piece === 'string') {
      endStretch();
      pieces.push(piece);
    } else if (stretch !== null && isNext(stretch, stretchBytes, piece)) {
      stretchBytes += piece.length;
    } else {
      endStretch();
      stretch = piece;
      stretchBytes = piece.length;
    }
  }
  endStretch();
  return joined(pieces);
}

function isNext(stretch: Buffer, stretchBytes: number, piece: Buffer): boolean {
  return piece.buffer === stretch.buffer && piece.byteOffset === stretch.byteOffset + stretchBytes;
}

function joined(pieces: readonly (Buffer | string)[]): Buffer | string {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return first;
  if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('');
  return Buffer.concat(
    pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)),
  );
}
