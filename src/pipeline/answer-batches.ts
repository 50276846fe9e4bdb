/** Any answer of the engine as the batches of a stream: also a whole one, and one that is still to come. */
import type { AnswerBatch, EngineAnswer } from '../engine/engine-request.ts';

export type Batches = AsyncGenerator<AnswerBatch, void, undefined>;

/** A provider that was asked for a stream may answer in one piece; its client still reads a stream. */
export function batchesOf(answer: EngineAnswer): Batches {
  switch (answer.kind) {
    case 'stream':
      return answer.batches;
    case 'whole':
      return lastBatch({ parts: answer.parts, isLast: true, failure: null });
    case 'failed':
      return lastBatch({ parts: [], isLast: true, failure: answer.failure });
    case 'gone':
      return lastBatch(null);
  }
}

/** Begun by its first pull; until the answer is there it can be ended by the request's signal alone. */
export async function* batchesToCome(answer: Promise<EngineAnswer>): Batches {
  yield* batchesOf(await answer);
}

async function* lastBatch(batch: AnswerBatch | null): Batches {
  if (batch !== null) yield batch;
}
