/** How much may be answered at most. */
import type { UpstreamCall } from './dialect.ts';

/** The limit in force, null = none; one above the model's ceiling would be refused, and gives way to it. */
export function outputLimit(
  { parameters, maxOutputTokens }: UpstreamCall,
  dropped: Set<string>,
): number | null {
  const asked = parameters.max_tokens;
  if (asked === null || maxOutputTokens === null || asked <= maxOutputTokens) return asked;
  dropped.add('max_tokens');
  return maxOutputTokens;
}
