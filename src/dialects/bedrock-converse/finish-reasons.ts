/** Why the model stopped, in this dialect's words and in ours. */
import type { FinishReason } from '../../chat/stream-event.ts';

const reasons: { readonly [word: string]: FinishReason } = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  // A 200 whose text is the guardrail's own words, or what it left of the model's.
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
  refusal: 'content_filter',
  pause_turn: 'paused',
  malformed_model_output: 'error',
  malformed_tool_use: 'error',
};

/** A word we do not know is `other`: it may mean that the answer is unfinished. */
export function finishReasonOf(word: string): FinishReason {
  return Object.hasOwn(reasons, word) ? (reasons[word] ?? 'other') : 'other';
}
