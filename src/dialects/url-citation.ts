/** A citation of a page, with the fields that OpenAI gave it and both its dialects share. */
import { type JsonObject, numberAt, stringAt } from '../base/json.ts';
import type { Citation, TextSpan } from '../chat/citation.ts';
import type { TextOffsets } from './text-offsets.ts';

export type UrlCitation = {
  readonly start_index: number;
  readonly end_index: number;
  readonly title: string;
  readonly url: string;
};

/** The text that `start_index` counts in: what `offsets` holds from unit `from` on. */
export type CitedText = { readonly offsets: TextOffsets; readonly from: number };

/** Null: it names no page. */
export function readUrlCitation(fields: JsonObject, text: CitedText): Citation | null {
  const url = stringAt(fields, 'url') ?? '';
  if (url === '') return null;
  const source = { kind: 'web', url, title: stringAt(fields, 'title') || null } as const;
  return { source, citedText: null, span: spanIn(fields, text) };
}

/**
 * The indexes count code points, as Python does, and the end is exclusive: so the recorded answers of
 * openai-chat and openai-responses have it (2025), and neither service documents more than "index of
 * the last character".
 */
export function spanIn(fields: JsonObject, { offsets, from }: CitedText): TextSpan | null {
  const first = numberAt(fields, 'start_index');
  const last = numberAt(fields, 'end_index');
  if (first === null || last === null || first < 0 || last <= first) return null;
  const before = offsets.toPoints(from);
  const start = offsets.fromPoints(before + first);
  const end = offsets.fromPoints(before + last);
  return end > start ? { start, end } : null;
}

/** Null: it is of no page, or of a text before this one. Where nobody said which text, it is all of it. */
export function writeUrlCitation(
  citation: Citation,
  { offsets, from }: CitedText,
): UrlCitation | null {
  const page = pageOf(citation);
  const span = citation.span ?? { start: from, end: offsets.length };
  if (page === null || span.start < from) return null;
  const before = offsets.toPoints(from);
  return {
    start_index: offsets.toPoints(span.start) - before,
    end_index: offsets.toPoints(span.end) - before,
    title: page.title ?? page.url,
    url: page.url,
  };
}

function pageOf({
  source,
}: Citation): { readonly url: string; readonly title: string | null } | null {
  switch (source.kind) {
    case 'web':
      return source;
    case 'search_result':
      return /^https?:\/\//.test(source.source)
        ? { url: source.source, title: source.title }
        : null;
    case 'document':
      return null;
  }
}
