/** An answer as a client of each form reads it, strictly: what it says, by which model, how it ends. */
import { isJsonObject, type JsonObject, property } from '../../src/base/json.ts';
import { readGeminiArray, readGeminiReply, readGeminiStream } from './gemini-answers.ts';
import { readMessagesStream } from './messages-stream.ts';
import { readResponsesStream } from './responses-stream.ts';
import { readChatStream } from './running-gateway.ts';
import type { ClientForm } from './virtual-gateway.ts';

export type Said = {
  readonly text: string;
  /** It ended as answers of the form end; neither with an error nor just so. */
  readonly isComplete: boolean;
  readonly error: JsonObject | null;
  /** The models that the answer names, in order. */
  readonly models: readonly string[];
  /** Tokens in and out, as far as they are told. */
  readonly usage: { readonly input: number | null; readonly output: number | null };
};

type Json = { readonly [key: string]: unknown };

/** Throws where the stream breaks its form. */
export async function readStream(form: ClientForm, raw: string): Promise<Said> {
  switch (form) {
    case 'chat': {
      const read = await readChatStream(new Response(raw));
      const usage = read.events.findLast((event) => event.usage != null)?.usage ?? {};
      return {
        text: read.text,
        isComplete: read.isDone && read.error === null && read.finishReasons.length === 1,
        error: read.error,
        models: unique(read.events.map((event) => event.model)),
        usage: tokens(usage, 'prompt_tokens', 'completion_tokens'),
      };
    }
    case 'responses':
      return readResponses(raw);
    case 'messages': {
      const read = readMessagesStream(raw);
      if (read.error === null && read.faults.length > 0) throw new Error(read.faults.join('; '));
      const heads = read.events.map((event) => event['message']).filter(isJsonObject);
      return {
        text: read.content.map((block) => String(block['text'] ?? '')).join(''),
        isComplete: read.stopReason !== null && read.error === null,
        error: read.error as JsonObject | null,
        models: unique(heads.map((head) => head['model'])),
        usage: tokens(read.usage, 'input_tokens', 'output_tokens'),
      };
    }
    case 'gemini':
      return geminiSaid(readGeminiStream(withoutBlankLines(raw)));
    case 'gemini array':
      return geminiSaid(readGeminiArray(raw));
  }
}

function readResponses(raw: string): Said {
  const read = readResponsesStream(raw);
  if (read.faults.length > 0) throw new Error(read.faults.join('; '));
  const deltas = read.events.filter(({ type }) => type === 'response.output_text.delta');
  const heads = read.events.map((event) => event['response']).filter(isJsonObject);
  return {
    text: deltas.map(({ delta }) => String(delta)).join(''),
    isComplete: read.response?.['status'] === 'completed',
    error: read.error as JsonObject | null,
    models: unique(heads.map((head) => head['model'])),
    usage: tokens(read.response?.['usage'], 'input_tokens', 'output_tokens'),
  };
}

function geminiSaid(read: ReturnType<typeof readGeminiArray>): Said {
  return {
    text: read.text,
    isComplete: read.error === null && read.finishReasons.length > 0,
    error: read.error as JsonObject | null,
    models: read.models,
    usage: tokens(read.usage, 'promptTokenCount', 'candidatesTokenCount'),
  };
}

/** A whole answer, or an error document. */
export function readWhole(form: ClientForm, body: string): Said {
  const read = JSON.parse(body) as Json;
  const { error } = read;
  if (isJsonObject(error)) {
    return { text: '', isComplete: false, error, models: [], usage: tokens(null, '', '') };
  }
  switch (form) {
    case 'chat': {
      const choice = first(read['choices']);
      return {
        text: String(property(property(choice, 'message'), 'content')),
        isComplete: property(choice, 'finish_reason') === 'stop',
        error: null,
        models: unique([read['model']]),
        usage: tokens(read['usage'], 'prompt_tokens', 'completion_tokens'),
      };
    }
    case 'responses': {
      const part = first(property(first(read['output']), 'content'));
      return {
        text: String(property(part, 'text')),
        isComplete: read['status'] === 'completed',
        error: null,
        models: unique([read['model']]),
        usage: tokens(read['usage'], 'input_tokens', 'output_tokens'),
      };
    }
    case 'messages':
      return {
        text: String(property(first(read['content']), 'text')),
        isComplete: read['stop_reason'] === 'end_turn',
        error: null,
        models: unique([read['model']]),
        usage: tokens(read['usage'], 'input_tokens', 'output_tokens'),
      };
    case 'gemini':
    case 'gemini array':
      return geminiSaid(readGeminiReply(body));
  }
}

function first(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}

function unique(values: readonly unknown[]): readonly string[] {
  return [
    ...new Set(values.filter((value) => typeof value === 'string' && value !== '')),
  ] as string[];
}

function tokens(usage: unknown, input: string, output: string): Said['usage'] {
  const count = (name: string): number | null => {
    const value = property(usage, name);
    return typeof value === 'number' ? value : null;
  };
  return { input: count(input), output: count(output) };
}

/** Blank lines beyond the one that ends an event end nothing; any other line is data, or an SDK fails on it. */
function withoutBlankLines(raw: string): string {
  const odd = raw.split('\r\n').find((line) => line !== '' && !line.startsWith('data: '));
  if (odd !== undefined) throw new Error(`a line that is no data: ${odd}`);
  return raw.replace(/^(\r\n)+/, '').replace(/\r\n\r\n(\r\n)+/g, '\r\n\r\n');
}
