/** Reads a stream of openai-responses as a strict client does: every breach of its grammar is told. */
import { type Json, responseFaults } from './responses-object.ts';
import { readUrlCitation } from './url-citations.ts';

export type ResponsesStream = {
  /** Empty = the stream keeps to the grammar. */
  readonly faults: readonly string[];
  readonly events: readonly Json[];
  /** The items as their events told them. */
  readonly output: readonly Json[];
  /** What the last event holds. */
  readonly response: Json | null;
  readonly error: Json | null;
};

export function readResponsesStream(raw: string): ResponsesStream {
  const reader = new GrammarReader();
  for (const block of raw.split('\n\n')) {
    if (block !== '' && !block.startsWith(':')) reader.readBlock(block);
  }
  reader.end();
  return reader;
}

type Open = {
  readonly item: Json;
  readonly type: string;
  /** Content parts or summary parts, by their index. */
  readonly parts: {
    readonly kind: string;
    text: string;
    readonly annotations: unknown[];
    isTextDone: boolean;
    isDone: boolean;
  }[];
  arguments: string;
  isArgumentsDone: boolean;
};

class GrammarReader implements ResponsesStream {
  readonly faults: string[] = [];
  readonly events: Json[] = [];
  readonly output: Json[] = [];
  response: Json | null = null;
  error: Json | null = null;
  #state: 'before' | 'created' | 'in_progress' | 'over' = 'before';
  #id: unknown = null;
  #sequence = 0;
  #open: Open | null = null;
  readonly #ids = new Set<unknown>();

  readBlock(block: string): void {
    const lines = block.split('\n');
    if (lines.length !== 2) this.#fault(`a block of ${lines.length} lines`);
    const name = /^event: (.+)$/s.exec(lines[0] ?? '')?.[1] ?? null;
    const data = /^data: (.+)$/s.exec(lines[1] ?? '')?.[1];
    if (data === undefined) {
      this.#fault(`no data in ${JSON.stringify(block)}`);
      return;
    }
    if (data === '[DONE]') {
      this.#fault('a [DONE]');
      return;
    }
    const event: Json = JSON.parse(data);
    if (name !== event['type']) this.#fault(`event ${name} holds ${event['type']}`);
    this.#read(String(event['type']), event);
  }

  end(): void {
    if (this.#state !== 'over') this.#fault('no last event');
  }

  #fault(fault: string): void {
    this.faults.push(fault);
  }

