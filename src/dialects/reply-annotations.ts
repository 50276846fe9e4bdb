/** What a whole answer cites, as the annotations of its text, in both of OpenAI's dialects. */
import type { JsonObject } from '../base/json.ts';
import type { Citation } from '../chat/citation.ts';
import type { ReplyChoice } from '../chat/reply.ts';
import type { OnOmitted } from './dialect.ts';
import { TextOffsets } from './text-offsets.ts';
import type { CitedText } from './url-citation.ts';

/** In their order. What `write` has no form for, and what else the choice could not hold, is told to `onOmitted`. */
export function annotationsOf(
  { text, citations = [], omitted = [] }: ReplyChoice,
  write: (citation: Citation, text: CitedText) => JsonObject | null,
  onOmitted?: OnOmitted,
): readonly JsonObject[] {
  for (const name of omitted) onOmitted?.(name);
  if (citations.length === 0) return [];
  const offsets = new TextOffsets();
  offsets.push(text);
  const annotations: JsonObject[] = [];
  for (const citation of citations) {
    const annotation = write(citation, { offsets, from: 0 });
    if (annotation === null) onOmitted?.('citations');
    else annotations.push(annotation);
  }
  return annotations;
}
