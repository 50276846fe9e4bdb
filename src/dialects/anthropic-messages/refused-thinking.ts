/** Thinking by budget that a target's own settings ask for, where the service would refuse the call for it. */
import { stringAt } from '../../base/json.ts';
import type { ThinkingLimits } from '../claude-thinking.ts';
import type { UpstreamCall } from '../dialect.ts';

/** The call without it: the setting gives way. */
export function withoutRefusedThinking(
  call: UpstreamCall,
  limits: ThinkingLimits,
  dropped: Set<string>,
): UpstreamCall {
  const { thinking, ...extraFields } = call.extraFields;
  const isRefused = limits.isForced || limits.isInToolLoop || limits.isPrefilled;
  if (!isRefused || stringAt(thinking, 'type') !== 'enabled') return call;
  dropped.add('thinking');
  return { ...call, extraFields };
}
