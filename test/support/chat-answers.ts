/** A strict reader of what a client of openai-chat is sent: chunks and whole replies. It throws at the first fault. */

import { type ReadUrlCitation, readUrlCitation } from './url-citations.ts';

type Json = { readonly [key: string]: unknown };

export type ReadChat = {
  /** Of the first choice. */
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: string;
  }[];
  /** One a choice. */
  readonly finishReasons: readonly string[];
  readonly usage: Json | null;
  readonly model: string;
  /** The fields of each `url_citation`, and the text that it is of. */
  readonly citations: readonly ReadUrlCitation[];
};

const chunkFields = `id object created model choices usage service_tier system_fingerprint`.split(
  ' ',
);
const deltaFields = `role content refusal tool_calls reasoning_content annotations`.split(' ');

function check(isRight: boolean, fault: string): void {
  if (!isRight) throw new Error(fault);
}

function object(value: unknown, at: string): Json {
  check(typeof value === 'object' && value !== null && !Array.isArray(value), `${at}: no object`);
  return value as Json;
}

function list(value: unknown, at: string): readonly Json[] {
  check(Array.isArray(value), `${at}: no array`);
  return (value as readonly unknown[]).map((entry, index) => object(entry, `${at}[${index}]`));
}

function known(value: Json, fields: readonly string[], at: string): void {
  for (const key of Object.keys(value)) check(fields.includes(key), `${at}.${key}: unknown`);
}

function count(value: unknown, at: string): void {
  check(Number.isSafeInteger(value) && Number(value) >= 0, `${at}: no count`);
}

/** `text`: all of the answer so far, in which the indexes count code points. */
function readAnnotations(value: unknown, text: string): readonly ReadUrlCitation[] {
  return list(value ?? [], 'annotations').map((annotation) => {
    known(annotation, ['type', 'url_citation'], 'annotation');
    check(annotation['type'] === 'url_citation', `annotation: ${annotation['type']}`);
    return readUrlCitation(object(annotation['url_citation'], 'url_citation'), text);
  });
}

function readUsage(value: unknown): Json | null {
  if (value === undefined || value === null) return null;
  const usage = object(value, 'usage');
  for (const name of ['prompt_tokens', 'completion_tokens', 'total_tokens']) {
    if (usage[name] !== undefined) count(usage[name], `usage.${name}`);
  }
  return usage;
}

function logprobs(value: unknown): void {
  if (value === null || value === undefined) return;
  const told = object(value, 'logprobs');
  known(told, ['content', 'refusal'], 'logprobs');
  for (const name of ['content', 'refusal']) {
    for (const token of list(told[name] ?? [], `logprobs.${name}`)) {
      known(token, ['token', 'logprob', 'bytes', 'top_logprobs'], name);
      for (const each of [token, ...list(token['top_logprobs'], 'top_logprobs')]) {
        check(typeof each['token'] === 'string', 'a token without its text');
        check(Number(each['logprob']) <= 0, `logprob: ${each['logprob']}`);
        check(each['bytes'] === null || Array.isArray(each['bytes']), 'a token without bytes');
      }
    }
  }
}

type Call = { id: string; name: string; arguments: string };

class Chunks {
  readonly #calls: Call[] = [];
  readonly #finish = new Map<unknown, string>();
  #head: Json | null = null;
  #text = '';
  #refusal = '';
  readonly #citations: ReadUrlCitation[] = [];
  #usage: Json | null = null;

