/** Whether a target says that it continues no turn of the assistant's: then it is asked in words. */
import type { AttemptFailure } from '../../failure/attempt-failure.ts';

/** How services say it; 2025-2026, their own messages and those of the servers that others run. */
const refusals: readonly RegExp[] = [
  /pre-?fill/i,
  /(must|should|has to|needs to|expected to) end with (a |an )?(user|tool)\b/i,
  /(last|final)( message)?( role)?[^.]{0,60}\b(must|should|has to|needs to|expected|cannot|can't|may not|to be)\b[^.]{0,60}\b(user|tool|assistant|model)\b/i,
  /expected last role/i,
  /(assistant|model)('s)? (message|turn|response|role)[^.]{0,40}\b(at the end|as the last|in the last|last position|trailing|final)\b/i,
  /\b(trailing|final|last)\b[^.]{0,20}\b(assistant|model)\b[^.]{0,60}\bnot (be )?(supported|allowed|permitted|accepted)/i,
  /role of the last/i,
  /ensure that (the )?(multi-?turn|last|single)[^.]{0,60}\buser\b/i,
  /continue_final_message|add_generation_prompt/i,
];

export function refusesPrefill(failure: AttemptFailure): boolean {
  if (failure.errorClass !== 'invalid_request') return false;
  return refusals.some((pattern) => pattern.test(failure.message));
}
