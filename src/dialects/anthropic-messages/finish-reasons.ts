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
