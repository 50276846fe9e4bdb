/** Reads a stream of anthropic-messages as a strict client does: every breach of its grammar is told. */
import { messageCitationFaults } from './message-citations.ts';

type Json = { readonly [key: string]: unknown };

type Read = {
  readonly name: string | null;
  readonly data: Json;
};

export type MessagesStream = {
  /** Empty = the stream keeps to the grammar. */
  readonly faults: readonly string[];
  readonly events: readonly Json[];
  readonly content: readonly Json[];
  readonly stopReason: string | null;
  readonly usage: Json;
  readonly error: Json | null;
};

const deltaOf: { readonly [block: string]: readonly string[] } = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
};

export function readMessagesStream(raw: string): MessagesStream {
  const reader = new GrammarReader();
  for (const { name, data } of eventsIn(raw)) reader.read(name, data);
  reader.end();
  return reader;
}

function eventsIn(raw: string): readonly Read[] {
  const blocks = raw.split(/\r\n\r\n|\n\n|\r\r/).map((block) => block.split(/\r\n|\n|\r/));
  return blocks.flatMap((lines): readonly Read[] => {
    const field = (name: string): readonly string[] =>
      lines
        .filter((line) => line.startsWith(`${name}:`))
        .map((line) => line.slice(name.length + 1));
    const data = field('data').join('\n');
    if (data === '') return [];
    return [{ name: field('event')[0]?.trim() ?? null, data: JSON.parse(data) }];
  });
}

class GrammarReader implements MessagesStream {
  readonly faults: string[] = [];
  readonly events: Json[] = [];
  readonly content: Json[] = [];
  stopReason: string | null = null;
  usage: Json = {};
  error: Json | null = null;
  #state: 'before' | 'blocks' | 'ended' | 'stopped' = 'before';
  #open: { readonly index: number; readonly type: string } | null = null;
  #input = '';

