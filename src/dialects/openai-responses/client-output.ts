/** Output items as this dialect writes them, whole or at their end in a stream. */
import type { JsonObject } from '../../base/json.ts';
import type { ReasoningBlock } from '../../chat/reply.ts';
import type { ChatRequest } from '../../chat/request.ts';
import type { TokenLogprob } from '../../chat/token-logprob.ts';
import { writeLogprobs } from '../openai-logprobs.ts';
import { toldLogprobs } from '../token-logprobs.ts';
import type { WireItemStatus, WireOutputItem, WireOutputPart } from './wire.ts';

export type OutputItem<Type extends WireOutputItem['type']> = Extract<
  WireOutputItem,
  { readonly type: Type }
>;

export function textPart(
  text: string,
  annotations: readonly JsonObject[],
  logprobs: readonly JsonObject[],
): WireOutputPart {
  return { type: 'output_text', text, annotations, logprobs };
}

/** A refusal has no place for them. */
export function textLogprobs(
  tokens: readonly TokenLogprob[] | undefined,
  request: ChatRequest | undefined,
): readonly JsonObject[] {
  return writeLogprobs(toldLogprobs(tokens, request) ?? [], true);
}

export function refusalPart(refusal: string): WireOutputPart {
  return { type: 'refusal', refusal };
}

export function messageItem(
  id: string,
  content: readonly WireOutputPart[],
  status: WireItemStatus,
): OutputItem<'message'> {
  return { id, type: 'message', status, role: 'assistant', content };
}

/** `encrypted`: what brings the thought's signature back; null = there is none. */
export function reasoningItem(
  id: string,
  { text }: Pick<ReasoningBlock, 'text'>,
  encrypted: string | null,
): OutputItem<'reasoning'> {
  return {
    id,
    type: 'reasoning',
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    ...(encrypted === null ? {} : { encrypted_content: encrypted }),
  };
}

/** Arguments without a word are those of a call without arguments. */
export function callItem(
  id: string,
  call: { readonly id: string; readonly name: string; readonly arguments: string },
  status: WireItemStatus,
): OutputItem<'function_call'> {
  return {
    id,
    type: 'function_call',
    status,
    call_id: call.id,
    name: call.name,
    arguments: call.arguments === '' && status === 'completed' ? '{}' : call.arguments,
  };
}
