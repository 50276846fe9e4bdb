/** The response object around the output: what a whole answer and the events of a stream have in common. */
import { arrayAt, isJsonObject, type JsonObject, objectAt } from '../../base/json.ts';
import { unreachable } from '../../base/unreachable.ts';
import type { ChatRequest } from '../../chat/request.ts';
import type { FinishReason } from '../../chat/stream-event.ts';
import { writeFinish } from './finish-reasons.ts';
import { responseIdOf } from './item-ids.ts';
import type { WireItemStatus } from './wire.ts';

export type ResponseHead = {
  readonly id: string | null;
  readonly fallbackId: string;
  readonly model: string | null;
  readonly createdAtSeconds: number;
  readonly request?: ChatRequest;
};

/** Everything but status, output and usage. What was asked for is repeated: clients read it from there. */
export function responseFields(head: ResponseHead): JsonObject {
  const asked = head.request?.original.json ?? {};
  return {
    id: responseIdOf(head.id ?? head.fallbackId),
    object: 'response',
    created_at: head.createdAtSeconds,
    model: head.model ?? '',
    background: false,
    instructions: asked['instructions'] ?? null,
    max_output_tokens: asked['max_output_tokens'] ?? null,
    max_tool_calls: asked['max_tool_calls'] ?? null,
    metadata: objectAt(asked, 'metadata') ?? {},
    parallel_tool_calls: asked['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    prompt_cache_key: asked['prompt_cache_key'] ?? null,
    reasoning: { effort: null, summary: null, ...objectAt(asked, 'reasoning') },
    safety_identifier: asked['safety_identifier'] ?? null,
    service_tier: asked['service_tier'] ?? 'auto',
    // Whatever was asked: nobody keeps an answer of another dialect.
    store: false,
    temperature: asked['temperature'] ?? null,
    text: { format: { type: 'text' }, ...objectAt(asked, 'text') },
    tool_choice: asked['tool_choice'] ?? 'auto',
    tools: arrayAt(asked, 'tools').filter(isJsonObject),
    top_logprobs: asked['top_logprobs'] ?? 0,
    top_p: asked['top_p'] ?? null,
    truncation: asked['truncation'] ?? 'disabled',
    user: asked['user'] ?? null,
  };
}

export type ResponseEnd = {
  readonly status: 'completed' | 'incomplete' | 'failed';
  readonly incomplete_details: JsonObject | null;
  readonly error: { readonly code: string; readonly message: string } | null;
};

/** How the answer ended. A provider that left the reason out has ended all the same: `finish` null. */
export function responseEnd(finish: FinishReason | null, raw: string | null): ResponseEnd {
  if (finish === 'error') {
    const message = `The model's output is unusable (${raw ?? 'no reason was given'}).`;
    return { status: 'failed', incomplete_details: null, error: { code: 'server_error', message } };
  }
  const { incomplete_details } = writeFinish(finish ?? 'stop', raw);
  const status = incomplete_details === null ? 'completed' : 'incomplete';
  return { status, incomplete_details, error: null };
}

/**
 * What the last item says of itself. Whatever stopped the answer stopped it there (the service marks
 * its own so; recorded for the limit, 2025); a paused one ends with its last item whole.
 */
export function lastItemStatus(finish: FinishReason | null): WireItemStatus {
  switch (finish) {
    case null:
    case 'stop':
    case 'tool_calls':
    case 'paused':
      return 'completed';
    case 'length':
    case 'content_filter':
    case 'error':
    case 'other':
      return 'incomplete';
    default:
      return unreachable(finish);
  }
}
