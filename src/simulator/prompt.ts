/** What a simulated model reads and says, before any vendor's wire form. */
import type { JsonObject } from '../base/json.ts';

export type OfferedTool = { readonly name: string; readonly schema: JsonObject };

/** `bytes` is null for an image that is only linked. */
export type SeenImage = { readonly mediaType: string; readonly bytes: number | null };

export type ToolResultText = { readonly name: string; readonly text: string };

export type ToolUse =
  | { readonly kind: 'none' }
  | { readonly kind: 'free' }
  /** A call is demanded; `names` limits which, null = any. */
  | { readonly kind: 'required'; readonly names: readonly string[] | null };

export type OutputForm =
  | { readonly kind: 'text' }
  | { readonly kind: 'json'; readonly schema: JsonObject | null };

/** An answer of the model's own that it is asked to go on with. */
export type PartialAnswer = {
  readonly text: string;
  /** It stands last; else words after it ask for the rest. */
  readonly isPrefill: boolean;
  /** What those words ask to repeat first; '' = nothing. */
  readonly anchor: string;
  /** What the user had said, that it answers. */
  readonly askedText: string;
};

/** One request as a model sees it. Token counts are estimates (characters / 4). */
export type Prompt = {
  readonly model: string;
  readonly isStream: boolean;
  /** A stream is to end with a usage event. */
  readonly includeUsage: boolean;
  readonly choices: number;
  /** The text of the last user turn; '' when there is none. */
  readonly userText: string;
  readonly images: readonly SeenImage[];
  /** The tool results that the conversation ends with. */
  readonly toolResults: readonly ToolResultText[];
  readonly partial: PartialAnswer | null;
  readonly tools: readonly OfferedTool[];
  readonly toolUse: ToolUse;
  readonly allowsParallelCalls: boolean;
  readonly output: OutputForm;
  readonly stops: readonly string[];
  readonly outputTokensMax: number | null;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  /** Tokens of thinking before the answer, 0 = off. */
  readonly thinkingTokens: number;
  readonly showsThinking: boolean;
  /** Thinking comes with what the service alone can read, to be sent back; absent = no. */
  readonly sealsThinking?: boolean;
  /** Each token is told with how likely it was, and with so many of the likeliest at its place; absent = no. */
  readonly likelyTokens?: number | null;
};

export type ToolCall = {
  readonly id: string;
  readonly name: string;
  /** JSON text of an object. */
  readonly arguments: string;
};

/** `input` includes `cached`; `output` includes `thinking`. */
export type Usage = {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly thinking: number;
};

export type AnswerEnd = 'complete' | 'length' | 'stop_sequence' | 'tools';

export type Answer = {
  /** Thinking that is shown; '' = none. */
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly end: AnswerEnd;
  /** The vendor's own finish reason that a script asks for, in place of `end`'s; null = none. */
  readonly rawFinish: string | null;
  readonly stopSequence: string | null;
  readonly usage: Usage;
};
