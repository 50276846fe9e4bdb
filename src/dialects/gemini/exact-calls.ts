/** Arguments of calls keep the spelling of their numbers. */
import { arrayAt, objectAt } from '../../base/json.ts';
import { parseExactJson } from '../exact-json.ts';

/** `chunk` as parsed from `text`; only where it holds a call the text is read again. */
export function withExactCalls(chunk: unknown, text: string): unknown {
  const chunks: readonly unknown[] = Array.isArray(chunk) ? chunk : [chunk];
  if (!chunks.some(hasCall)) return chunk;
  const exact = parseExactJson(text);
  return exact.ok ? exact.value : chunk;
}

function hasCall(chunk: unknown): boolean {
  return arrayAt(chunk, 'candidates').some((candidate) =>
    arrayAt(objectAt(candidate, 'content'), 'parts').some(
      (part) => objectAt(part, 'functionCall') !== null,
    ),
  );
}
