/** The shapes this dialect writes. What it reads is `unknown` until checked. */
import type { JsonObject } from '../../base/json.ts';

export const dialectName = 'anthropic-messages';

export type WireTextBlock = { readonly type: 'text'; readonly text: string };

export type WireSource =
  | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
  | { readonly type: 'text'; readonly media_type: 'text/plain'; readonly data: string }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'file'; readonly file_id: string };

export type WireMediaBlock =
  | { readonly type: 'image'; readonly source: WireSource }
  | { readonly type: 'document'; readonly source: WireSource; readonly title?: string };

export type WireBlock =
  | WireTextBlock
  | WireMediaBlock
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: JsonObject;
    }
  | {
      readonly type: 'tool_result';
      readonly tool_use_id: string;
      readonly content?: readonly (WireTextBlock | WireMediaBlock)[];
      readonly is_error?: true;
    };

export type WireMessage = {
  readonly role: 'user' | 'assistant';
  readonly content: readonly WireBlock[];
};

export type WireTool = {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: JsonObject;
  readonly strict?: true;
};

export type WireToolChoice = {
  readonly type: 'auto' | 'any' | 'tool' | 'none';
  readonly name?: string;
  readonly disable_parallel_tool_use?: true;
};

/** Image types that the service reads. */
export const imageMediaTypes: readonly string[] = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
];

/** Top-level fields of a request with a canonical place, or with a meaning that is looked after elsewhere. */
export const knownRequestFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'stop_sequences',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
  'service_tier',
]);
