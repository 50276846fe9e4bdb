/** The rules that Converse holds the turns of a conversation to. */
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../../../base/json.ts';
import { refusesPrefill } from '../anthropic/anthropic-models.ts';
import { faultInEach, firstFault, type VendorFault } from '../vendor.ts';
import { blockFault, kindOf } from './bedrock-blocks.ts';
import { bedrockFault, refusal } from './bedrock-faults.ts';
import { claudeName } from './bedrock-models.ts';

const cachePointsMax = 4;

/** `isThinking`: the request turns thinking on by budget. */
export function messagesFault(
  body: JsonObject,
  { model, isThinking }: { readonly model: string; readonly isThinking: boolean },
): VendorFault | null {
  const messages = arrayAt(body, 'messages');
  if (messages.length === 0) {
    return refusal('The messages field is empty. Add messages, and try again.');
  }
  return firstFault([
    () => faultInEach(messages, messageFault),
    () => orderFault(messages),
    () => pairingFault(messages),
    () => prefillFault(messages, model),
    () => documentNamesFault(messages),
    () => cachePointsFault(body),
    () => (isThinking ? thinkingStartFault(messages) : null),
  ]);
}

export function blocksOf(message: unknown): readonly JsonObject[] {
  return arrayAt(message, 'content').filter(isJsonObject);
}

function messageFault(message: unknown, at: number): VendorFault | null {
  const place = `messages.${at}`;
  const role = stringAt(message, 'role') ?? '';
  if (role !== 'user' && role !== 'assistant') {
    return refusal(`Value at '${place}.role' must be user or assistant.`);
  }
  const content = arrayAt(message, 'content');
  if (content.length === 0) {
    return refusal(
      `The content field in the Message object at ${place} is empty. Add a ContentBlock object to the content field and try again.`,
    );
  }
  const fault = faultInEach(content, (block, index) =>
    blockFault(block, role, `${place}.content.${index}`),
  );
  if (fault !== null) return fault;
  const kinds = content.map(kindOf);
  if (kinds[0] === 'cachePoint') return refusal(`A cache point at ${place} has nothing before it.`);
  if (!kinds.includes('document') || kinds.includes('text')) return null;
  return refusal(
    'A text block is required when using documents. Provide a text block, and try again.',
  );
}

function orderFault(messages: readonly unknown[]): VendorFault | null {
  if (stringAt(messages[0], 'role') !== 'user') {
    return refusal(
      'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
    );
  }
  const at = messages.findIndex(
    (message, index) =>
      index > 0 && stringAt(message, 'role') === stringAt(messages[index - 1], 'role'),
  );
  if (at < 0) return null;
  return refusal(
    'A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.',
  );
}

/** Each `toolUse` is answered in the next turn, and each `toolResult` answers one. */
function pairingFault(messages: readonly unknown[]): VendorFault | null {
  for (const [index, message] of messages.entries()) {
    const asked = idsIn(messages[index - 1], 'toolUse');
    const given = idsIn(message, 'toolResult');
    if (new Set(asked).size < asked.length) {
      return refusal(`messages.${index - 1} contains duplicate Ids at toolUse blocks.`);
    }
    const stray = given.find((id) => !asked.includes(id));
    if (stray !== undefined || given.length > asked.length) {
      return refusal(
        `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`,
      );
    }
    const missing = asked.filter((id) => !given.includes(id));
    if (missing.length > 0) {
      return refusal(
        `Expected toolResult blocks at messages.${index}.content for the following Ids: ${missing.join(', ')}`,
      );
    }
  }
  const open = idsIn(messages.at(-1), 'toolUse');
  if (open.length === 0) return null;
  return refusal(`Expected toolResult blocks for the following Ids: ${open.join(', ')}`);
}

function idsIn(message: unknown, kind: 'toolUse' | 'toolResult'): readonly string[] {
  return blocksOf(message).flatMap((block) => stringAt(objectAt(block, kind), 'toolUseId') ?? []);
}

function prefillFault(messages: readonly unknown[], model: string): VendorFault | null {
  const last = messages.at(-1);
  if (stringAt(last, 'role') !== 'assistant') return null;
  const name = claudeName(model);
  if (name === '' || refusesPrefill(name)) return bedrockFault('prefill');
  const text = stringAt(blocksOf(last).at(-1), 'text');
  if (text === null || text === text.trimEnd()) return null;
  return refusal(
    'The model returned the following errors: messages: final assistant content cannot end with trailing whitespace',
  );
}

function documentNamesFault(messages: readonly unknown[]): VendorFault | null {
  const names = messages
    .flatMap(blocksOf)
    .flatMap((block) => stringAt(objectAt(block, 'document'), 'name') ?? []);
  if (new Set(names).size === names.length) return null;
  return refusal('Documents must have unique names.');
}

function cachePointsFault(body: JsonObject): VendorFault | null {
  const blocks = [
    ...arrayAt(body, 'system'),
    ...arrayAt(objectAt(body, 'toolConfig'), 'tools'),
    ...arrayAt(body, 'messages').flatMap(blocksOf),
  ];
  const count = blocks.filter((block) => kindOf(block) === 'cachePoint').length;
  return count > cachePointsMax ? refusal('More than 4 cache points are not supported.') : null;
}

/** With thinking on, the assistant turn of a running tool loop begins with its reasoning. */
function thinkingStartFault(messages: readonly unknown[]): VendorFault | null {
  const isLoop = kindOf(blocksOf(messages.at(-1))[0]) === 'toolResult';
  const first = kindOf(blocksOf(messages.at(-2))[0]);
  if (!isLoop || first === 'reasoningContent') return null;
  return refusal(
    `The model returned the following errors: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  );
}
