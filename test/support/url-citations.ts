/** Reads what both OpenAI dialects say of a cited page, by their SDK's types. It throws at the first fault. */
type Json = { readonly [key: string]: unknown };

export type ReadUrlCitation = {
  readonly url: string;
  readonly title: string;
  /** The words of the answer that it is of. */
  readonly of: string;
};

/** `text`: what the indexes count in, in code points. */
export function readUrlCitation(fields: Json, text: string): ReadUrlCitation {
  const { url, title, start_index: start, end_index: end } = fields;
  if (typeof url !== 'string' || url === '') throw new Error(`url: ${url}`);
  if (typeof title !== 'string' || title === '') throw new Error(`title: ${title}`);
  const points = [...text];
  const [from, to] = [Number(start), Number(end)];
  const isSpan = Number.isInteger(start) && Number.isInteger(end) && from >= 0 && from <= to;
  if (!isSpan || to > points.length) throw new Error(`span ${start}..${end} of ${points.length}`);
  return { url, title, of: points.slice(from, to).join('') };
}
