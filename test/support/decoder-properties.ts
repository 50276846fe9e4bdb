/** What must hold of every upstream decoder, whatever bytes a provider sends. */
import fc from 'fast-check';
import type { ChatEvent } from '../../src/chat/stream-event.ts';
import type { UpstreamDialect } from '../../src/dialects/dialect.ts';

const eventBytesMax = 100_000;

/** Signs of life say when, not what: a line end cut in two may give one more. */
export function eventsOf(
  dialect: UpstreamDialect,
  pieces: readonly Buffer[],
): readonly ChatEvent[] {
  const decoder = dialect.streamDecoder({ eventBytesMax });
  const parts = [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
  return parts.flatMap((part) => part.events).filter((event) => event.type !== 'activity');
}

/** `bytes` cut at the places that `cuts` (each in [0, 1)) name. */
export function cutAt(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const places = cuts
    .map((cut) => Math.floor(cut * bytes.length))
    .sort((one, other) => one - other);
  const pieces: Buffer[] = [];
  let from = 0;
  for (const place of [...places, bytes.length]) {
    pieces.push(Buffer.from(bytes.subarray(from, place)));
    from = place;
  }
  return pieces;
}

export const anyCuts = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
  maxLength: 12,
});

/** The faults of the order that stream events promise; empty = it holds. */
export function orderFaults(events: readonly ChatEvent[]): readonly string[] {
  const faults: string[] = [];
  const open = new Map<number, number>();
  const counts = new Map<number, number>();
  for (const event of events) {
    if (event.type === 'tool_call_start') {
      if (open.has(event.choice)) faults.push('a call starts inside another');
      if (event.index !== (counts.get(event.choice) ?? 0)) faults.push('an index is left out');
      counts.set(event.choice, event.index + 1);
      open.set(event.choice, event.index);
    }
    if (event.type === 'tool_call_arguments' && open.get(event.choice) !== event.index) {
      faults.push('arguments outside their call');
    }
    if (event.type === 'tool_call_end') {
      if (open.get(event.choice) !== event.index) faults.push('a call ends that is not open');
      open.delete(event.choice);
    }
  }
  return faults;
}

/** JSON that resembles `shapes`: their keys and words, in any arrangement. */
export function jsonLike(keys: readonly string[], words: readonly string[]): fc.Arbitrary<unknown> {
  const leaf = fc.oneof(
    fc.constantFrom(...words),
    fc.integer({ min: -2, max: 9 }),
    fc.constantFrom(null, true, false, '', '{}', 1e300, '__proto__'),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6, withCrossShrink: true },
      leaf,
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys, '__proto__'), tie('tree'), { maxKeys: 5 }),
    ),
  }));
  return tree;
}
