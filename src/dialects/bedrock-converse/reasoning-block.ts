/** One block of reasoning: its text as it comes, its signature or what was redacted when it ends. */
import { stringAt } from '../../base/json.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import { dialectName } from './wire.ts';

/** Bytes of a redacted block, which comes in pieces of base64. */
const redactedBytesMax = 16 * 1024 * 1024;

export class ReasoningBlock {
  readonly block: number;
  #signature = '';
  #redacted: Buffer[] = [];
  #redactedBytes = 0;

  constructor(block: number) {
    this.block = block;
  }

  add(delta: unknown): readonly ChatEvent[] {
    const text = stringAt(delta, 'text') ?? '';
    this.#addSignature(stringAt(delta, 'signature') ?? '');
    this.#addRedacted(stringAt(delta, 'redactedContent') ?? '');
    return text === '' ? [] : [{ type: 'reasoning', choice: 0, text }];
  }

  end(): readonly ChatEvent[] {
    const redacted =
      this.#redactedBytes === 0 ? null : Buffer.concat(this.#redacted).toString('base64');
    const signature = this.#signature === '' ? null : this.#signature;
    return [{ type: 'reasoning_end', choice: 0, signature, redacted, dialect: dialectName }];
  }

  #addSignature(piece: string): void {
    if (this.#signature.length + piece.length <= redactedBytesMax) this.#signature += piece;
  }

  #addRedacted(piece: string): void {
    const bytes = Buffer.from(piece, 'base64');
    if (bytes.length === 0 || this.#redactedBytes + bytes.length > redactedBytesMax) return;
    this.#redacted.push(bytes);
    this.#redactedBytes += bytes.length;
  }
}
