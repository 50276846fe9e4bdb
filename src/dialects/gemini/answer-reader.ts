/** What the chunks of one answer say; a whole reply is an answer of one chunk. */
import { append } from '../../base/append.ts';
import { arrayAt, isJsonObject, numberAt, objectAt, property, stringAt } from '../../base/json.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import { encodeJson } from '../exact-json.ts';
import { type AnswerIdentity, CandidateReader } from './candidate-reader.ts';
import { familyOf } from './model-family.ts';
import { usageOf } from './usage-tally.ts';

/** `isFrameKept`: whether the chunk's bytes may go on to a client of this dialect as they are. */
export type Reading = { readonly events: readonly ChatEvent[]; readonly isFrameKept: boolean };

/** More candidates than the service ever makes. */
const choicesMax = 128;

export class AnswerReader {
  #responseId: string | null = null;
  #model: string | null = null;
  #isStarted = false;
  readonly #candidates = new Map<number, CandidateReader>();

  read(chunk: unknown): Reading {
    if (Array.isArray(chunk)) return this.#readAll(chunk);
    if (!isJsonObject(chunk)) return { events: [{ type: 'malformed' }], isFrameKept: false };
    const error = property(chunk, 'error');
    if (error !== undefined && error !== null) {
      const status = numberAt(error, 'code');
      return { events: [{ type: 'error', status, body: chunk }], isFrameKept: false };
    }
    const events = [...this.#start(chunk)];
    const candidates = arrayAt(chunk, 'candidates');
    for (const [place, candidate] of candidates.entries()) {
      append(events, this.#readCandidate(candidate, place, chunk));
    }
    const usage = usageOf(objectAt(chunk, 'usageMetadata'));
    if (usage !== null) events.push({ type: 'usage', usage });
    const blockReason = candidates.length > 0 ? null : blockReasonOf(chunk);
    if (blockReason === null) return { events, isFrameKept: true };
    events.push({ type: 'error', status: null, body: chunk });
    const raw = `blocked:${blockReason}`;
    events.push({ type: 'finish', choice: 0, reason: 'content_filter', raw });
    return { events, isFrameKept: false };
  }

  /** There is no terminal marker: the answer is whole when the body ends after a finish. */
  end(): readonly ChatEvent[] {
    const readers = [...this.#candidates.values()];
    if (readers.length === 0 || !readers.every((reader) => reader.isFinished)) return [];
    return [...readers.flatMap((reader) => reader.end()), { type: 'end' }];
  }

  #readAll(chunks: readonly unknown[]): Reading {
    const events = chunks
      .filter((chunk) => !Array.isArray(chunk))
      .flatMap((chunk) => this.read(chunk).events);
    return { events, isFrameKept: false };
  }

  #start(chunk: unknown): readonly ChatEvent[] {
    const id = stringAt(chunk, 'responseId') || null;
    const model = stringAt(chunk, 'modelVersion') || null;
    const isNews =
      (this.#responseId === null && id !== null) || (this.#model === null && model !== null);
    if (this.#isStarted && !isNews) return [];
    this.#isStarted = true;
    this.#responseId ??= id;
    this.#model ??= model;
    return [{ type: 'start', id: this.#responseId, model: this.#model }];
  }

  #readCandidate(candidate: unknown, place: number, chunk: unknown): readonly ChatEvent[] {
    const choice = numberAt(candidate, 'index') ?? place;
    if (
      !isJsonObject(candidate) ||
      !Number.isInteger(choice) ||
      choice < 0 ||
      choice >= choicesMax
    ) {
      return [{ type: 'malformed' }];
    }
    let reader = this.#candidates.get(choice);
    if (reader === undefined) {
      reader = new CandidateReader(choice);
      this.#candidates.set(choice, reader);
    }
    return reader.read(candidate, this.#identity(chunk));
  }

  /** Without a response's id, what stands around a call tells it from others: the same bytes give the same ids. */
  #identity(chunk: unknown): AnswerIdentity {
    const family = this.#model === null ? '' : familyOf(this.#model);
    return { family, seed: () => this.#responseId ?? textOf(chunk) };
  }
}

/** Why the prompt was refused: there is no answer then, and nothing else says so. */
function blockReasonOf(chunk: unknown): string | null {
  const reason = property(objectAt(chunk, 'promptFeedback'), 'blockReason');
  if (typeof reason !== 'string' && typeof reason !== 'number') return null;
  const isSaid = reason !== 0 && reason !== '' && reason !== 'BLOCK_REASON_UNSPECIFIED';
  return isSaid ? String(reason).slice(0, 80) : null;
}

function textOf(chunk: unknown): string {
  const text = encodeJson(chunk);
  return text.ok ? text.value : '';
}
