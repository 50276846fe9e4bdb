/** Turns as messages of content blocks. */
import { fail, type Result, success } from '../../base/result.ts';
import type { ToolMessage } from '../../chat/request.ts';
import type { RequestFault } from '../dialect.ts';
import { unwritableName } from '../tool-names.ts';
import type { AssistantTurn, Turn, UserTurn } from '../turns.ts';
import { UniqueCallIds } from '../unique-call-ids.ts';
import { cachePoints } from './cache-points.ts';
import { type MediaContext, mediaBlocks } from './encode-media.ts';
import { toolName } from './encode-tools.ts';
import type { WireBlock, WireMedia, WireMessage } from './wire.ts';

/** Follows a last assistant turn where the model refuses to continue one. */
const goOnText = 'Continue.';

/** A document is taken only beside a text. */
const besideDocuments = 'The document is attached.';

/** A result may not be without content. */
const emptyResult = '(no output)';

/** Ids that begin with `tgs_` carry what another vendor signed: none of this dialect's business. */
const acceptedId = /^(?!tgs_)[a-zA-Z0-9_-]{1,64}$/;

export function encodeMessages(
  turns: readonly Turn[],
  context: MediaContext,
): Result<readonly WireMessage[], RequestFault> {
  const ids = new UniqueCallIds({ accepted: acceptedId, prefix: 'tooluse_' });
  const messages: WireMessage[] = [];
  let callIds: readonly string[] = [];
  for (const turn of turns) {
    if (turn.role === 'user') {
      messages.push({ role: 'user', content: userBlocks(turn, callIds, context) });
      continue;
    }
    callIds = turn.calls.map((call) => ids.next(call.id));
    const content = assistantBlocks(turn, callIds, context);
    if (!content.ok) return content;
    messages.push({ role: 'assistant', content: content.value });
  }
  return success(endedByUser(messages, context));
}

/** A last assistant turn is continued by the models that can, and may not end in white space. */
function endedByUser(
  messages: readonly WireMessage[],
  { traits }: MediaContext,
): readonly WireMessage[] {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return messages;
  if (!traits.takesPrefill) {
    return [...messages, { role: 'user', content: [{ text: goOnText }] }];
  }
  const block = last.content.at(-1);
  if (block === undefined || !('text' in block)) return messages;
  const content = [...last.content.slice(0, -1), { text: block.text.trimEnd() }];
  return [...messages.slice(0, -1), { ...last, content }];
}

function userBlocks(
  turn: UserTurn,
  callIds: readonly string[],
  context: MediaContext,
): readonly WireBlock[] {
  const results = turn.results.flatMap((result, index) =>
    toolResult(result, callIds[index] ?? '', context),
  );
  const own = mediaBlocks(turn.parts, context);
  const isUntold =
    own.some((block) => 'document' in block) && !own.some((block) => 'text' in block);
  return [...results, ...(isUntold ? [{ text: besideDocuments }] : []), ...own];
}

/** A cache mark within a result stands behind it: inside it has no place. */
function toolResult(
  message: ToolMessage,
  toolUseId: string,
  context: MediaContext,
): readonly WireBlock[] {
  const marked = [...mediaBlocks(message.content, context), ...cachePoints(message, context)];
  const content = marked.filter((block): block is WireMedia => !('cachePoint' in block));
  const point = marked.findLast((block) => 'cachePoint' in block);
  const result = resultBlock(toolUseId, content, message.isError, context);
  return point === undefined ? [result] : [result, point];
}

/** The mark of an error is known to some models; for the others the text says it. */
function resultBlock(
  toolUseId: string,
  told: readonly WireMedia[],
  isError: boolean,
  { traits }: MediaContext,
): WireBlock {
  const content = told.length > 0 ? told : [{ text: emptyResult }];
  if (!isError) return { toolResult: { toolUseId, content } };
  if (traits.takesResultStatus) return { toolResult: { toolUseId, content, status: 'error' } };
  return { toolResult: { toolUseId, content: [{ text: 'Error:' }, ...content] } };
}

/** Reasoning goes back as it was signed, where it stood. */
function assistantBlocks(
  turn: AssistantTurn,
  callIds: readonly string[],
  context: MediaContext,
): Result<readonly WireBlock[], RequestFault> {
  const blocks: WireBlock[] = [];
  let calls = 0;
  for (const part of turn.parts) {
    if (part.type === 'text') blocks.push(...mediaBlocks([part], context));
    else if (part.type === 'reasoning') {
      if (part.redacted !== null) {
        blocks.push({ reasoningContent: { redactedContent: part.redacted } });
      } else if (part.signature !== null) {
        const reasoningText = { text: part.text, signature: part.signature };
        blocks.push({ reasoningContent: { reasoningText } });
      }
    } else {
      const name = toolName(part.name);
      if (name === null) return fail(unwritableName(part.name));
      blocks.push({ toolUse: { toolUseId: callIds[calls] ?? '', name, input: part.input } });
      blocks.push(...cachePoints(part, context));
      calls += 1;
    }
  }
  return success(blocks);
}
