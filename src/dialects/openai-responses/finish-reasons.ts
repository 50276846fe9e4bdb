/** How an answer ended, in this dialect's words and in ours. */
import type { JsonObject } from '../../base/json.ts';
import { objectAt, stringAt } from '../../base/json.ts';
import type { FinishReason } from '../../chat/stream-event.ts';
import type { WireResponseStatus } from './wire.ts';

export type Finish = { readonly reason: FinishReason; readonly raw: string };

const incompleteReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['max_output_tokens', 'length'],
  ['content_filter', 'content_filter'],
]);

/**
 * What the status of `response` says, null where there is none. `hasCalls`: it holds calls that the
 * client is to run. A status or reason that is not known is `other`: it may mean that the answer is
 * unfinished.
 */
export function finishOf(response: unknown, hasCalls: boolean): Finish | null {
  const status = stringAt(response, 'status');
  switch (status) {
    case null:
      return null;
    case 'completed':
      return { reason: hasCalls ? 'tool_calls' : 'stop', raw: status };
    case 'incomplete': {
      const why = stringAt(objectAt(response, 'incomplete_details'), 'reason');
      // Some servers give no details: the limit is the usual cause (reported, 2026).
      if (why === null) return { reason: 'length', raw: status };
      return { reason: incompleteReasons.get(why) ?? 'other', raw: `${status}:${why}` };
    }
    case 'queued':
    case 'in_progress':
      return { reason: 'paused', raw: status };
    case 'failed':
      return { reason: 'error', raw: status };
    default:
      return { reason: 'other', raw: status };
  }
}

export type WireFinish = {
  readonly status: WireResponseStatus;
  readonly incomplete_details: JsonObject | null;
};

/** A reason without a word of its own keeps its provider's, and is never told as complete. */
export function writeFinish(reason: FinishReason, raw: string | null): WireFinish {
  switch (reason) {
    case 'stop':
    case 'tool_calls':
      return { status: 'completed', incomplete_details: null };
    case 'length':
      return incomplete('max_output_tokens');
    case 'content_filter':
      return incomplete('content_filter');
    case 'error':
    case 'paused':
    case 'other':
      return incomplete(raw ?? reason);
  }
}

function incomplete(reason: string): WireFinish {
  return { status: 'incomplete', incomplete_details: { reason } };
}
