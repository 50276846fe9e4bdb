/**
 * Who made a reasoning item: what is encrypted in it can only be read for the account and the model
 * that it was made by, and names neither.
 */
import type { ReasoningPart } from '../../chat/request.ts';
import type { UpstreamCall } from '../dialect.ts';
import { dialectName } from './wire.ts';

/** Whether `call`'s target may be given reasoning that `maker` made; null = it is not said who did. */
export function isReadableFor(maker: string | null, call: UpstreamCall): boolean {
  const known = maker ?? call.usualModel ?? null;
  return known === null || isSameModel(known, call.model);
}

/** What of a canonical turn's reasoning goes back to `call`'s target; null = nothing. */
export function encryptedFor(part: ReasoningPart, call: UpstreamCall): string | null {
  const { signature } = part;
  if (part.dialect !== dialectName || signature === null) return null;
  return isReadableFor(part.model ?? null, call) ? signature : null;
}

/** Whatever snapshot, alias or router: `gpt-5.1`, `gpt-5.1-2025-11-13`, `openai/gpt-5.1`. */
function isSameModel(one: string, other: string): boolean {
  return familyOf(one) === familyOf(other);
}

function familyOf(model: string): string {
  return model
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$/, '');
}
