/** The request that asks one target for the rest of an answer. */
import {
  type AssistantMessage,
  type ChatRequest,
  isThinkingAsked,
  type Message,
  type UserMessage,
} from '../../chat/request.ts';
import type { Target } from '../../routing/snapshot.ts';
import { anchorOf } from '../seam/anchor.ts';

/**
 * `prefill`: the partial answer stands last and is gone on with. `instruction`: words after it ask for
 * that. `fresh`: nothing was shown that an answer begun anew would repeat.
 */
export type RestMode = 'prefill' | 'instruction' | 'fresh';

export type RestRequest = {
  readonly mode: RestMode;
  readonly chat: ChatRequest;
  /** The text that was sent so far, as it stands in the request. */
  readonly sent: string;
  /** What the model is asked to repeat first; '' = nothing. */
  readonly anchor: string;
};

/** How `target` is asked; null: it can be asked in no way. */
export function restMode(input: {
  readonly target: Target;
  readonly chat: ChatRequest;
  readonly text: string;
  readonly isPrefillRefused: boolean;
}): RestMode | null {
  const { target, chat } = input;
  if (input.text === '') return 'fresh';
  const isThinking = target.isThinking || isThinkingAsked(chat);
  // A turn that the client itself began would become two, and thinking models go on with none.
  const hasTurnOfItsOwn = chat.messages.at(-1)?.role === 'assistant';
  const mayPrefill = target.acceptsPrefill && !input.isPrefillRefused;
  if (mayPrefill && !isThinking && !hasTurnOfItsOwn) return 'prefill';
  return target.instruction === undefined ? null : 'instruction';
}

/** Null: the wording that asks for the rest cannot be rendered, a fault of ours. */
export function restRequest(input: {
  readonly mode: RestMode;
  readonly target: Target;
  readonly chat: ChatRequest;
  readonly text: string;
}): RestRequest | null {
  const { mode, target, chat, text } = input;
  const rest = { mode, chat, sent: text, anchor: '' };
  if (mode === 'fresh') return rest;
  const partial: AssistantMessage = { role: 'assistant', content: [{ type: 'text', text }] };
  if (mode === 'prefill') return { ...rest, chat: withMessages(chat, [partial]) };
  const anchor = anchorOf(text);
  const rendered = target.instruction?.render({ anchor });
  if (rendered?.ok !== true) return null;
  const words = [rendered.value.before, rendered.value.after].filter((part) => part !== '');
  const instruction: UserMessage = {
    role: 'user',
    content: [{ type: 'text', text: words.join('\n\n') }],
    name: null,
  };
  return { ...rest, anchor, chat: withMessages(chat, [partial, instruction]) };
}

function withMessages(chat: ChatRequest, added: readonly Message[]): ChatRequest {
  return { ...chat, messages: [...chat.messages, ...added] };
}