  read(name: string | null, data: Json): void {
    this.events.push(data);
    const type = String(data['type']);
    if (name !== type) this.faults.push(`event ${name} holds ${type}`);
    if (this.error !== null) this.faults.push(`${type} follows an error`);
    if (this.#state === 'stopped') this.faults.push(`${type} follows message_stop`);
    switch (type) {
      case 'ping':
        return;
      case 'error':
        this.error = data['error'] as Json;
        return;
      case 'message_start':
        this.#startMessage(data['message'] as Json);
        return;
      case 'content_block_start':
        this.#startBlock(data);
        return;
      case 'content_block_delta':
        this.#addDelta(data);
        return;
      case 'content_block_stop':
        this.#stopBlock(data);
        return;
      case 'message_delta':
        this.#endMessage(data);
        return;
      case 'message_stop':
        if (this.#state !== 'ended') this.faults.push(`message_stop while ${this.#state}`);
        this.#state = 'stopped';
        return;
      default:
        this.faults.push(`unknown event ${type}`);
    }
  }

  end(): void {
    if (this.#state !== 'stopped' && this.error === null) this.faults.push('no message_stop');
  }

  #startMessage(message: Json): void {
    if (this.#state !== 'before') this.faults.push('a second message_start');
    this.#state = 'blocks';
    const isHead =
      typeof message['id'] === 'string' &&
      message['id'].startsWith('msg_') &&
      message['type'] === 'message' &&
      message['role'] === 'assistant' &&
      typeof message['model'] === 'string' &&
      Array.isArray(message['content']) &&
      message['content'].length === 0 &&
      message['stop_reason'] === null;
    if (!isHead) this.faults.push('message_start holds no message');
    this.usage = message['usage'] as Json;
    for (const field of ['input_tokens', 'output_tokens']) this.#count(field);
  }

  #count(field: string): void {
    const count = this.usage?.[field];
    if (!Number.isInteger(count) || Number(count) < 0) this.faults.push(`usage.${field}: ${count}`);
  }

  #startBlock(data: Json): void {
    if (this.#state !== 'blocks') this.faults.push(`a block while ${this.#state}`);
    if (this.#open !== null) this.faults.push('a block begins inside another');
    if (data['index'] !== this.content.length) this.faults.push(`block number ${data['index']}`);
    const block = data['content_block'] as Json;
    const type = String(block['type']);
    this.#open = { index: this.content.length, type };
    this.#input = '';
    this.content.push({ ...block });
    if (type === 'text' && block['text'] !== '') this.faults.push('a text block begins with text');
    if (type !== 'tool_use') return;
    const { id, name, input } = block;
    if (typeof id !== 'string' || id === '') this.faults.push('a tool_use without an id');
    if (typeof name !== 'string' || name === '') this.faults.push('a tool_use without a name');
    if (JSON.stringify(input) !== '{}') this.faults.push('a tool_use begins with input');
  }

  #addDelta(data: Json): void {
    const delta = data['delta'] as Json;
    const type = String(delta['type']);
    const open = this.#open;
    if (open === null || data['index'] !== open.index) {
      this.faults.push(`${type} for block ${data['index']}, which is not open`);
      return;
    }
    if (!deltaOf[open.type]?.includes(type)) this.faults.push(`${type} in a ${open.type} block`);
    const block = this.content[open.index] ?? {};
    const add = (field: string, text: unknown): void => {
      if (typeof text !== 'string') this.faults.push(`${type} without text`);
      this.content[open.index] = { ...block, [field]: String(block[field] ?? '') + text };
    };
    if (type === 'text_delta') add('text', delta['text']);
    if (type === 'thinking_delta') {
      if (block['signature'] !== '') this.faults.push('thinking after its signature');
      add('thinking', delta['thinking']);
    }
    if (type === 'signature_delta') {
      if (block['signature'] !== '') this.faults.push('a second signature');
      add('signature', delta['signature']);
    }
    if (type === 'citations_delta') {
      const citation = delta['citation'] as Json;
      this.faults.push(...messageCitationFaults(citation));
      const citations = (block['citations'] ?? []) as readonly Json[];
      this.content[open.index] = { ...block, citations: [...citations, citation] };
    }
    if (type === 'input_json_delta') this.#input += delta['partial_json'];
  }

  #stopBlock(data: Json): void {
    const open = this.#open;
    if (open === null || data['index'] !== open.index) {
      this.faults.push(`the end of block ${data['index']}, which is not open`);
      return;
    }
    const block = this.content[open.index] ?? {};
    if ('citations' in block && String(block['text']).trim() === '') {
      this.faults.push('a cited block without a word');
    }
    if (open.type === 'thinking' && block['signature'] === '') {
      this.faults.push('thinking without a signature');
    }
    // Cut by the output limit or not: what is no JSON is kept as its text.
    if (open.type === 'tool_use') {
      this.content[open.index] = { ...block, input: this.#input === '' ? '{}' : this.#input };
    }
    this.#open = null;
  }

  #endMessage(data: Json): void {
    if (this.#state !== 'blocks') this.faults.push(`message_delta while ${this.#state}`);
    if (this.#open !== null) this.faults.push('message_delta while a block is open');
    this.#state = 'ended';
    const delta = data['delta'] as Json;
    const reason = delta['stop_reason'];
    if (typeof reason !== 'string') this.faults.push(`stop_reason ${reason}`);
    else this.stopReason = reason;
    if (!('stop_sequence' in delta)) this.faults.push('no stop_sequence');
    this.usage = { ...this.usage, ...(data['usage'] as Json) };
    this.#count('output_tokens');
    this.#count('input_tokens');
  }
}

/** A whole message. It throws at the first fault. */
export function readMessage(raw: string): Pick<MessagesStream, 'content' | 'stopReason' | 'usage'> {
  const message: Json = JSON.parse(raw);
  const reader = new GrammarReader();
  const { content, stop_reason: stopReason, usage } = message;
  const head = { ...message, content: [], stop_reason: null };
  reader.read('message_start', { type: 'message_start', message: head });
  if (!Array.isArray(content)) reader.faults.push('no content');
  for (const block of Array.isArray(content) ? content : []) {
    for (const citation of block['citations'] ?? []) {
      reader.faults.push(...messageCitationFaults(citation));
    }
  }
  if (typeof stopReason !== 'string') reader.faults.push(`stop_reason: ${stopReason}`);
  if (reader.faults.length > 0) throw new Error(reader.faults.join('; '));
  return {
    content: content as readonly Json[],
    stopReason: String(stopReason),
    usage: usage as Json,
  };
}
