/** Reasoning of an answer, one block an item: its summary, or where that is told the reasoning itself. */
import type { ChatEvent } from '../../chat/stream-event.ts';
import { ToldText } from './told-text.ts';
import { dialectName } from './wire.ts';

export type ReasoningForm = 'summary' | 'content';

type Item = {
  /** The form that spoke first: where both are given they tell the same. */
  form: ReasoningForm | null;
  readonly parts: Map<number, ToldText>;
  isEnded: boolean;
};

export class ReasoningItems {
  readonly #items = new Map<number, Item>();
  /** The item whose block is open: one at a time. */
  #open: number | null = null;

  add(index: number, form: ReasoningForm, part: number, piece: string): readonly ChatEvent[] {
    const item = this.#item(index);
    item.form ??= form;
    if (item.form !== form || item.isEnded || piece === '') return [];
    const told = this.#part(item, part);
    const isNewPart = told.isEmpty && [...item.parts.values()].some((each) => !each.isEmpty);
    told.add(piece);
    return this.#say(index, isNewPart ? `\n\n${piece}` : piece);
  }

  /** The same, given the whole of a part. */
  complete(index: number, form: ReasoningForm, part: number, full: string): readonly ChatEvent[] {
    const item = this.#item(index);
    const told = item.parts.get(part);
    if (told === undefined || told.isEmpty) return this.add(index, form, part, full);
    if (item.form !== form || item.isEnded) return [];
    const rest = told.rest(full);
    return rest === '' ? [] : this.#say(index, rest);
  }

  /** `encrypted` is what the service wants back; a block may consist of it alone. */
  end(index: number, encrypted: string | null): readonly ChatEvent[] {
    const item = this.#item(index);
    if (item.isEnded) return [];
    item.isEnded = true;
    const isOpen = this.#open === index;
    if (!isOpen && encrypted === null) return [];
    const before = isOpen ? [] : this.close();
    this.#open = null;
    return [...before, endOf(encrypted)];
  }

  /** Ends the open block, if there is one: another item speaks. */
  close(): readonly ChatEvent[] {
    if (this.#open === null) return [];
    this.#open = null;
    return [endOf(null)];
  }

  #say(index: number, text: string): readonly ChatEvent[] {
    const before = this.#open === index ? [] : this.close();
    this.#open = index;
    return [...before, { type: 'reasoning', choice: 0, text }];
  }

  #part(item: Item, part: number): ToldText {
    const known = item.parts.get(part);
    if (known !== undefined) return known;
    const made = new ToldText();
    item.parts.set(part, made);
    return made;
  }

  #item(index: number): Item {
    const known = this.#items.get(index);
    if (known !== undefined) return known;
    const made: Item = { form: null, parts: new Map(), isEnded: false };
    this.#items.set(index, made);
    return made;
  }
}

function endOf(signature: string | null): ChatEvent {
  return {
    type: 'reasoning_end',
    choice: 0,
    signature,
    redacted: null,
    dialect: dialectName,
    isBoundToAccount: true,
  };
}
