/** Errors as this dialect's clients read them. */
import type { RequestFailure } from '../../failure/request-failure.ts';
import { openaiError } from '../openai-error.ts';

export function encodeError(failure: RequestFailure): string {
  return JSON.stringify({ error: openaiError(failure) });
}

/** After it no `[DONE]` comes: the stream did not end well. */
export function encodeStreamError(failure: RequestFailure): string {
  return `data: ${encodeError(failure)}\n\n`;
}
