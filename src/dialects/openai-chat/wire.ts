/** The shapes this dialect writes, and the fields it knows. What it reads is `unknown` until checked. */
import type { JsonObject } from '../../base/json.ts';

export const dialectName = 'openai-chat';

export type WireToolCall = {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
};

export type WireMessage = {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null | readonly JsonObject[];
  readonly name?: string;
  readonly refusal?: string;
  readonly tool_calls?: readonly WireToolCall[];
  readonly tool_call_id?: string;
};

export type WireUsage = {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
  readonly prompt_tokens_details?: JsonObject;
  readonly completion_tokens_details?: JsonObject;
};

export type WireToolDelta = {
  readonly index: number;
  readonly id?: string;
  readonly type?: 'function';
  readonly function: { readonly name?: string; readonly arguments: string };
};

export type WireDelta = {
  readonly role?: 'assistant';
  readonly content?: string | null;
  readonly refusal?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly WireToolDelta[];
  readonly annotations?: readonly JsonObject[];
};

/** Top-level fields of a request with a canonical place, or with a meaning that is looked after elsewhere. */
export const knownRequestFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'stream',
  'stream_options',
  'tiergate',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'n',
  'reasoning_effort',
  'verbosity',
  'parallel_tool_calls',
  'response_format',
  'user',
  'safety_identifier',
  'service_tier',
]);

/** Fields that change what is answered and that no other dialect can carry: kept as opaque tools. */
export const bindingRequestFields = ['functions', 'function_call', 'modalities'] as const;

/** The kind of content part that holds reasoning. */
export const thinkingPart = 'thinking';

/** Fields of an assistant's turn that hold a model's reasoning: private to the vendor that made them. */
export const reasoningFields: readonly string[] = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
];
