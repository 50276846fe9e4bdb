/** A whole answer, collected from its events. */
import { append } from '../base/append.ts';
import type { Citation, OmittedContent } from './citation.ts';
import type { DialectName } from './request.ts';
import type { ChatEvent, FinishReason } from './stream-event.ts';
import type { TokenLogprob } from './token-logprob.ts';
import { type Usage, unknownUsage } from './usage.ts';

export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

export type ReasoningBlock = {
  readonly text: string;
  readonly signature: string | null;
  readonly redacted: string | null;
  /** Whose signature and redacted block they are, where that is known. */
  readonly dialect?: DialectName;
  readonly isBoundToAccount?: boolean;
};

export type ReplyChoice = {
  readonly index: number;
  readonly text: string;
  readonly refusal: string | null;
  /** Of the tokens of `text`, and of those of `refusal`; absent: none were told. */
  readonly logprobs?: readonly TokenLogprob[];
  readonly refusalLogprobs?: readonly TokenLogprob[];
  readonly reasoning: readonly ReasoningBlock[];
  readonly toolCalls: readonly ToolCall[];
  /** Absent = none. */
  readonly citations?: readonly Citation[];
  /** What else it held that only its own dialect can tell; absent = nothing. */
  readonly omitted?: readonly OmittedContent[];
  readonly finish: FinishReason | null;
  readonly rawFinish: string | null;
};

export type ChatReply = {
  readonly id: string | null;
  readonly model: string | null;
  readonly choices: readonly ReplyChoice[];
  readonly usage: Usage;
};

type ReasoningDraft = { -readonly [Field in keyof ReasoningBlock]: ReasoningBlock[Field] };

type ChoiceDraft = {
  text: string;
  refusal: string | null;
  logprobs?: TokenLogprob[];
  refusalLogprobs?: TokenLogprob[];
  reasoning: ReasoningDraft[];
  isReasoningOpen: boolean;
  toolCalls: { id: string; name: string; arguments: string }[];
  citations?: Citation[];
  omitted?: OmittedContent[];
  finish: FinishReason | null;
  rawFinish: string | null;
};

/** Adds up events in the order they came; `reply()` may be asked at any time. */
export class ReplyCollector {
  #id: string | null = null;
  #model: string | null = null;
  #usage: Usage = unknownUsage;
  readonly #choices = new Map<number, ChoiceDraft>();

  push(event: ChatEvent): void {
    switch (event.type) {
      case 'start':
        this.#id ??= event.id;
        this.#model = event.model ?? this.#model;
        return;
      case 'usage':
        this.#usage = event.usage;
        return;
      case 'activity':
      case 'error':
      case 'malformed':
      case 'end':
        return;
      default:
        applyToChoice(this.#choice(event.choice), event);
    }
  }

  reply(): ChatReply {
    const choices = [...this.#choices.entries()]
      .sort(([left], [right]) => left - right)
      .map(([index, { isReasoningOpen: _, ...choice }]) => ({ index, ...choice }));
    return { id: this.#id, model: this.#model, choices, usage: this.#usage };
  }

  #choice(index: number): ChoiceDraft {
    const known = this.#choices.get(index);
    if (known !== undefined) return known;
    const made: ChoiceDraft = {
      text: '',
      refusal: null,
      reasoning: [],
      isReasoningOpen: false,
      toolCalls: [],
      finish: null,
      rawFinish: null,
    };
    this.#choices.set(index, made);
    return made;
  }
}

type ChoiceEvent = Extract<ChatEvent, { readonly choice: number }>;

function applyToChoice(choice: ChoiceDraft, event: ChoiceEvent): void {
  switch (event.type) {
    case 'text':
      choice.text += event.text;
      if (event.logprobs !== undefined) choice.logprobs = more(choice.logprobs, event.logprobs);
      return;
    case 'refusal':
      choice.refusal = (choice.refusal ?? '') + event.text;
      if (event.logprobs !== undefined) {
        choice.refusalLogprobs = more(choice.refusalLogprobs, event.logprobs);
      }
      return;
    case 'reasoning':
      openReasoning(choice).text += event.text;
      return;
    case 'reasoning_end': {
      const block = openReasoning(choice);
      block.signature = event.signature;
      block.redacted = event.redacted;
      if (event.dialect !== undefined) block.dialect = event.dialect;
      if (event.isBoundToAccount === true) block.isBoundToAccount = true;
      choice.isReasoningOpen = false;
      return;
    }
    case 'tool_call_start':
      choice.toolCalls[event.index] = { id: event.id, name: event.name, arguments: '' };
      return;
    case 'tool_call_arguments': {
      const call = choice.toolCalls[event.index];
      if (call !== undefined) call.arguments += event.fragment;
      return;
    }
    case 'tool_call_end':
      return;
    case 'citation':
      choice.citations ??= [];
      choice.citations.push(event.citation);
      return;
    case 'omitted':
      choice.omitted ??= [];
      if (!choice.omitted.includes(event.name)) choice.omitted.push(event.name);
      return;
    case 'finish':
      choice.finish = event.reason;
      choice.rawFinish = event.raw;
      return;
  }
}

function more(told: TokenLogprob[] | undefined, logprobs: readonly TokenLogprob[]): TokenLogprob[] {
  const all = told ?? [];
  append(all, logprobs);
  return all;
}

function openReasoning(choice: ChoiceDraft): ReasoningDraft {
  const last = choice.reasoning.at(-1);
  if (last !== undefined && choice.isReasoningOpen) return last;
  const made: ReasoningDraft = { text: '', signature: null, redacted: null };
  choice.reasoning.push(made);
  choice.isReasoningOpen = true;
  return made;
}
