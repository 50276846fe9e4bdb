/** The rules that Anthropic's messages endpoint holds turns and blocks to. */
import { isJsonObject, type JsonObject, property, stringAt } from '../../../base/json.ts';
import { faultInEach, firstFault, type VendorFault } from '../vendor.ts';
import { blockFault, textFault } from './anthropic-blocks.ts';
import { anthropicFault, refusal } from './anthropic-faults.ts';
import { claudeGeneration, refusesPrefill } from './anthropic-models.ts';

export type Turn = {
  readonly role: string;
  readonly blocks: readonly JsonObject[];
  readonly at: number;
};

/** Turns with string content as one text block and neighbours of one role merged, as the service reads them. */
export function mergedTurns(messages: unknown): readonly Turn[] {
  const turns: { role: string; blocks: JsonObject[]; at: number }[] = [];
  for (const [at, message] of (Array.isArray(messages) ? messages : []).entries()) {
    const role = stringAt(message, 'role') ?? '';
    const blocks = blocksOf(property(message, 'content'));
    const last = turns.at(-1);
    if (last !== undefined && last.role === role) last.blocks.push(...blocks);
    else turns.push({ role, blocks: [...blocks], at });
  }
  return turns;
}

function blocksOf(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

/** The first complaint about `messages`, or null. `isThinking`: the request turns thinking on by budget. */
export function turnsFault(
  messages: unknown,
  { model, isThinking }: { readonly model: string; readonly isThinking: boolean },
): VendorFault | null {
  if (messages === undefined) return refusal('messages: Field required');
  if (!Array.isArray(messages)) return refusal('messages: Input should be a valid list');
  if (messages.length === 0) return refusal('messages: at least one message is required');
  const lastIndex = messages.length - 1;
  return firstFault([
    () => faultInEach(messages, (message, at) => messageFault(message, at, at === lastIndex)),
    () => firstTurnFault(messages, model),
    () => prefillFault(messages, model),
    () => pairingFault(mergedTurns(messages)),
    () => (isThinking ? thinkingStartFault(mergedTurns(messages)) : null),
  ]);
}

function messageFault(message: unknown, at: number, isLast: boolean): VendorFault | null {
  const where = `messages.${at}`;
  if (!isJsonObject(message)) return refusal(`${where}: Input should be an object`);
  const role = stringAt(message, 'role');
  if (role === 'system') {
    return refusal(
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
    );
  }
  if (role !== 'user' && role !== 'assistant') {
    return refusal(`${where}.role: Input should be 'user' or 'assistant'`);
  }
  const extra = Object.keys(message).find((name) => name !== 'role' && name !== 'content');
  if (extra !== undefined) return refusal(`${where}.${extra}: Extra inputs are not permitted`);
  const content = message['content'];
  if (content === undefined) return refusal(`${where}.content: Field required`);
  if (typeof content !== 'string' && !Array.isArray(content)) {
    return refusal(`${where}.content: Input should be a valid string or list`);
  }
  if (content.length === 0) {
    if (isLast && role === 'assistant') return null;
    return refusal(
      `${where}: all messages must have non-empty content except for the optional final assistant message`,
    );
  }
  if (typeof content === 'string') return textFault(content);
  return faultInEach(content, (block, index) =>
    blockFault(block, role, `${where}.content.${index}`),
  );
}

function firstTurnFault(messages: readonly unknown[], model: string): VendorFault | null {
  const isOld = (claudeGeneration(model) ?? 9) < 4;
  if (!isOld || stringAt(messages[0], 'role') === 'user') return null;
  return refusal('messages: first message must use the "user" role');
}

function prefillFault(messages: readonly unknown[], model: string): VendorFault | null {
  const last = mergedTurns(messages).at(-1);
  if (last === undefined || last.role !== 'assistant') return null;
  if (refusesPrefill(model)) {
    return anthropicFault('prefill', { model, retryAfterMs: 0 });
  }
  const text = stringAt(last.blocks.at(-1), 'text');
  if (text === null || text === text.trimEnd()) return null;
  return refusal('messages: final assistant content cannot end with trailing whitespace');
}

/** Each `tool_use` is answered first thing in the next turn, and each `tool_result` answers one. */
function pairingFault(turns: readonly Turn[]): VendorFault | null {
  const seen = new Set<string>();
  for (const [index, turn] of turns.entries()) {
    const previous = turns[index - 1];
    const asked = previous?.role === 'assistant' ? toolUseIds(previous) : [];
    const fault = turn.role === 'user' ? resultsFault(turn, asked, previous) : null;
    if (fault !== null) return fault;
    for (const id of toolUseIds(turn)) {
      if (seen.has(id)) return refusal('messages: `tool_use` ids must be unique');
      seen.add(id);
    }
  }
  const last = turns.at(-1);
  const open = last?.role === 'assistant' ? toolUseIds(last) : [];
  return last !== undefined && open.length > 0 ? unansweredFault(last, open) : null;
}

function toolUseIds(turn: Turn): readonly string[] {
  return turn.blocks
    .filter((block) => block['type'] === 'tool_use')
    .map((block) => stringAt(block, 'id') ?? '');
}

function resultsFault(
  turn: Turn,
  asked: readonly string[],
  previous: Turn | undefined,
): VendorFault | null {
  const open = new Set(asked);
  let isAfterOther = false;
  for (const [index, block] of turn.blocks.entries()) {
    if (block['type'] !== 'tool_result') {
      isAfterOther = true;
      continue;
    }
    const id = stringAt(block, 'tool_use_id') ?? '';
    if (!asked.includes(id)) {
      return refusal(
        `messages.${turn.at}.content.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    if (!open.delete(id)) {
      return refusal(
        `messages.${turn.at}.content.${index}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    }
    if (isAfterOther && previous !== undefined) return unansweredFault(previous, [id]);
  }
  return open.size > 0 && previous !== undefined ? unansweredFault(previous, [...open]) : null;
}

function unansweredFault(turn: Turn, ids: readonly string[]): VendorFault {
  return refusal(
    `messages.${turn.at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

/** With thinking on, the assistant turn of a running tool loop begins with its thinking. */
function thinkingStartFault(turns: readonly Turn[]): VendorFault | null {
  const last = turns.at(-1);
  const before = turns.at(-2);
  const isLoop = last?.blocks[0]?.['type'] === 'tool_result';
  const first = before?.blocks[0]?.['type'];
  if (!isLoop || before === undefined || first === 'thinking' || first === 'redacted_thinking') {
    return null;
  }
  return refusal(
    `messages.${before.at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(first)}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  );
}
