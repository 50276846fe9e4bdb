/** How much the client itself lets the model think, beside the word `reasoning_effort`. */
import type { DialectName } from '../chat/request.ts';
import type { UpstreamCall } from './dialect.ts';

/** In tokens; null where it set none, or the target's settings have their own say. */
export function thinkingBudget({ parameters, request }: UpstreamCall): number | null {
  const isItsOwn = parameters.reasoning_effort === request.parameters.reasoning_effort;
  const budget = request.thinkingBudget ?? null;
  return isItsOwn && budget !== 'open' ? budget : null;
}

/**
 * Whether the model is to think as long as it finds right, and nobody has named an effort. Not where the
 * client speaks `dialect` itself: there its own body says so.
 */
export function isThinkingOpen(call: UpstreamCall, dialect: DialectName): boolean {
  const { parameters, request } = call;
  return (
    parameters.reasoning_effort === null &&
    request.thinkingBudget === 'open' &&
    request.original.dialect !== dialect
  );
}

/** What comes nearest to it where only an effort can be told; a default may be not to think at all. */
export const openEffort = 'medium';
