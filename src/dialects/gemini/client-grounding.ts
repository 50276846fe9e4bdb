/** What an answer rests on, as this dialect tells it: sources, and which words rest on which. */
import type { JsonObject } from '../../base/json.ts';
import type { Citation } from '../../chat/citation.ts';
import type { TextOffsets } from '../text-offsets.ts';

export class Grounding {
  readonly #chunks: JsonObject[] = [];
  readonly #places = new Map<string, number>();
  /** The sources of one stretch of words. */
  readonly #supports = new Map<
    string,
    { readonly span: Citation['span']; readonly from: number[] }
  >();

  add(citation: Citation): void {
    const index = this.#indexOf(citation);
    const { span } = citation;
    if (span === null) return;
    const key = `${span.start}:${span.end}`;
    const known = this.#supports.get(key);
    if (known === undefined) this.#supports.set(key, { span, from: [index] });
    else known.from.push(index);
  }

  /**
   * The fields of a candidate, none where nothing was cited. `offsets` holds all its text; `part` is
   * the place of the text among the parts, which a stream leaves out.
   */
  fields(offsets: TextOffsets, part: number): JsonObject {
    if (this.#chunks.length === 0) return {};
    const supports = [...this.#supports.values()].map(({ span, from }) => {
      const start = offsets.toBytes(span?.start ?? 0);
      const segment = {
        ...(part === 0 ? {} : { partIndex: part }),
        ...(start === 0 ? {} : { startIndex: start }),
        endIndex: offsets.toBytes(span?.end ?? 0),
      };
      return { segment, groundingChunkIndices: [...new Set(from)] };
    });
    return {
      groundingMetadata: {
        groundingChunks: this.#chunks,
        ...(supports.length === 0 ? {} : { groundingSupports: supports }),
      },
    };
  }

  #indexOf(citation: Citation): number {
    const chunk = chunkOf(citation);
    const key = JSON.stringify(chunk);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const index = this.#chunks.length;
    this.#places.set(key, index);
    this.#chunks.push(chunk);
    return index;
  }
}

/** A passage is told in its own words: for its place in its document there is no field. */
function chunkOf({ source, citedText }: Citation): JsonObject {
  const title = source.title === null ? {} : { title: source.title };
  const text = citedText === null ? {} : { text: citedText };
  switch (source.kind) {
    case 'web':
      return { web: { uri: source.url, ...title } };
    case 'document':
      return { retrievedContext: { ...title, ...text } };
    case 'search_result':
      return { retrievedContext: { uri: source.source, ...title, ...text } };
  }
}
