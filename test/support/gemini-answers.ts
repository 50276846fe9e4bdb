/** A strict reader of what a client of gemini is sent: whole replies, event streams, arrays. It throws at the first fault. */

import { type GroundedText, readGrounding } from './gemini-grounding.ts';

type Json = { readonly [key: string]: unknown };

export type ReadAnswer = {
  /** Of the first candidate. */
  readonly citations: readonly GroundedText[];
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly {
    readonly id: string | null;
    readonly name: string;
    readonly args: Json;
  }[];
  /** In the order of the candidates. */
  readonly finishReasons: readonly string[];
  readonly usage: Json | null;
  readonly ids: readonly string[];
  readonly models: readonly string[];
  /** The in-stream error, after which nothing may come. */
  readonly error: Json | null;
  readonly documents: readonly Json[];
};

const finishWords = `STOP MAX_TOKENS SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII
  MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE
  MALFORMED_RESPONSE IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION IMAGE_OTHER NO_IMAGE
  MODEL_ARMOR CONTINUATION OTHER`.split(/\s+/);

const statusWords = `INVALID_ARGUMENT UNAUTHENTICATED PERMISSION_DENIED NOT_FOUND ABORTED
  RESOURCE_EXHAUSTED INTERNAL UNAVAILABLE DEADLINE_EXCEEDED`.split(/\s+/);

function check(isRight: boolean, fault: string): void {
  if (!isRight) throw new Error(fault);
}

function object(value: unknown, at: string): Json {
  check(typeof value === 'object' && value !== null && !Array.isArray(value), `${at}: no object`);
  return value as Json;
}

function list(value: unknown, at: string): readonly unknown[] {
  check(Array.isArray(value), `${at}: no array`);
  return value as readonly unknown[];
}

function fields(value: Json, known: string, at: string): void {
  for (const key of Object.keys(value))
    check(known.split(' ').includes(key), `${at}.${key}: unknown`);
}

/** `data: {...}` and two CR LF for each event, no names, no terminator; comment lines may stand between. */
export function readGeminiStream(stream: string): ReadAnswer {
  check(stream === '' || stream.endsWith('\r\n\r\n'), 'the stream ends inside an event');
  check(!/[^\r]\n|\r[^\n]/.test(stream), 'a line does not end in CR LF');
  const data = stream
    .split('\r\n\r\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      check(block.startsWith('data: ') && !block.includes('\n'), `no data line: ${block}`);
      return JSON.parse(block.slice('data: '.length)) as unknown;
    });
  return readChunks(data);
}

/** One JSON array. */
export function readGeminiArray(text: string): ReadAnswer {
  return readChunks(list(JSON.parse(text), 'array'));
}

export function readGeminiReply(text: string): ReadAnswer {
  const document = object(JSON.parse(text), 'reply');
  check(list(document['candidates'], 'candidates').length > 0, 'no candidates');
  return readChunks([document]);
}

export function readGeminiError(text: string): Json {
  const document = object(JSON.parse(text), 'error');
  fields(document, 'error', 'document');
  const error = object(document['error'], 'error');
  fields(error, 'code message status details tiergate', 'error');
  check(Number.isInteger(error['code']), 'code');
  check(typeof error['message'] === 'string' && error['message'] !== '', 'message');
  check(statusWords.includes(String(error['status'])), 'status');
  for (const detail of list(error['details'], 'details')) {
    const type = String(object(detail, 'detail')['@type']);
    check(type.startsWith('type.googleapis.com/google.rpc.'), 'detail type');
  }
  return error;
}

function readChunks(chunks: readonly unknown[]): ReadAnswer {
  const read = new AnswerTally();
  for (const [index, chunk] of chunks.entries()) read.push(object(chunk, `chunk ${index}`));
  return read.end();
}

class AnswerTally {
  #text = '';
  #thoughts = '';
  readonly #calls: { id: string | null; name: string; args: Json }[] = [];
  readonly #finishes = new Map<number, string>();
  readonly #seen = new Set<number>();
  readonly #ids = new Set<string>();
  readonly #models = new Set<string>();
  readonly #documents: Json[] = [];
  readonly #citations: GroundedText[] = [];
  #usage: Json | null = null;
  #error: Json | null = null;
  #hasMeta = false;

