/** The first tokens of a stream stay here, so that a restart remains invisible: see 5-streams, Hold. */
import { append } from '../base/append.ts';
import type { Clock } from '../base/clock.ts';
import type { StreamPart } from '../chat/stream-event.ts';
import type { AttemptStream, Break } from './attempt-stream.ts';

export type HoldBounds = {
  readonly deadlineAtMs: number;
  /** 0 = commit at the first content. */
  readonly holdTokens: number;
  /** Longest hold after the first content, ms. */
  readonly holdMaxMs: number;
};

export type Held =
  | {
      readonly kind: 'committed';
      readonly parts: readonly StreamPart[];
      readonly isComplete: boolean;
    }
  | { readonly kind: 'broken'; readonly cause: Break };

/** Reads until the commit point or the break before it. `onFirstContent` is called once. */
export async function hold(
  stream: AttemptStream,
  bounds: HoldBounds,
  clock: Clock,
  onFirstContent: () => void,
): Promise<Held> {
  const parts: StreamPart[] = [];
  let holdUntilMs: number | null = null;
  for (;;) {
    const step = await stream.next(holdUntilMs);
    switch (step.kind) {
      case 'held':
        return { kind: 'committed', parts, isComplete: false };
      case 'broken':
        return { kind: 'broken', cause: step.cause };
      case 'ended':
        append(parts, step.parts);
        return { kind: 'committed', parts, isComplete: true };
      case 'parts':
        append(parts, step.parts);
        break;
    }
    if (!stream.tally.hasContent) continue;
    if (holdUntilMs === null) {
      onFirstContent();
      holdUntilMs = Math.min(clock.monotonicMs() + bounds.holdMaxMs, bounds.deadlineAtMs);
    }
    if (stream.tally.contentTokens >= bounds.holdTokens) {
      return { kind: 'committed', parts, isComplete: false };
    }
  }
}
