/** The canonical request: what a client asked for, whatever dialect it spoke. */
import type { JsonObject } from '../base/json.ts';

/** The name of a dialect; the registry in `dialects` knows which exist. */
export type DialectName = string;

/** Where the bytes of an image, document or sound are. `data` is base64. */
export type MediaSource =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly fileId: string; readonly dialect: DialectName };

/** A mark up to which a cache is to hold the prompt, `ttl` for how long: for targets that know such marks. */
export type CacheMarked = { readonly cacheControl?: JsonObject };

export type TextPart = CacheMarked & { readonly type: 'text'; readonly text: string };
export type ImagePart = CacheMarked & {
  readonly type: 'image';
  readonly source: MediaSource;
  readonly detail: string | null;
};
export type DocumentPart = CacheMarked & {
  readonly type: 'document';
  readonly source: MediaSource;
  readonly filename: string | null;
};
export type AudioPart = { readonly type: 'audio'; readonly format: string; readonly data: string };
export type RefusalPart = { readonly type: 'refusal'; readonly text: string };
/** A signature or redacted block is opaque and bound to the dialect that made it. */
export type ReasoningPart = {
  readonly type: 'reasoning';
  readonly text: string;
  readonly signature: string | null;
  readonly redacted: string | null;
  readonly dialect: DialectName;
  /** The model that made it, where the client's dialect brings that back. */
  readonly model?: string;
};
export type ToolCallPart = CacheMarked & {
  readonly type: 'tool_call';
  readonly id: string;
  readonly name: string;
  /** The model's text, end to end: may be empty (meaning `{}`) or invalid JSON. */
  readonly arguments: string;
};

export type UserPart = TextPart | ImagePart | DocumentPart | AudioPart;
export type AssistantPart = TextPart | RefusalPart | ReasoningPart | ToolCallPart;
export type ToolResultPart = TextPart | ImagePart | DocumentPart;

export type SystemMessage = { readonly role: 'system'; readonly content: readonly TextPart[] };
export type UserMessage = {
  readonly role: 'user';
  readonly content: readonly UserPart[];
  readonly name: string | null;
};
export type AssistantMessage = {
  readonly role: 'assistant';
  readonly content: readonly AssistantPart[];
};
export type ToolMessage = CacheMarked & {
  readonly role: 'tool';
  readonly toolCallId: string;
  readonly content: readonly ToolResultPart[];
  readonly isError: boolean;
};
/** System messages may stand anywhere; those before the first other message are the leading ones. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

export type ToolDefinition = CacheMarked & {
  readonly name: string;
  readonly description: string | null;
  /** A JSON Schema, or null for a tool without parameters. */
  readonly parameters: JsonObject | null;
  readonly strict: boolean | null;
};

/** A tool that the provider itself runs, or a kind only one dialect knows: opaque, never carried over. */
export type ProviderTool = {
  readonly dialect: DialectName;
  readonly kind: string;
  readonly raw: JsonObject;
};

export type ToolChoice =
  | { readonly mode: 'auto' }
  | { readonly mode: 'required' }
  | { readonly mode: 'none' }
  | { readonly mode: 'tool'; readonly name: string }
  | { readonly mode: 'subset'; readonly required: boolean; readonly names: readonly string[] };

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly schema: JsonObject;
      readonly strict: boolean | null;
      readonly description: string | null;
    };

/** How the answer is sampled and bounded; null = not said. Names are what `x-tiergate-dropped` and `params` use. */
export type ChatParameters = {
  readonly max_tokens: number | null;
  readonly temperature: number | null;
  readonly top_p: number | null;
  readonly top_k: number | null;
  readonly stop: readonly string[] | null;
  readonly seed: number | null;
  readonly presence_penalty: number | null;
  readonly frequency_penalty: number | null;
  readonly logit_bias: JsonObject | null;
  readonly logprobs: boolean | null;
  readonly top_logprobs: number | null;
  readonly n: number | null;
  readonly reasoning_effort: string | null;
  readonly verbosity: string | null;
  readonly parallel_tool_calls: boolean | null;
  readonly response_format: ResponseFormat | null;
  readonly user: string | null;
  readonly service_tier: string | null;
};

export const noParameters: ChatParameters = {
  max_tokens: null,
  temperature: null,
  top_p: null,
  top_k: null,
  stop: null,
  seed: null,
  presence_penalty: null,
  frequency_penalty: null,
  logit_bias: null,
  logprobs: null,
  top_logprobs: null,
  n: null,
  reasoning_effort: null,
  verbosity: null,
  parallel_tool_calls: null,
  response_format: null,
  user: null,
  service_tier: null,
};

/** The client's own bytes and their parsed form, for a target of the same dialect. `tiergate` is already cut out of `json`. */
export type OriginalBody = {
  readonly dialect: DialectName;
  readonly bytes: Buffer;
  readonly json: JsonObject;
};

/**
 * What a request asks of an account's memory. Such state is kept by services of the request's own
 * dialect alone, and none of them knows what another account keeps.
 */
export type AccountState = {
  /** Its answer is to be kept, or it goes on with what is kept: one account alone can serve it. */
  readonly isBound: boolean;
  /** Whether an answer to it can be referred to later. */
  readonly isKept: boolean;
  /** The answer that it goes on with, and the conversation that it belongs to. */
  readonly previousId: string | null;
  readonly conversationId: string | null;
  /** Items that it brings or refers to under the ids that their makers gave them. */
  readonly itemIds: readonly string[];
};

export type ChatRequest = {
  /** What the client named as the model; empty when the tier stands in the path. */
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly providerTools: readonly ProviderTool[];
  readonly toolChoice: ToolChoice | null;
  readonly parameters: ChatParameters;
  /**
   * Tokens that may be thought with, where the client said so: `reasoning_effort` is the word for it.
   * `open`: the model is to think and to decide itself how long, so that there is no such word.
   */
  readonly thinkingBudget?: number | 'open';
  /** The client said that it does not want to be shown what was thought. */
  readonly hidesThoughts?: boolean;
  readonly isStream: boolean;
  /** Whether the client asked to be told usage at the end of a stream. */
  readonly includeUsage: boolean;
  /** Top-level fields of the client's dialect with no canonical place: named as dropped by other dialects. */
  readonly otherFields: readonly string[];
  readonly original: OriginalBody;
  /** Absent: its dialect knows no such thing. */
  readonly accountState?: AccountState;
};

/** Whether the client says how the model is to think, be it not at all. */
export function isThinkingAsked({ parameters, thinkingBudget }: ChatRequest): boolean {
  return parameters.reasoning_effort !== null || thinkingBudget !== undefined;
}
