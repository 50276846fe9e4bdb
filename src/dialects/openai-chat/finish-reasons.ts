/** Why a choice ended, in this dialect's words and those of the servers that speak it in their own way. */
import type { FinishReason } from '../../chat/stream-event.ts';

const readWords: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_call', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['sensitive', 'content_filter'],
  ['error', 'error'],
  ['insufficient_system_resource', 'error'],
  ['network_error', 'error'],
]);

/** A word that is not known is `other`: kept, and never taken for a natural stop. */
export function readFinish(raw: string): FinishReason {
  return readWords.get(raw) ?? 'other';
}

/** Words that already say that tools are called: what a client of this dialect understands. */
export function saysToolCalls(raw: string | null): boolean {
  return raw === 'tool_calls' || raw === 'function_call';
}

/** The field is an open string: a reason without a word of its own keeps its provider's. */
export function writeFinish(reason: FinishReason, raw: string | null): string {
  switch (reason) {
    case 'stop':
    case 'length':
    case 'tool_calls':
    case 'content_filter':
      return reason;
    case 'error':
    case 'paused':
    case 'other':
      return raw ?? reason;
  }
}
