/** Errors as this dialect's clients read them. */
import type { RequestFailure } from '../../failure/request-failure.ts';
import { openaiError } from '../openai-error.ts';

export function encodeError(failure: RequestFailure): string {
  return JSON.stringify({ error: openaiError(failure) });
}

/**
 * The data of an `error` event. The documents have its fields beside `type`, the service sends them
 * inside `error` (recorded, 2026-08): clients read the one or the other.
 */
export function streamError(failure: RequestFailure) {
  const error = openaiError(failure);
  const { code, message, param } = error;
  return { code, message, param, error };
}
