/** A whole answer for a client of this dialect. */
import type { JsonObject } from '../../base/json.ts';
import type { ChatReply, ReplyChoice, ToolCall } from '../../chat/reply.ts';
import { withMeta } from '../answer-meta.ts';
import type { AnswerMeta, OnOmitted } from '../dialect.ts';
import { encodeJson, parseToolArguments } from '../exact-json.ts';
import { writeCitation } from './citations.ts';
import { type CitedSpan, citedBlocks } from './cited-blocks.ts';
import { messageHead } from './client-message.ts';
import { writeUsage } from './client-usage.ts';
import { writeFinish } from './finish-reasons.ts';
import { foreignSignature, unsignedMark } from './thinking-origin.ts';

/** `original` is the provider's own body in this dialect: kept as it is, but for `meta`. */
export function encodeReply(input: {
  readonly reply: ChatReply;
  readonly original: Buffer | null;
  readonly fallbackId: string;
  readonly createdAtSeconds: number;
  readonly meta: (() => AnswerMeta) | null;
  readonly onOmitted?: OnOmitted;
}): Buffer | string {
  const { original, meta } = input;
  if (original !== null) return withMeta(original, meta);
  return JSON.stringify({ ...builtReply(input), ...(meta === null ? {} : { tiergate: meta() }) });
}

function builtReply(input: {
  readonly reply: ChatReply;
  readonly fallbackId: string;
  readonly onOmitted?: OnOmitted;
}): JsonObject {
  const { id, model, choices, usage } = input.reply;
  const choice = choices.find(({ index }) => index === 0);
  return {
    ...messageHead({ id, model, fallbackId: input.fallbackId }),
    content: choice === undefined ? [] : contentOf(choice, model, input.onOmitted),
    stop_reason: choice === undefined ? null : stopReasonOf(choice),
    stop_sequence: null,
    usage: writeUsage(usage),
  };
}

function stopReasonOf({ finish, rawFinish, refusal }: ReplyChoice): string | null {
  if (finish === 'stop' && refusal !== null) return 'refusal';
  return finish === null ? null : writeFinish(finish, rawFinish);
}

function contentOf(
  choice: ReplyChoice,
  model: string | null,
  onOmitted?: OnOmitted,
): readonly JsonObject[] {
  return [
    ...choice.reasoning.flatMap((block) => {
      const signature = foreignSignature(block, model);
      if (block.text === '' && signature === null) return [];
      return { type: 'thinking', thinking: block.text, signature: signature ?? unsignedMark };
    }),
    ...textBlocks(choice, onOmitted),
    ...toolBlocks(choice),
  ];
}

function textBlocks(
  { text, refusal, citations = [], omitted = [] }: ReplyChoice,
  onOmitted?: OnOmitted,
): readonly JsonObject[] {
  for (const name of omitted) onOmitted?.(name);
  const all = text + (refusal ?? '');
  const cited: CitedSpan[] = [];
  for (const citation of citations) {
    const wire = all === '' ? null : writeCitation(citation);
    if (wire === null) onOmitted?.('citations');
    else cited.push({ wire, span: citation.span });
  }
  return all === '' ? [] : citedBlocks(all, cited);
}

/** A call that the output limit cut off is left out: the finish says that the answer is not whole. */
function toolBlocks({ toolCalls, finish }: ReplyChoice): readonly JsonObject[] {
  return toolCalls.flatMap((call, position) => {
    const input = inputOf(call);
    const isCut = finish === 'length' && position === toolCalls.length - 1;
    if (input === null && isCut) return [];
    const { id, name } = call;
    // What is no object has no place in this dialect; its text is handed on, and nothing is made up.
    return [{ type: 'tool_use', id, name, input: input ?? { _raw: call.arguments } }];
  });
}

function inputOf(call: ToolCall): JsonObject | null {
  const input = parseToolArguments(call.arguments);
  return input.ok && encodeJson(input.value).ok ? input.value : null;
}
