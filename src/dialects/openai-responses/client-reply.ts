/** A whole answer for a client of this dialect. */
import type { JsonObject } from '../../base/json.ts';
import type { ChatReply, ReplyChoice } from '../../chat/reply.ts';
import type { ChatRequest } from '../../chat/request.ts';
import { withMeta } from '../answer-meta.ts';
import type { AnswerMeta, OnOmitted } from '../dialect.ts';
import { annotationsOf } from '../reply-annotations.ts';
import { writeAnnotation } from './annotations.ts';
import {
  callItem,
  messageItem,
  reasoningItem,
  refusalPart,
  textLogprobs,
  textPart,
} from './client-output.ts';
import { lastItemStatus, responseEnd, responseFields } from './client-response.ts';
import { writeUsage } from './client-usage.ts';
import { writeEncrypted } from './encrypted-content.ts';
import { ownItemId } from './item-ids.ts';
import type { WireOutputItem } from './wire.ts';

type ReplyInput = {
  readonly reply: ChatReply;
  readonly original: Buffer | null;
  readonly fallbackId: string;
  readonly createdAtSeconds: number;
  readonly meta: (() => AnswerMeta) | null;
  readonly onOmitted?: OnOmitted;
  readonly request?: ChatRequest;
};

/** `original` is the provider's own body in this dialect: kept as it is, but for `meta`. */
export function encodeReply(input: ReplyInput): Buffer | string {
  const { original, meta } = input;
  if (original !== null) return withMeta(original, meta);
  return JSON.stringify({ ...builtReply(input), ...(meta === null ? {} : { tiergate: meta() }) });
}

function builtReply(input: ReplyInput): JsonObject {
  const { id, model, choices, usage } = input.reply;
  const choice = choices.find(({ index }) => index === 0) ?? null;
  const responseId = id ?? input.fallbackId;
  return {
    ...responseFields({ ...input, id, model }),
    ...responseEnd(choice?.finish ?? null, choice?.rawFinish ?? null),
    output: choice === null ? [] : outputOf(choice, { ...input, responseId, model }),
    usage: writeUsage(usage),
  };
}

function outputOf(
  choice: ReplyChoice,
  {
    responseId,
    model,
    request,
    onOmitted,
  }: {
    readonly responseId: string;
    readonly model: string | null;
    readonly request?: ChatRequest;
    readonly onOmitted?: OnOmitted;
  },
): readonly WireOutputItem[] {
  const items: WireOutputItem[] = [];
  const nextId = (type: WireOutputItem['type']) => ownItemId(type, responseId, items.length);
  for (const block of choice.reasoning) {
    const encrypted = writeEncrypted(block, model);
    if (block.text === '' && encrypted === null) continue;
    items.push(reasoningItem(nextId('reasoning'), block, encrypted));
  }
  const annotations = annotationsOf(
    choice,
    choice.text === '' ? () => null : writeAnnotation,
    onOmitted,
  );
  const content = [
    ...(choice.text === ''
      ? []
      : [textPart(choice.text, annotations, textLogprobs(choice.logprobs, request))]),
    ...(choice.refusal === null ? [] : [refusalPart(choice.refusal)]),
  ];
  if (content.length > 0) items.push(messageItem(nextId('message'), content, 'completed'));
  for (const call of choice.toolCalls) {
    items.push(callItem(nextId('function_call'), call, 'completed'));
  }
  return lastItemStatus(choice.finish) === 'incomplete' ? withCutEnd(items) : items;
}

/** What was cut off is the last item: it says so itself. */
function withCutEnd(items: readonly WireOutputItem[]): readonly WireOutputItem[] {
  const last = items.at(-1);
  if (last === undefined || last.type === 'reasoning') return items;
  return [...items.slice(0, -1), { ...last, status: 'incomplete' }];
}
