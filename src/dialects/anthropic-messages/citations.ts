/** Citations as this dialect writes them: each names a place in what the request or a search brought. */
import { type JsonObject, numberAt, stringAt } from '../../base/json.ts';
import type { Citation, CitedPlace, CitedSource } from '../../chat/citation.ts';
import type { BlockCitation } from '../block-citations.ts';
import { dialectName } from './wire.ts';

/** `document_title` of a request. */
const titleCharactersMax = 255;

type Location = { readonly type: string; readonly from: string; readonly to: string };

const locations: { readonly [unit in CitedPlace['unit']]: Location } = {
  character: { type: 'char_location', from: 'start_char_index', to: 'end_char_index' },
  page: { type: 'page_location', from: 'start_page_number', to: 'end_page_number' },
  block: { type: 'content_block_location', from: 'start_block_index', to: 'end_block_index' },
};

/** Null: of a kind that is not known here. */
export function readCitation(citation: unknown): BlockCitation | null {
  const source = readSource(citation);
  return source === null ? null : { source, citedText: stringAt(citation, 'cited_text') || null };
}

function readSource(citation: unknown): CitedSource | null {
  const type = stringAt(citation, 'type');
  if (type === 'web_search_result_location') return readPage(citation);
  if (type === 'search_result_location') {
    const { from, to } = locations.block;
    return {
      kind: 'search_result',
      index: numberAt(citation, 'search_result_index') ?? 0,
      source: stringAt(citation, 'source') ?? '',
      title: stringAt(citation, 'title') || null,
      place: placeIn(citation, 'block', from, to),
    };
  }
  for (const unit of ['character', 'page', 'block'] as const) {
    const { type: known, from, to } = locations[unit];
    if (type !== known) continue;
    return {
      kind: 'document',
      index: numberAt(citation, 'document_index'),
      title: stringAt(citation, 'document_title') || null,
      fileId: stringAt(citation, 'file_id') || null,
      place: placeIn(citation, unit, from, to),
    };
  }
  return null;
}

function readPage(citation: unknown): CitedSource | null {
  const url = stringAt(citation, 'url') ?? '';
  if (url === '') return null;
  const text = stringAt(citation, 'encrypted_index') ?? '';
  return {
    kind: 'web',
    url,
    title: stringAt(citation, 'title') || null,
    ...(text === '' ? {} : { sealed: { dialect: dialectName, text } }),
  };
}

function placeIn(
  citation: unknown,
  unit: CitedPlace['unit'],
  from: string,
  to: string,
): CitedPlace | null {
  const start = numberAt(citation, from);
  const end = numberAt(citation, to);
  return start === null || end === null ? null : { unit, start, end };
}

/** Null: a client of this dialect cannot be told of it, since every form names a place. */
export function writeCitation({ source, citedText }: Citation): JsonObject | null {
  const cited_text = citedText ?? '';
  switch (source.kind) {
    case 'web': {
      const { url, title, sealed } = source;
      // The service wants back what only it can make, and refuses any other.
      if (sealed?.dialect !== dialectName) return null;
      const encrypted_index = sealed.text;
      return { type: 'web_search_result_location', cited_text, encrypted_index, title, url };
    }
    case 'document': {
      const { index, place, fileId } = source;
      if (index === null || place === null) return null;
      const { type, from, to } = locations[place.unit];
      const document_title = source.title?.slice(0, titleCharactersMax) ?? null;
      const figures = { document_index: index, document_title, file_id: fileId };
      return { type, cited_text, ...figures, [from]: place.start, [to]: place.end };
    }
    case 'search_result': {
      const { index, title, place } = source;
      if (place === null) return null;
      return {
        type: 'search_result_location',
        cited_text,
        search_result_index: index,
        source: source.source,
        title,
        [locations.block.from]: place.start,
        [locations.block.to]: place.end,
      };
    }
  }
}
