/** The output items of a stream: each begins, grows and is told in full; one is open at a time. */
import { openaiLogprobs } from '../../likely-tokens.ts';
import type { ToolDelta } from '../vendor.ts';

export type WriteEvent = (type: string, fields: object) => string;

type Item = {
  readonly id: string;
  readonly type: 'message' | 'reasoning' | 'function_call';
  readonly index: number;
  text: string;
  /** Of a function call. */
  readonly callId: string | null;
  readonly name: string | null;
};

/** `sealed`: what a reasoning item carries for the service alone; null = it carries nothing. */
export type ItemSettings = {
  readonly event: WriteEvent;
  readonly idOf: (prefix: string, index: number) => string;
  readonly sealed: (thinking: string) => string | null;
  readonly likelyTokens: number | null;
};

export class ResponseItems {
  readonly #settings: ItemSettings;
  readonly #items: Item[] = [];
  readonly #itemOfTool = new Map<number | null, Item>();
  #open: Item | null = null;

  constructor(settings: ItemSettings) {
    this.#settings = settings;
  }

  text(delta: string): string {
    const opening = this.#open?.type === 'message' ? '' : this.#begin('message', null);
    const fields = { content_index: 0, delta, logprobs: this.#logprobs(delta) };
    return opening + this.#grow(this.#open, delta, 'response.output_text.delta', fields);
  }

  think(delta: string): string {
    const opening = this.#open?.type === 'reasoning' ? '' : this.#begin('reasoning', null);
    if (delta === '') return opening;
    const part = this.#open?.text === '' ? this.#summaryPart() : '';
    const fields = { summary_index: 0, delta };
    return (
      opening +
      part +
      this.#grow(this.#open, delta, 'response.reasoning_summary_text.delta', fields)
    );
  }

  tool(delta: ToolDelta): string {
    const isNew = delta.name !== null || !this.#itemOfTool.has(delta.index);
    const opening = isNew ? this.#begin('function_call', delta) : '';
    if (isNew && this.#open !== null) this.#itemOfTool.set(delta.index, this.#open);
    const { arguments: text } = delta;
    if (text === null || text === '') return opening;
    const item = this.#itemOfTool.get(delta.index) ?? null;
    const type = 'response.function_call_arguments.delta';
    return opening + this.#grow(item, text, type, { delta: text });
  }

  /** Tells the open item in full; '' when there is none. */
  close(status: 'completed' | 'incomplete' = 'completed'): string {
    const item = this.#open;
    if (item === null) return '';
    this.#open = null;
    // Each event takes its number when it is made.
    const last = this.#lastWords(item);
    const done = this.#event(item, 'response.output_item.done', { item: this.#full(item, status) });
    return last + done;
  }

  output(status: 'completed' | 'incomplete'): readonly object[] {
    return this.#items.map((item, position) =>
      this.#full(item, position === this.#items.length - 1 ? status : 'completed'),
    );
  }

  #logprobs(text: string): readonly object[] {
    return openaiLogprobs(text, this.#settings.likelyTokens);
  }

  #begin(type: Item['type'], tool: ToolDelta | null): string {
    const closing = this.close();
    const index = this.#items.length;
    const prefix = { message: 'msg', reasoning: 'rs', function_call: 'fc' }[type];
    const id = this.#settings.idOf(prefix, index);
    const item = {
      id,
      type,
      index,
      text: '',
      callId: tool?.id ?? null,
      name: tool?.name ?? null,
    };
    this.#items.push(item);
    this.#open = item;
    const { event } = this.#settings;
    const empty = type === 'message' ? { ...this.#full(item, 'in_progress'), content: [] } : null;
    const added = event('response.output_item.added', {
      output_index: index,
      item: empty ?? this.#full(item, 'in_progress'),
    });
    if (type !== 'message') return closing + added;
    const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
    const fields = { content_index: 0, part };
    return closing + added + this.#event(item, 'response.content_part.added', fields);
  }

  #summaryPart(): string {
    const part = { type: 'summary_text', text: '' };
    const fields = { summary_index: 0, part };
    return this.#event(this.#open, 'response.reasoning_summary_part.added', fields);
  }

  #grow(item: Item | null, delta: string, type: string, fields: object): string {
    if (item === null) return '';
    item.text += delta;
    return this.#event(item, type, fields);
  }

  #lastWords(item: Item): string {
    const { text } = item;
    switch (item.type) {
      case 'message': {
        const logprobs = this.#logprobs(text);
        const part = { type: 'output_text', text, annotations: [], logprobs };
        const at = { content_index: 0 };
        return (
          this.#event(item, 'response.output_text.done', { ...at, text, logprobs }) +
          this.#event(item, 'response.content_part.done', { ...at, part })
        );
      }
      case 'reasoning': {
        if (text === '') return '';
        const part = { type: 'summary_text', text };
        const at = { summary_index: 0 };
        return (
          this.#event(item, 'response.reasoning_summary_text.done', { ...at, text }) +
          this.#event(item, 'response.reasoning_summary_part.done', { ...at, part })
        );
      }
      case 'function_call':
        return this.#event(item, 'response.function_call_arguments.done', {
          arguments: text,
          name: item.name,
        });
    }
  }

  #event(item: Item | null, type: string, fields: object): string {
    if (item === null) return '';
    const place =
      type === 'response.output_item.done'
        ? { output_index: item.index }
        : { item_id: item.id, output_index: item.index };
    return this.#settings.event(type, { ...place, ...fields });
  }

  #full({ id, type, text, callId, name }: Item, status: string): object {
    switch (type) {
      case 'message': {
        const logprobs = this.#logprobs(text);
        const content = [{ type: 'output_text', text, annotations: [], logprobs }];
        return { id, type, status, content, role: 'assistant' };
      }
      case 'reasoning': {
        const summary = text === '' ? [] : [{ type: 'summary_text', text }];
        const sealed = status === 'in_progress' ? null : this.#settings.sealed(text);
        return { id, type, summary, ...(sealed === null ? {} : { encrypted_content: sealed }) };
      }
      case 'function_call':
        return {
          id,
          type,
          status,
          arguments: text,
          ...(callId === null ? {} : { call_id: callId }),
          ...(name === null ? {} : { name }),
        };
    }
  }
}
