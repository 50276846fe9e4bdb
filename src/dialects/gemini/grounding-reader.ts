/**
 * What a candidate's text rests on: grounding and citations come in late chunks, some services repeat
 * with each all they told before.
 */
import { append } from '../../base/append.ts';
import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from '../../base/json.ts';
import type { CitedSource, TextSpan } from '../../chat/citation.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import { TextOffsets } from '../text-offsets.ts';
import { PartPlaces } from './part-places.ts';

type Found = { readonly source: CitedSource; readonly citedText: string | null };

export class GroundingReader {
  readonly #choice: number;
  readonly #offsets = new TextOffsets();
  readonly #places = new PartPlaces();
  readonly #told = new Set<string>();
  /** The last list: supports point into it. */
  #found: readonly (Found | null)[] = [];
  #hasSupports = false;

  constructor(choice: number) {
    this.#choice = choice;
  }

  beginChunk(): void {
    this.#places.beginChunk();
  }

  /** Every part, in order; `text` null = it adds none to the answer's. */
  notePart(kind: 'text' | 'thought' | 'other', text: string | null): void {
    this.#places.add(kind, this.#offsets.length);
    if (text !== null) this.#offsets.push(text);
  }

  read(candidate: JsonObject, isFinished: boolean): readonly ChatEvent[] {
    const events: ChatEvent[] = [];
    append(events, this.#readGrounding(objectAt(candidate, 'groundingMetadata')));
    const cited = objectAt(candidate, 'citationMetadata');
    for (const name of ['citationSources', 'citations']) {
      for (const citation of arrayAt(cited, name)) append(events, this.#readRecited(citation));
    }
    // Pages that were found, and nobody says for which words.
    if (isFinished && !this.#hasSupports) {
      for (const found of this.#found) append(events, this.#tell(found, null));
    }
    return events;
  }

  #readGrounding(metadata: JsonObject | null): readonly ChatEvent[] {
    const chunks = arrayAt(metadata, 'groundingChunks');
    if (chunks.length > 0) this.#found = chunks.map(readChunk);
    const events: ChatEvent[] = [];
    for (const support of arrayAt(metadata, 'groundingSupports')) {
      this.#hasSupports = true;
      const span = this.#spanOf(objectAt(support, 'segment'));
      for (const index of arrayAt(support, 'groundingChunkIndices')) {
        if (typeof index !== 'number') continue;
        append(events, this.#tell(this.#found[index] ?? null, span));
      }
    }
    return events;
  }

  /** A passage that the model recited. */
  #readRecited(citation: unknown): readonly ChatEvent[] {
    const url = stringAt(citation, 'uri') ?? '';
    const title = stringAt(citation, 'title') || null;
    const unplaced = { index: null, title, fileId: null, place: null };
    const source: CitedSource =
      url === '' ? { kind: 'document', ...unplaced } : { kind: 'web', url, title };
    const isNamed = url !== '' || title !== null;
    return this.#tell(isNamed ? { source, citedText: null } : null, this.#spanOf(citation));
  }

  #tell(found: Found | null, span: TextSpan | null): readonly ChatEvent[] {
    const choice = this.#choice;
    if (found === null) return [{ type: 'omitted', choice, name: 'citations' }];
    const { source, citedText } = found;
    const name = source.kind === 'web' ? source.url : (source.title ?? '');
    const key = `${span?.start ?? ''}:${span?.end ?? ''}:${name}:${citedText ?? ''}`;
    if (this.#told.has(key)) return [];
    this.#told.add(key);
    return [{ type: 'citation', choice, citation: { source, citedText, span } }];
  }

  /** Its figures count bytes of UTF-8 within a part, the end exclusive; 0 is left out (documented, and so recorded 2026). */
  #spanOf(segment: unknown): TextSpan | null {
    const first = numberAt(segment, 'startIndex') ?? 0;
    const last = numberAt(segment, 'endIndex');
    if (last === null || first < 0 || last <= first) return null;
    const words = stringAt(segment, 'text');
    // Counted in another way than is known here.
    if (words !== null && Buffer.byteLength(words) !== last - first) return null;
    const from = this.#places.startOf(numberAt(segment, 'partIndex') ?? 0);
    if (from === null) return null;
    const before = this.#offsets.toBytes(from);
    const start = this.#offsets.fromBytes(before + first);
    const end = this.#offsets.fromBytes(before + last);
    return end > start ? { start, end } : null;
  }
}

function readChunk(chunk: unknown): Found | null {
  const page = objectAt(chunk, 'web') ?? objectAt(chunk, 'maps') ?? objectAt(chunk, 'image');
  const passage = objectAt(chunk, 'retrievedContext');
  const told = page ?? passage;
  const url = stringAt(told, 'uri') || stringAt(told, 'sourceUri') || '';
  const title = stringAt(told, 'title') || null;
  const citedText = passage === null ? null : stringAt(passage, 'text') || null;
  if (/^https?:/.test(url)) return { source: { kind: 'web', url, title }, citedText };
  if (title === null && citedText === null) return null;
  return {
    source: { kind: 'document', index: null, title, fileId: null, place: null },
    citedText,
  };
}
