/** What a model says, as events: a whole reply is decoded into the same sequence as a stream. */
import type { Citation, OmittedContent } from './citation.ts';
import type { DialectName } from './request.ts';
import type { TokenLogprob } from './token-logprob.ts';
import type { Usage } from './usage.ts';

/** `error` = the model's output is unusable; `other` = a word we do not know, kept in `raw`, never a natural stop. */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'tool_calls'
  | 'content_filter'
  | 'error'
  | 'paused'
  | 'other';

/**
 * What the client reads. `logprobs`: of the tokens that spell `text`, in order, where the service tells
 * them. They go with their text and nowhere else: whoever puts other text in its place leaves them out.
 * `text` may be empty where they come behind it.
 */
type SpokenEvent<Type extends string> = {
  readonly type: Type;
  readonly choice: number;
  readonly text: string;
  readonly logprobs?: readonly TokenLogprob[];
};

/**
 * Order: `start` first; content in the order it was written; `finish` per choice (may repeat: the
 * last counts); `usage` anywhere (each replaces the one before); `end` last, when the dialect's
 * terminal marker came. `choice` counts from 0, `index` of a tool call from 0 within its choice,
 * without gaps, whatever the provider sent. Tool arguments come only between start and end of
 * their call; calls do not interleave.
 */
export type ChatEvent =
  | {
      readonly type: 'start';
      readonly id: string | null;
      readonly model: string | null;
      /** In whose form `id` is; absent = in none that a client would know. */
      readonly dialect?: DialectName;
    }
  | SpokenEvent<'text'>
  | SpokenEvent<'refusal'>
  | { readonly type: 'reasoning'; readonly choice: number; readonly text: string }
  /** Ends a reasoning block; `signature` and `redacted` are opaque and bound to their dialect. */
  | {
      readonly type: 'reasoning_end';
      readonly choice: number;
      readonly signature: string | null;
      readonly redacted: string | null;
      /** Whose they are; absent = a client of another dialect need not bring them back. */
      readonly dialect?: DialectName;
      /** Another account of the same service cannot read it. */
      readonly isBoundToAccount?: boolean;
    }
  | {
      readonly type: 'tool_call_start';
      readonly choice: number;
      readonly index: number;
      readonly id: string;
      readonly name: string;
    }
  | {
      readonly type: 'tool_call_arguments';
      readonly choice: number;
      readonly index: number;
      readonly fragment: string;
    }
  | { readonly type: 'tool_call_end'; readonly choice: number; readonly index: number }
  | {
      readonly type: 'finish';
      readonly choice: number;
      readonly reason: FinishReason;
      readonly raw: string | null;
    }
  /** Comes after the text that its span is of. */
  | { readonly type: 'citation'; readonly choice: number; readonly citation: Citation }
  /** Content that only a client of the provider's own dialect can be shown. */
  | { readonly type: 'omitted'; readonly choice: number; readonly name: OmittedContent }
  | { readonly type: 'usage'; readonly usage: Usage }
  /** The provider works on something the client does not see (a ping, its own tool). */
  | {
      readonly type: 'activity';
      readonly isProgress: boolean;
      /** The type of an event that nobody here knows, at most 64 plain characters. */
      readonly unknown?: string;
    }
  /** An error inside a 200: `body` is the parsed error document, `status` what it says of itself. */
  | { readonly type: 'error'; readonly status: number | null; readonly body: unknown }
  /** One event that could not be read and was skipped. */
  | { readonly type: 'malformed' }
  | { readonly type: 'end' };

/** The provider's own framing of one event, for a client of the same dialect: written as it is. */
export type Frame = { readonly dialect: DialectName; readonly bytes: Buffer };

/**
 * What one upstream event said. `frame` is null when the bytes may not go on as they are (they were
 * put right, or there were none): the client's codec then writes the events itself.
 */
export type StreamPart = {
  readonly events: readonly ChatEvent[];
  readonly frame: Frame | null;
  /** What this part tells of and names by an id: the answer itself, its items. */
  readonly made?: readonly MadeItem[];
};

/** The account that made it may keep it under its id. Of reasoning it matters even so: no other can read it. */
export type MadeItem = { readonly id: string; readonly isReasoning: boolean };

/** Whether the event shows that the answer goes on: text, refusal, reasoning, a tool call, a citation, the finish. */
export function isProgress(event: ChatEvent): boolean {
  switch (event.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return event.text !== '';
    case 'reasoning_end':
    case 'tool_call_start':
    case 'citation':
    case 'omitted':
    case 'finish':
      return true;
    case 'tool_call_arguments':
      return event.fragment !== '';
    case 'activity':
      return event.isProgress;
    default:
      return false;
  }
}
