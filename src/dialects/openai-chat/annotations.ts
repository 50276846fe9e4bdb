/** What an answer of this dialect says of its sources: annotations of a message, or a list beside it. */
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../../base/json.ts';
import type { Citation } from '../../chat/citation.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import { type CitedText, readUrlCitation, writeUrlCitation } from '../url-citation.ts';

/** Each annotation of `message`; of another kind than a page, none but this dialect can tell it. */
export function readAnnotations(
  message: JsonObject,
  choice: number,
  text: CitedText,
): readonly ChatEvent[] {
  return arrayAt(message, 'annotations').map((annotation): ChatEvent => {
    const fields = objectAt(annotation, 'url_citation');
    const citation = fields === null ? null : readUrlCitation(fields, text);
    return citation === null
      ? { type: 'omitted', choice, name: 'citations' }
      : { type: 'citation', choice, citation };
  });
}

/** Null: a client of this dialect cannot be told of it. */
export function writeAnnotation(citation: Citation, text: CitedText): JsonObject | null {
  const written = writeUrlCitation(citation, text);
  return written === null ? null : { type: 'url_citation', url_citation: written };
}

/** The pages that some services (Perplexity, xAI) list beside the choices, again in every chunk. */
export class ListedSources {
  #body: JsonObject | null = null;
  readonly #told = new Set<string>();

  /** The last list is the whole one. */
  note(body: JsonObject): void {
    if (Array.isArray(body['citations']) && body['citations'].length > 0) this.#body = body;
  }

  /** Reads along: a page that an annotation named is not told again. */
  noteTold(events: readonly ChatEvent[]): void {
    for (const event of events) {
      if (event.type === 'citation' && event.citation.source.kind === 'web') {
        this.#told.add(event.citation.source.url);
      }
    }
  }

  /** Those not told yet. They belong to the first choice, and to no place in its text. */
  tell(): readonly ChatEvent[] {
    if (this.#body === null) return [];
    const events: ChatEvent[] = [];
    const titles = titlesIn(this.#body);
    for (const url of arrayAt(this.#body, 'citations')) {
      if (typeof url !== 'string' || url === '' || this.#told.has(url)) continue;
      this.#told.add(url);
      const source = { kind: 'web', url, title: titles.get(url) ?? null } as const;
      events.push({
        type: 'citation',
        choice: 0,
        citation: { source, citedText: null, span: null },
      });
    }
    this.#body = null;
    return events;
  }
}

function titlesIn(body: JsonObject): ReadonlyMap<string, string> {
  const titles = new Map<string, string>();
  for (const result of arrayAt(body, 'search_results')) {
    const url = stringAt(result, 'url');
    const title = stringAt(result, 'title') || null;
    if (isJsonObject(result) && url !== null && title !== null) titles.set(url, title);
  }
  return titles;
}
