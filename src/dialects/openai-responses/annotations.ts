/** Annotations of a text: in this dialect each counts within its own content part. */
import { type JsonObject, stringAt } from '../../base/json.ts';
import type { Citation } from '../../chat/citation.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import type { TextOffsets } from '../text-offsets.ts';
import { type CitedText, readUrlCitation, spanIn, writeUrlCitation } from '../url-citation.ts';

/** What was told of one part: its place in all the text, and which of its annotations. */
type ToldPart = { readonly from: number; readonly told: Set<number> };

export class AnnotationReader {
  readonly #offsets: TextOffsets;
  readonly #parts = new Map<string, ToldPart>();

  /** `offsets` holds all the text of the answer so far. */
  constructor(offsets: TextOffsets) {
    this.#offsets = offsets;
  }

  /** A part begins, at the latest with its first text. */
  begin(key: string): void {
    this.#part(key);
  }

  /** One that the part's full form may repeat, at `position` (null = the next). */
  add(key: string, position: number | null, annotation: JsonObject): readonly ChatEvent[] {
    const part = this.#part(key);
    const place = position ?? part.told.size;
    if (part.told.has(place)) return [];
    part.told.add(place);
    const citation = readAnnotation(annotation, { offsets: this.#offsets, from: part.from });
    if (citation === null) return [{ type: 'omitted', choice: 0, name: 'citations' }];
    return [{ type: 'citation', choice: 0, citation }];
  }

  #part(key: string): ToldPart {
    const known = this.#parts.get(key);
    if (known !== undefined) return known;
    const made = { from: this.#offsets.length, told: new Set<number>() };
    this.#parts.set(key, made);
    return made;
  }
}

/** Null: of a kind that is not known here. */
export function readAnnotation(annotation: JsonObject, text: CitedText): Citation | null {
  switch (annotation['type']) {
    case 'url_citation':
      return readUrlCitation(annotation, text);
    case 'file_citation':
    case 'container_file_citation': {
      const fileId = stringAt(annotation, 'file_id');
      const title = stringAt(annotation, 'filename') || null;
      const source = { kind: 'document', index: null, title, fileId, place: null } as const;
      return { source, citedText: null, span: spanIn(annotation, text) };
    }
    default:
      return null;
  }
}

/** Null: a client of this dialect cannot be told of it. A file's id means nothing to another account. */
export function writeAnnotation(citation: Citation, text: CitedText): JsonObject | null {
  const written = writeUrlCitation(citation, text);
  return written === null ? null : { type: 'url_citation', ...written };
}