  push(chunk: Json): void {
    check(this.#error === null, 'a chunk after the error');
    check(!this.#hasMeta, 'a chunk after the last');
    this.#documents.push(chunk);
    if (chunk['error'] !== undefined) {
      this.#error = readGeminiError(JSON.stringify(chunk));
      return;
    }
    fields(
      chunk,
      'candidates promptFeedback usageMetadata modelVersion responseId createTime tiergate',
      'chunk',
    );
    for (const candidate of list(chunk['candidates'] ?? [], 'candidates')) {
      this.#candidate(object(candidate, 'candidate'));
    }
    if (chunk['usageMetadata'] !== undefined) {
      this.#usage = usageOf(object(chunk['usageMetadata'], 'usageMetadata'));
    }
    for (const [name, set] of [
      ['responseId', this.#ids],
      ['modelVersion', this.#models],
    ] as const) {
      check(typeof (chunk[name] ?? '') === 'string', name);
      if (chunk[name] !== undefined) set.add(String(chunk[name]));
    }
    this.#hasMeta = chunk['tiergate'] !== undefined;
  }

  #candidate(candidate: Json): void {
    fields(
      candidate,
      `content finishReason finishMessage index safetyRatings citationMetadata groundingMetadata avgLogprobs logprobsResult tokenCount urlContextMetadata`,
      'candidate',
    );
    const index = candidate['index'] ?? 0;
    check(typeof index === 'number' && Number.isInteger(index) && index >= 0, 'index');
    this.#seen.add(Number(index));
    const isFinished = this.#finishes.has(Number(index));
    const content = object(candidate['content'] ?? {}, 'content');
    fields(content, 'role parts', 'content');
    check((content['role'] ?? 'model') === 'model', 'role');
    for (const part of list(content['parts'] ?? [], 'parts')) {
      const says = this.#part(object(part, 'part'), Number(index) === 0);
      check(!isFinished || !says, 'content after the finish');
    }
    const grounding = candidate['groundingMetadata'];
    if (grounding !== undefined && Number(index) === 0) {
      this.#citations.push(...readGrounding(object(grounding, 'groundingMetadata'), this.#text));
    }
    const finish = candidate['finishReason'];
    if (finish === undefined) return;
    check(finishWords.includes(String(finish)), `finishReason ${String(finish)}`);
    check(!isFinished, 'a second finish');
    this.#finishes.set(Number(index), String(finish));
  }

  /** Whether it says something. */
  #part(part: Json, isFirst: boolean): boolean {
    const kinds = ['text', 'functionCall', 'inlineData', 'executableCode', 'codeExecutionResult'];
    const held = kinds.filter((kind) => part[kind] !== undefined);
    check(held.length === 1, `a part of ${held.length} kinds`);
    fields(part, `${kinds.join(' ')} thought thoughtSignature`, 'part');
    if (part['text'] !== undefined) {
      check(typeof part['text'] === 'string', 'text');
      if (isFirst && part['thought'] === true) this.#thoughts += String(part['text']);
      else if (isFirst) this.#text += String(part['text']);
      return part['text'] !== '';
    }
    if (part['functionCall'] === undefined) return true;
    const call = object(part['functionCall'], 'functionCall');
    fields(call, 'id name args', 'functionCall');
    check(typeof call['name'] === 'string' && call['name'] !== '', 'a call without a name');
    const id = call['id'] === undefined ? null : String(call['id']);
    check(id !== '' && (id === null || !id.startsWith('tgs_')), 'the id of a call');
    const args = object(call['args'] ?? {}, 'args');
    if (isFirst) this.#calls.push({ id, name: String(call['name']), args });
    return true;
  }

  end(): ReadAnswer {
    if (this.#error === null) {
      for (const index of this.#seen) check(this.#finishes.has(index), `${index} has no finish`);
    }
    return {
      text: this.#text,
      citations: this.#citations,
      thoughts: this.#thoughts,
      calls: this.#calls,
      finishReasons: [...this.#finishes]
        .sort(([one], [other]) => one - other)
        .map(([, word]) => word),
      usage: this.#usage,
      ids: [...this.#ids],
      models: [...this.#models],
      error: this.#error,
      documents: this.#documents,
    };
  }
}

function usageOf(usage: Json): Json {
  const number = (name: string): number => {
    const value = usage[name] ?? 0;
    check(typeof value === 'number' && Number.isInteger(value) && value >= 0, name);
    return Number(value);
  };
  const parts = ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'].map(number);
  const sum = parts.reduce((one, other) => one + other, number('toolUsePromptTokenCount'));
  if (usage['totalTokenCount'] !== undefined) check(number('totalTokenCount') === sum, 'total');
  return usage;
}
