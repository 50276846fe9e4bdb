/** Reads what a candidate's text rests on, by the types of Google's SDK. It throws at the first fault. */
type Json = { readonly [key: string]: unknown };

export type GroundedText = {
  /** A page's address, or a document's title. */
  readonly source: string;
  /** The words of the answer; null = not said which. */
  readonly of: string | null;
};

/** `text`: what segments point into, in bytes. */
export function readGrounding(metadata: Json, text: string): readonly GroundedText[] {
  const sources = listAt(metadata, 'groundingChunks').map(sourceOf);
  const supports = listAt(metadata, 'groundingSupports');
  const cited = new Set<number>();
  const grounded = supports.flatMap((support) => {
    const of = wordsOf(support['segment'] as Json, text);
    const indexes = support['groundingChunkIndices'] as readonly number[];
    if (indexes.length === 0) throw new Error('a support by nothing');
    return indexes.map((index) => {
      const source = sources[index];
      if (source === undefined) throw new Error(`no chunk ${index}`);
      cited.add(index);
      return { source, of };
    });
  });
  const others = sources.flatMap((source, index) =>
    cited.has(index) ? [] : [{ source, of: null }],
  );
  return [...grounded, ...others];
}

function sourceOf(chunk: Json): string {
  const { web, retrievedContext, ...other } = chunk as { readonly [name: string]: Json };
  if (Object.keys(other).length > 0) throw new Error(`chunk: ${Object.keys(other)}`);
  const told = web ?? retrievedContext ?? {};
  for (const [name, value] of Object.entries(told)) {
    if (typeof value !== 'string' || value === '') throw new Error(`chunk.${name}: ${value}`);
  }
  return String(told['uri'] ?? told['title'] ?? told['text'] ?? '');
}

function wordsOf(segment: Json, text: string): string {
  const bytes = Buffer.from(text);
  const { startIndex = 0, endIndex } = segment;
  const [start, end] = [Number(startIndex), Number(endIndex)];
  if (!(start >= 0 && start < end && end <= bytes.length)) throw new Error(`${start}..${end}`);
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(start, end));
}

function listAt(value: Json, name: string): readonly Json[] {
  return (value[name] ?? []) as readonly Json[];
}
