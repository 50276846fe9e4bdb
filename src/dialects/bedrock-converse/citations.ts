/** Citations as the service writes them, beside the text of a block. */
import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from '../../base/json.ts';
import type { CitedPlace, CitedSource } from '../../chat/citation.ts';
import type { BlockCitation } from '../block-citations.ts';

const placeNames: { readonly [unit in CitedPlace['unit']]: string } = {
  character: 'documentChar',
  page: 'documentPage',
  block: 'documentChunk',
};

/** Null: it names nothing. */
export function readCitation(citation: JsonObject): BlockCitation | null {
  const location = objectAt(citation, 'location');
  const title = stringAt(citation, 'title') || null;
  const source = readSource(location, title, stringAt(citation, 'source') ?? '');
  const words = arrayAt(citation, 'sourceContent').map((part) => stringAt(part, 'text') ?? '');
  const citedText = words.join('') || null;
  const isNothing = title === null && citedText === null && location === null;
  return isNothing ? null : { source, citedText };
}

/** A PDF is sometimes told as an empty place of the web (2025-12): a document without a place. */
function readSource(location: JsonObject | null, title: string | null, name: string): CitedSource {
  const web = objectAt(location, 'web');
  const url = stringAt(web, 'url') ?? '';
  if (url !== '') return { kind: 'web', url, title: title ?? (stringAt(web, 'domain') || null) };
  const result = objectAt(location, 'searchResultLocation');
  if (result !== null) {
    const index = numberAt(result, 'searchResultIndex') ?? 0;
    return { kind: 'search_result', index, source: name, title, place: placeIn(result, 'block') };
  }
  for (const unit of ['character', 'page', 'block'] as const) {
    const place = objectAt(location, placeNames[unit]);
    if (place === null) continue;
    // A figure of nought may be left out.
    const index = numberAt(place, 'documentIndex') ?? 0;
    return { kind: 'document', index, title, fileId: null, place: placeIn(place, unit) };
  }
  return { kind: 'document', index: null, title, fileId: null, place: null };
}

function placeIn(place: JsonObject, unit: CitedPlace['unit']): CitedPlace | null {
  const start = numberAt(place, 'start') ?? 0;
  const end = numberAt(place, 'end');
  return end === null ? null : { unit, start, end };
}
