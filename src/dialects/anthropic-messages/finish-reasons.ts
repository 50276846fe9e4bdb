/** Why the model stopped, in this dialect's words and in ours. */
import type { FinishReason } from '../../chat/stream-event.ts';

const reasons: { readonly [word: string]: FinishReason } = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
  pause_turn: 'paused',
  compaction: 'paused',
};

/** A word we do not know is `other`: it may mean that the answer is unfinished. */
export function finishReasonOf(word: string): FinishReason {
  return Object.hasOwn(reasons, word) ? (reasons[word] ?? 'other') : 'other';
}

const words = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
  paused: 'pause_turn',
} as const;

/** The field is an open string: a reason without a word of its own keeps its provider's. */
export function writeFinish(reason: FinishReason, raw: string | null): string {
  if (raw !== null && finishReasonOf(raw) === reason) return raw;
  switch (reason) {
    case 'stop':
    case 'length':
    case 'tool_calls':
    case 'content_filter':
    case 'paused':
      return words[reason];
    case 'error':
    case 'other':
      return raw ?? reason;
  }
}
