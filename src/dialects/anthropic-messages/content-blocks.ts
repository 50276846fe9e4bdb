/** The content blocks of a stream: one open at a time, numbered without gaps. */
import { type JsonObject, numberAt, objectAt, stringAt } from '../../base/json.ts';
import { unsignedMark } from './thinking-origin.ts';

/** `other`: a block of the provider's own that went by as it was. */
type Kind = 'text' | 'thinking' | 'tool_use' | 'other';

export function writeEvent(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** Each method returns the events to send; '' = none. */
export class ContentBlocks {
  #open: { readonly index: number; readonly kind: Kind } | null = null;
  #next = 0;
  /** The open block has been cited: what is said next is another's. */
  #isCited = false;

  /** Reads along with an event that is sent as the provider wrote it. */
  note(event: unknown): void {
    const index = numberAt(event, 'index');
    if (index === null) return;
    if (stringAt(event, 'type') === 'content_block_stop') this.#open = null;
    if (stringAt(event, 'type') !== 'content_block_start') return;
    this.#open = { index, kind: kindOf(stringAt(objectAt(event, 'content_block'), 'type')) };
    this.#next = index + 1;
  }

  text(text: string): string {
    if (text === '') return '';
    // White space alone makes no block: no service takes it back.
    const closing = this.#isCited && text.trim() !== '' ? this.close() : '';
    return closing + this.#in('text', { text: '' }) + this.#delta({ type: 'text_delta', text });
  }

  /** What the open text rests on; '' also where none is open. */
  cite(citation: JsonObject): string {
    if (this.#open?.kind !== 'text') return '';
    this.#isCited = true;
    return this.#delta({ type: 'citations_delta', citation });
  }

  think(thinking: string): string {
    if (thinking === '') return '';
    return this.#think() + this.#delta({ type: 'thinking_delta', thinking });
  }

  /** Ends a thinking block; `signature` null = nobody of this dialect signed it. */
  endThinking(signature: string | null): string {
    if (signature === null) return this.#open?.kind === 'thinking' ? this.close() : '';
    const opening = this.#think();
    return opening + this.#delta({ type: 'signature_delta', signature }) + this.#stop();
  }

  redacted(data: string): string {
    const closing = this.close();
    return closing + this.#start('other', { type: 'redacted_thinking', data }) + this.#stop();
  }

  startTool(id: string, name: string): string {
    return this.close() + this.#start('tool_use', { type: 'tool_use', id, name, input: {} });
  }

  addArguments(fragment: string): string {
    if (fragment === '' || this.#open?.kind !== 'tool_use') return '';
    return this.#delta({ type: 'input_json_delta', partial_json: fragment });
  }

  /** Ends the open block, if there is one. */
  close(): string {
    if (this.#open === null) return '';
    if (this.#open.kind !== 'thinking') return this.#stop();
    return this.#delta({ type: 'signature_delta', signature: unsignedMark }) + this.#stop();
  }

  #think(): string {
    return this.#in('thinking', { thinking: '', signature: '' });
  }

  #in(kind: 'text' | 'thinking', fields: JsonObject): string {
    if (this.#open?.kind === kind) return '';
    return this.close() + this.#start(kind, { type: kind, ...fields });
  }

  #start(kind: Kind, block: JsonObject): string {
    const index = this.#next;
    this.#next += 1;
    this.#open = { index, kind };
    this.#isCited = false;
    return writeEvent('content_block_start', { index, content_block: block });
  }

  #delta(delta: JsonObject): string {
    return writeEvent('content_block_delta', { index: this.#open?.index ?? 0, delta });
  }

  #stop(): string {
    const index = this.#open?.index ?? 0;
    this.#open = null;
    return writeEvent('content_block_stop', { index });
  }
}

function kindOf(type: string | null): Kind {
  return type === 'text' || type === 'thinking' || type === 'tool_use' ? type : 'other';
}
