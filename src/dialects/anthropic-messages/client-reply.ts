/** A whole answer for a client of this dialect. */
import type { JsonObject } from '../../base/json.ts';
import type { ChatReply, ReplyChoice, ToolCall } from '../../chat/reply.ts';
import { withMeta } from '../answer-meta.ts';
import type { AnswerMeta } from '../dialect.ts';
import { encodeJson, parseToolArguments } from '../exact-json.ts';
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
  readonly meta: AnswerMeta | null;
}): Buffer | string {
  const { original, meta } = input;
  if (original !== null) return withMeta(original, meta);
  return JSON.stringify({ ...builtReply(input), ...(meta === null ? {} : { tiergate: meta }) });
}

function builtReply(input: { readonly reply: ChatReply; readonly fallbackId: string }): JsonObject {
  const { id, model, choices, usage } = input.reply;
  const choice = choices.find(({ index }) => index === 0);
  return {
    ...messageHead({ id, model, fallbackId: input.fallbackId }),
    content: choice === undefined ? [] : contentOf(choice, model),
    stop_reason: choice === undefined ? null : stopReasonOf(choice),
    stop_sequence: null,
    usage: writeUsage(usage),
  };
}

function stopReasonOf({ finish, rawFinish, refusal }: ReplyChoice): string | null {
  if (finish === 'stop' && refusal !== null) return 'refusal';
  return finish === null ? null : writeFinish(finish, rawFinish);
}

function contentOf(choice: ReplyChoice, model: string | null): readonly JsonObject[] {
  const text = choice.text + (choice.refusal ?? '');
  return [
    ...choice.reasoning.flatMap((block) => {
      const signature = foreignSignature(block, model);
      if (block.text === '' && signature === null) return [];
      return { type: 'thinking', thinking: block.text, signature: signature ?? unsignedMark };
    }),
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...toolBlocks(choice),
  ];
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