  read(chunk: Json): void {
    known(chunk, chunkFields, 'chunk');
    check(chunk['object'] === 'chat.completion.chunk', `object: ${chunk['object']}`);
    // The model may become another one: services fall back by themselves.
    for (const name of ['id', 'created']) {
      const told = this.#head?.[name] ?? chunk[name];
      check(chunk[name] !== undefined && chunk[name] === told, `${name} changed`);
    }
    check(typeof chunk['model'] === 'string', 'no model');
    this.#head ??= chunk;
    check(this.#usage === null, 'a chunk after the usage');
    this.#usage = readUsage(chunk['usage']);
    const choices = list(chunk['choices'], 'choices');
    check(choices.length > 0 || this.#usage !== null, 'a chunk that says nothing');
    for (const choice of choices) this.#readChoice(choice);
  }

  #readChoice(choice: Json): void {
    const { index } = choice;
    count(index, 'choices.index');
    check(!this.#finish.has(index), 'a delta after the finish');
    const delta = object(choice['delta'], 'delta');
    known(delta, deltaFields, 'delta');
    logprobs(choice['logprobs']);
    if (index === 0) this.#readDelta(delta);
    const reason = choice['finish_reason'];
    if (reason === null || reason === undefined) return;
    // An open list: of what has no word here the provider's own is told.
    check(typeof reason === 'string' && reason !== '', `finish_reason: ${reason}`);
    this.#finish.set(index, String(reason));
  }

  #readDelta(delta: Json): void {
    this.#text += String(delta['content'] ?? '');
    this.#refusal += String(delta['refusal'] ?? '');
    this.#citations.push(...readAnnotations(delta['annotations'], this.#text));
    for (const call of list(delta['tool_calls'] ?? [], 'tool_calls')) {
      const said = object(call['function'], 'function');
      const at = call['index'];
      if (at === this.#calls.length) {
        check(typeof call['id'] === 'string' && call['id'] !== '', 'a call without an id');
        check(typeof said['name'] === 'string' && said['name'] !== '', 'a call without a name');
        check(call['type'] === 'function', 'a call without its type');
        this.#calls.push({ id: String(call['id']), name: String(said['name']), arguments: '' });
      }
      const open = this.#calls.at(-1);
      if (open === undefined || at !== this.#calls.length - 1)
        throw new Error(`call ${at} is not open`);
      open.arguments += String(said['arguments'] ?? '');
    }
  }

  end(): ReadChat {
    check(this.#finish.size > 0, 'no finish');
    return {
      text: this.#text,
      refusal: this.#refusal,
      calls: this.#calls,
      finishReasons: [...this.#finish.values()],
      usage: this.#usage,
      model: String(this.#head?.['model']),
      citations: this.#citations,
    };
  }
}

/** Data lines of whole events, `[DONE]` last and once; comment lines may stand between. */
export function readChatChunks(stream: string): ReadChat {
  check(stream.endsWith('data: [DONE]\n\n'), 'the stream does not end in [DONE]');
  const blocks = stream.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'));
  const chunks = new Chunks();
  for (const block of blocks.slice(0, -1)) {
    check(block.startsWith('data: {') && !block.includes('\n'), `no data line: ${block}`);
    chunks.read(JSON.parse(block.slice('data: '.length)));
  }
  return chunks.end();
}

export function readChatReply(text: string): ReadChat {
  const reply = object(JSON.parse(text), 'reply');
  check(reply['object'] === 'chat.completion', `object: ${reply['object']}`);
  check(typeof reply['id'] === 'string' && reply['id'] !== '', 'no id');
  count(reply['created'], 'created');
  const choices = list(reply['choices'], 'choices');
  check(choices.length > 0, 'no choices');
  const message = object(choices[0]?.['message'], 'message');
  check(message['role'] === 'assistant', `role: ${message['role']}`);
  check('content' in message, 'no content');
  const calls = list(message['tool_calls'] ?? [], 'tool_calls').map((call) => {
    check(call['type'] === 'function', 'a call without its type');
    const said = object(call['function'], 'function');
    return {
      id: String(call['id']),
      name: String(said['name']),
      arguments: String(said['arguments']),
    };
  });
  const finishReasons = choices.map((choice) => String(choice['finish_reason']));
  return {
    text: String(message['content'] ?? ''),
    refusal: String(message['refusal'] ?? ''),
    calls,
    finishReasons,
    usage: readUsage(reply['usage']),
    model: String(reply['model']),
    citations: readAnnotations(message['annotations'], String(message['content'] ?? '')),
  };
}
