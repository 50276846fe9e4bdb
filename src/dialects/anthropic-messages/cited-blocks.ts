/** A whole text as blocks, each with the citations of what it says. */
import { append } from '../../base/append.ts';
import type { JsonObject } from '../../base/json.ts';
import type { TextSpan } from '../../chat/citation.ts';

/** `span` null: of all the text. */
export type CitedSpan = { readonly wire: JsonObject; readonly span: TextSpan | null };

type Block = { start: number; end: number; readonly citations: JsonObject[] };

/** `text` is not empty. */
export function citedBlocks(text: string, cited: readonly CitedSpan[]): readonly JsonObject[] {
  return covering(text, joined(text, cited)).map(({ start, end, citations }) => ({
    type: 'text',
    text: text.slice(start, end),
    ...(citations.length === 0 ? {} : { citations }),
  }));
}

/** In order. Those whose spans overlap stand on one block: a block cannot lie in another. */
function joined(text: string, cited: readonly CitedSpan[]): readonly Block[] {
  const spans = cited.map(({ wire, span }) => ({
    wire,
    start: span === null ? 0 : boundary(text, span.start),
    end: span === null ? text.length : boundary(text, span.end),
  }));
  const blocks: Block[] = [];
  for (const { wire, start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    const last = blocks.at(-1);
    if (last !== undefined && start < last.end) {
      last.end = Math.max(last.end, end);
      last.citations.push(wire);
    } else blocks.push({ start, end, citations: [wire] });
  }
  return blocks;
}

/** All of the text. A stretch of white space stays with a neighbour: on its own no service takes it back. */
function covering(text: string, cited: readonly Block[]): readonly Block[] {
  const blocks: Block[] = [];
  let at = 0;
  const take = (to: number, citations: readonly JsonObject[]): void => {
    const last = blocks.at(-1);
    const isBlank = text.slice(at, to).trim() === '';
    if (isBlank && last !== undefined) {
      last.end = Math.max(at, to);
      append(last.citations, citations);
    } else if (isBlank && citations.length === 0) return;
    else blocks.push({ start: at, end: to, citations: [...citations] });
    at = Math.max(at, to);
  };
  for (const { start, end, citations } of cited) {
    take(start, []);
    take(end, citations);
  }
  take(text.length, []);
  return blocks;
}

/** Not between the halves of a character, nor behind the end. */
function boundary(text: string, at: number): number {
  const isHalf = /^[\udc00-\udfff]/.test(text.slice(at, at + 1));
  return Math.min(isHalf ? at + 1 : at, text.length);
}
