/** Which requests are never continued in an open stream: see 5-streams, After the hold. */
import type { EngineRequest } from '../engine-request.ts';
import { mayWrite } from '../provider-tools.ts';

/** In words of the config and of the request. */
export type RequestBar =
  | 'whole_reply'
  | 'fail_forward'
  | 'max_continuations'
  | 'strict'
  | 'stored'
  | 'choices'
  | 'logprobs'
  | 'structured_output'
  | 'provider_tools';

/** Null: nothing in the request itself stands against it. */
export function requestBar(request: EngineRequest): RequestBar | null {
  const { chat, tier } = request;
  const { parameters } = chat;
  if (!chat.isStream) return 'whole_reply';
  if (tier.stream.onInterrupt !== 'continue') return 'fail_forward';
  if (tier.stream.maxContinuations === 0) return 'max_continuations';
  if (request.isStrict === true) return 'strict';
  // What an account keeps is what it wrote itself.
  if (request.account !== undefined) return 'stored';
  if ((parameters.n ?? 1) > 1) return 'choices';
  // A second answer has probabilities for its own words only.
  if (parameters.logprobs === true) return 'logprobs';
  if ((parameters.response_format?.type ?? 'text') !== 'text') return 'structured_output';
  const isOnceOnly = tier.targets.some((target) => mayWrite(request, target));
  return isOnceOnly ? 'provider_tools' : null;
}
