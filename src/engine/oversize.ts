/**
 * Some services refuse a prompt that is too long as if it came too often: a limit of input tokens a minute that
 * one request alone exceeds (Gemini, 2026-11). It shows when the same refusal follows the wait that it named.
 */
import { estimateInputTokens } from '../chat/token-estimate.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import { readInputLimit } from '../failure/message-patterns.ts';
import type { CandidateState } from './candidate-state.ts';
import type { EngineRequest } from './engine-request.ts';

/** An estimate is rarely wrong by more; a smaller request met a limit that others had used up. */
const estimateErrorMost = 2;

/** The failure as it counts: too long, where waiting did not help and cannot. */
export function judgeOversize(
  { failures }: Pick<CandidateState, 'failures'>,
  { chat }: Pick<EngineRequest, 'chat'>,
  failure: AttemptFailure,
): AttemptFailure {
  const limit = limitOf(failure);
  const before = failures.at(-1);
  if (limit === null || before === undefined || limitOf(before) !== limit) return failure;
  if (estimateInputTokens(chat) * estimateErrorMost < limit) return failure;
  const tokens = { requested: null, limit };
  return {
    ...failure,
    errorClass: 'context_length',
    rule: 'limit_exceeded_alone',
    hint: null,
    tokens,
  };
}

function limitOf({ errorClass, message }: AttemptFailure): number | null {
  return errorClass === 'rate_limit' ? readInputLimit(message) : null;
}