  #read(type: string, event: Json): void {
    this.events.push(event);
    if (this.#state === 'over') this.#fault(`${type} after the end`);
    if (event['sequence_number'] !== this.#sequence) {
      this.#fault(`${type} is number ${event['sequence_number']}, not ${this.#sequence}`);
    }
    this.#sequence += 1;
    if (this.error !== null && type !== 'response.failed') this.#fault(`${type} after an error`);
    const parts = type.split('.');
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        this.#begin(type, event);
        return;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.#finish(parts[1] ?? '', event);
        return;
      case 'error':
        this.#readError(event);
        return;
      case 'response.output_item.added':
        this.#addItem(event);
        return;
      case 'response.output_item.done':
        this.#endItem(event);
        return;
      default:
        this.#readInItem(type, event);
        return;
    }
  }

  #begin(type: string, event: Json): void {
    const wanted = type === 'response.created' ? 'before' : 'created';
    if (this.#state !== wanted) this.#fault(`${type} while ${this.#state}`);
    this.#state = wanted === 'before' ? 'created' : 'in_progress';
    this.#readResponse(event, 'in_progress');
  }

  #readResponse(event: Json, status: string): void {
    const response = event['response'] as Json;
    for (const fault of responseFaults(response)) this.#fault(fault);
    if (response['status'] !== status) this.#fault(`${event['type']}: ${response['status']}`);
    this.#id ??= response['id'];
    if (response['id'] !== this.#id) this.#fault(`the response is now ${response['id']}`);
    this.response = response;
  }

  #finish(status: string, event: Json): void {
    if (this.#state !== 'in_progress') this.#fault(`${status} while ${this.#state}`);
    this.#state = 'over';
    this.#readResponse(event, status);
    if (status === 'failed') {
      if (!this.response?.['error']) this.#fault('a failed response without an error');
      return;
    }
    if (this.#open !== null) this.#fault(`${status} while an item is open`);
    if (JSON.stringify(this.response?.['output']) !== JSON.stringify(this.output)) {
      this.#fault('the output is not what the items told');
    }
    const isCut = this.response?.['incomplete_details'] !== null;
    if (isCut !== (status === 'incomplete')) this.#fault(`incomplete_details while ${status}`);
  }

  #readError(event: Json): void {
    if (this.#state !== 'in_progress') this.#fault(`an error while ${this.#state}`);
    this.error = event['error'] as Json;
    for (const field of ['code', 'message', 'param']) {
      if (event[field] !== this.error?.[field]) this.#fault(`${field} is told in two ways`);
    }
    if (typeof event['message'] !== 'string') this.#fault('an error without a message');
  }

  #addItem(event: Json): void {
    if (this.#state !== 'in_progress') this.#fault(`an item while ${this.#state}`);
    if (this.#open !== null) this.#fault('an item begins inside another');
    if (event['output_index'] !== this.output.length) {
      this.#fault(`item number ${event['output_index']}`);
    }
    const item = event['item'] as Json;
    const { type, id } = item;
    if (typeof id !== 'string' || id === '' || id.length > 64) this.#fault(`an item called ${id}`);
    if (this.#ids.has(id)) this.#fault(`a second item ${id}`);
    this.#ids.add(id);
    const isEmpty =
      (type === 'message' && JSON.stringify(item['content']) === '[]') ||
      (type === 'reasoning' && JSON.stringify(item['summary']) === '[]') ||
      (type === 'function_call' && item['arguments'] === '');
    if (!isEmpty) this.#fault(`a ${type} item begins with content`);
    if (type !== 'reasoning' && item['status'] !== 'in_progress') {
      this.#fault(`a ${type} item begins ${item['status']}`);
    }
    this.#open = { item, type: String(type), parts: [], arguments: '', isArgumentsDone: false };
  }

  #readInItem(type: string, event: Json): void {
    const open = this.#open;
    if (open === null) {
      this.#fault(`${type} outside of an item`);
      return;
    }
    if (event['item_id'] !== open.item['id']) this.#fault(`${type} of ${event['item_id']}`);
    if (event['output_index'] !== this.output.length) {
      this.#fault(`${type} in item ${event['output_index']}`);
    }
    const family = familyOf[type];
    if (family === undefined) {
      this.#fault(`unknown event ${type}`);
      return;
    }
    if (family !== open.type) this.#fault(`${type} in a ${open.type}`);
    if (type.startsWith('response.function_call_arguments')) {
      this.#readCall(open, event);
      return;
    }
    const at = Number(event[family === 'reasoning' ? 'summary_index' : 'content_index']);
    if (type.endsWith('part.added')) {
      this.#addPart(open, at, event['part'] as Json);
      return;
    }
    const part = open.parts[at];
    if (part === undefined || part.isDone) {
      this.#fault(`${type} in part ${at}`);
      return;
    }
    if (type.endsWith('.delta')) {
      this.#addText(part, type, event);
      return;
    }
    if (type.endsWith('annotation.added')) {
      this.#addAnnotation(part, event);
      return;
    }
    if (type.endsWith('part.done')) {
      const { annotations = [] } = event['part'] as Json;
      if (JSON.stringify(annotations) !== JSON.stringify(part.annotations)) {
        this.#fault(`${type} tells other annotations`);
      }
      if (!part.isTextDone) this.#fault(`${type} before its text is done`);
      if (textOf(event['part'] as Json) !== part.text) this.#fault(`${type} tells another text`);
      part.isDone = true;
      return;
    }
    if (part.isTextDone) this.#fault(`a second ${type}`);
    if ((event['text'] ?? event['refusal']) !== part.text) this.#fault(`${type}: another text`);
    if (!type.includes(part.kind)) this.#fault(`${type} in a part of ${part.kind}`);
    part.isTextDone = true;
  }

  #addPart(open: Open, at: number, part: Json): void {
    if (at !== open.parts.length) this.#fault(`part number ${at}`);
    if (open.parts.some(({ isDone }) => !isDone)) this.#fault('a part begins inside another');
    if (textOf(part) !== '') this.#fault('a part begins with text');
    const isText = part['type'] === 'output_text';
    if (isText && !(Array.isArray(part['annotations']) && Array.isArray(part['logprobs']))) {
      this.#fault('a text without annotations or logprobs');
    }
    open.parts.push({
      kind: String(part['type']),
      text: '',
      annotations: [],
      isTextDone: false,
      isDone: false,
    });
  }

  #addText(part: Open['parts'][number], type: string, event: Json): void {
    const { delta } = event;
    if (typeof delta !== 'string' || delta === '') this.#fault(`${type} without text`);
    if (part.isTextDone) this.#fault(`${type} after its text was done`);
    if (!type.includes(part.kind)) this.#fault(`${type} in a part of ${part.kind}`);
    if (part.kind === 'output_text' && !Array.isArray(event['logprobs'])) {
      this.#fault(`${type} without logprobs`);
    }
    part.text += delta;
  }

  #addAnnotation(part: Open['parts'][number], event: Json): void {
    const { type, ...fields } = event['annotation'] as Json;
    if (event['annotation_index'] !== part.annotations.length) this.#fault('another annotation');
    if (part.isTextDone) this.#fault('an annotation after its text was done');
    if (type !== 'url_citation') this.#fault(`an annotation of type ${type}`);
    readUrlCitation(fields, part.text);
    part.annotations.push(event['annotation']);
  }

  #readCall(open: Open, event: Json): void {
    if (open.isArgumentsDone) this.#fault('arguments after they were done');
    if (event['type'] === 'response.function_call_arguments.delta') {
      if (typeof event['delta'] !== 'string' || event['delta'] === '') this.#fault('no arguments');
      open.arguments += event['delta'];
      return;
    }
    if (event['arguments'] !== open.arguments) this.#fault('other arguments at the end');
    if (event['name'] !== open.item['name']) this.#fault('another name at the end');
    open.isArgumentsDone = true;
  }

  #endItem(event: Json): void {
    const open = this.#open;
    const item = event['item'] as Json;
    if (open === null) {
      this.#fault('the end of no item');
      return;
    }
    this.#open = null;
    if (event['output_index'] !== this.output.length) this.#fault('the end of another item');
    this.output.push(item);
    for (const field of ['id', 'type', 'call_id', 'name', 'role']) {
      if (item[field] !== open.item[field]) this.#fault(`${field} is another at the end`);
    }
    if (open.parts.some(({ isDone }) => !isDone)) this.#fault('an item ends before its part');
    const told = (item['content'] ?? item['summary'] ?? []) as readonly Json[];
    const texts = told.map(textOf);
    if (JSON.stringify(texts) !== JSON.stringify(open.parts.map(({ text }) => text))) {
      this.#fault('an item ends with other text');
    }
    if (open.type !== 'function_call') return;
    if (!open.isArgumentsDone) this.#fault('a call ends before its arguments');
    if (item['arguments'] !== open.arguments) this.#fault('a call ends with other arguments');
  }
}

const familyOf: { readonly [type: string]: string } = {
  'response.content_part.added': 'message',
  'response.content_part.done': 'message',
  'response.output_text.delta': 'message',
  'response.output_text.done': 'message',
  'response.output_text.annotation.added': 'message',
  'response.refusal.delta': 'message',
  'response.refusal.done': 'message',
  'response.function_call_arguments.delta': 'function_call',
  'response.function_call_arguments.done': 'function_call',
  'response.reasoning_summary_part.added': 'reasoning',
  'response.reasoning_summary_part.done': 'reasoning',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_summary_text.done': 'reasoning',
};

function textOf(part: Json): unknown {
  return part['text'] ?? part['refusal'];
}
