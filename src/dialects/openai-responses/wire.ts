/** The shapes this dialect writes, and the fields it knows. What it reads is `unknown` until checked. */
import type { JsonObject } from '../../base/json.ts';

export const dialectName = 'openai-responses';

export type WireInputPart =
  | { readonly type: 'input_text'; readonly text: string }
  | {
      readonly type: 'input_image';
      readonly image_url?: string;
      readonly file_id?: string;
      readonly detail?: string;
    }
  | {
      readonly type: 'input_file';
      readonly file_id?: string;
      readonly file_url?: string;
      readonly file_data?: string;
      readonly filename?: string;
    }
  | {
      readonly type: 'input_audio';
      readonly input_audio: { readonly data: string; readonly format: string };
    };

export type WireOutputPart =
  | {
      readonly type: 'output_text';
      readonly text: string;
      readonly annotations: readonly JsonObject[];
      readonly logprobs?: readonly JsonObject[];
    }
  | { readonly type: 'refusal'; readonly refusal: string };

/** What a conversation is sent as. Items that the provider made carry an `id` there, which never crosses accounts. */
export type WireInputItem =
  | {
      readonly type: 'message';
      readonly role: 'user' | 'system' | 'developer';
      readonly content: readonly WireInputPart[];
    }
  | {
      readonly type: 'message';
      readonly role: 'assistant';
      readonly content: readonly WireOutputPart[];
    }
  | {
      readonly type: 'function_call';
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly type: 'function_call_output';
      readonly call_id: string;
      readonly output: string | readonly WireInputPart[];
    }
  | {
      readonly type: 'reasoning';
      readonly summary: readonly WireSummaryPart[];
      readonly encrypted_content: string;
    };

export type WireSummaryPart = { readonly type: 'summary_text'; readonly text: string };

export type WireTool = {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonObject | null;
  /** The service takes an absent one for true. */
  readonly strict: boolean;
};

export type WireToolChoice =
  | 'auto'
  | 'required'
  | 'none'
  | { readonly type: 'function'; readonly name: string }
  | {
      readonly type: 'allowed_tools';
      readonly mode: 'auto' | 'required';
      readonly tools: readonly { readonly type: 'function'; readonly name: string }[];
    };

export type WireTextFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly schema: JsonObject;
      readonly strict?: boolean;
      readonly description?: string;
    };

export type WireItemStatus = 'in_progress' | 'completed' | 'incomplete';

export type WireOutputItem =
  | {
      readonly type: 'message';
      readonly id: string;
      readonly status: WireItemStatus;
      readonly role: 'assistant';
      readonly content: readonly WireOutputPart[];
    }
  | {
      readonly type: 'reasoning';
      readonly id: string;
      readonly summary: readonly WireSummaryPart[];
      readonly encrypted_content?: string;
    }
  | {
      readonly type: 'function_call';
      readonly id: string;
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
      readonly status: WireItemStatus;
    };

export type WireUsage = {
  readonly input_tokens: number;
  readonly input_tokens_details: JsonObject;
  readonly output_tokens: number;
  readonly output_tokens_details: JsonObject;
  readonly total_tokens: number;
};

export type WireResponseStatus =
  | 'queued'
  | 'in_progress'
  | 'completed'
  | 'incomplete'
  | 'failed'
  | 'cancelled';

type At = { readonly item_id: string; readonly output_index: number };
type PartAt = At & { readonly content_index: number };
type SummaryAt = At & { readonly summary_index: number };
/** An item is also one that the provider made, and that is handed on unread. */
type ItemAt = { readonly output_index: number; readonly item: WireOutputItem | JsonObject };

/** The fields of each event of a stream, beside `type` and `sequence_number`. */
export type WireStreamEvents = {
  readonly 'response.created': { readonly response: JsonObject };
  readonly 'response.in_progress': { readonly response: JsonObject };
  readonly 'response.output_item.added': ItemAt;
  readonly 'response.output_item.done': ItemAt;
  readonly 'response.content_part.added': PartAt & { readonly part: WireOutputPart };
  readonly 'response.content_part.done': PartAt & { readonly part: WireOutputPart };
  readonly 'response.output_text.delta': PartAt & {
    readonly delta: string;
    readonly logprobs: readonly JsonObject[];
  };
  readonly 'response.output_text.done': PartAt & {
    readonly text: string;
    readonly logprobs: readonly JsonObject[];
  };
  readonly 'response.output_text.annotation.added': PartAt & {
    readonly annotation_index: number;
    readonly annotation: JsonObject;
  };
  readonly 'response.refusal.delta': PartAt & { readonly delta: string };
  readonly 'response.refusal.done': PartAt & { readonly refusal: string };
  readonly 'response.function_call_arguments.delta': At & { readonly delta: string };
  readonly 'response.function_call_arguments.done': At & {
    readonly name: string;
    readonly arguments: string;
  };
  readonly 'response.reasoning_summary_part.added': SummaryAt & { readonly part: WireSummaryPart };
  readonly 'response.reasoning_summary_part.done': SummaryAt & { readonly part: WireSummaryPart };
  readonly 'response.reasoning_summary_text.delta': SummaryAt & { readonly delta: string };
  readonly 'response.reasoning_summary_text.done': SummaryAt & { readonly text: string };
  readonly 'response.completed': { readonly response: JsonObject };
  readonly 'response.incomplete': { readonly response: JsonObject };
  readonly 'response.failed': { readonly response: JsonObject };
  readonly error: {
    readonly code: string | null;
    readonly message: string;
    readonly param: string | null;
  };
};

/** Events that end a stream: exactly one comes, nothing follows it, and no `[DONE]`. */
export const terminalEvents: readonly string[] = [
  'response.completed',
  'response.incomplete',
  'response.failed',
];

/** Top-level fields of a request with a canonical place, or with a meaning that is looked after elsewhere. */
export const knownRequestFields: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'stream',
  'stream_options',
  'tiergate',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_logprobs',
  'include',
  'text',
  'reasoning',
  'store',
  'user',
  'safety_identifier',
  'service_tier',
  'background',
  'conversation',
  'previous_response_id',
  'prompt',
]);
