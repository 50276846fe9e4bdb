/** The budget of thinking that the client itself set, in tokens; null where it set none, or the target's settings have their own say. */
import type { UpstreamCall } from './dialect.ts';

export function thinkingBudget({ parameters, request }: UpstreamCall): number | null {
  const isItsOwn = parameters.reasoning_effort === request.parameters.reasoning_effort;
  return isItsOwn ? (request.thinkingBudget ?? null) : null;
}
