/** Content blocks of one message: what the user says, what calls brought, what the model said. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type {
  AssistantPart,
  ReasoningPart,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
  UserPart,
} from '../../chat/request.ts';
import { readText, type Text, textIn } from '../deferred-texts.ts';
import { decodeCarrier, isCarrier } from '../reasoning-carrier.ts';
import {
  type BlockReading,
  cacheMark,
  keepOpaque,
  noteFields,
  type Place,
  readMedia,
  readTextBlock,
  textPart,
  typeOf,
} from './client-media.ts';
import { isUnsigned } from './thinking-origin.ts';
import type { ToolInputs } from './tool-inputs.ts';
import { dialectName } from './wire.ts';

export type TurnReading = BlockReading & { readonly inputs: ToolInputs };

export type UserContent = {
  readonly results: readonly ToolMessage[];
  readonly parts: readonly UserPart[];
};

export function readUserContent(
  content: unknown,
  index: number,
  reading: TurnReading,
): UserContent {
  const results: ToolMessage[] = [];
  const parts: UserPart[] = [];
  for (const [at, block] of blocksOf(content, () => `messages[${index}]`, reading).entries()) {
    const place = (): string => `messages[${index}].content[${at}]`;
    if (isJsonObject(block) && block['type'] === 'tool_result') {
      const result = readToolResult(block, place, reading);
      if (result !== null) results.push(result);
      continue;
    }
    const part = readMedia(block, place, reading);
    if (part !== null) parts.push(part);
  }
  return { results, parts };
}

/** A plain string as its one block. */
export function blocksOf(
  content: unknown,
  place: Place,
  { faults, texts }: BlockReading,
): readonly unknown[] {
  if (textIn(content, texts) !== null) return [{ type: 'text', text: content }];
  if (Array.isArray(content)) return content;
  faults.reportType(`${place()}.content`, 'a string or an array of blocks', content);
  return [];
}

function readToolResult(
  block: JsonObject,
  place: Place,
  reading: BlockReading,
): ToolMessage | null {
  const { faults, texts } = reading;
  const { tool_use_id: toolCallId, content, is_error: isError } = block;
  noteFields(block, reading);
  const mark = cacheMark(block, reading);
  if (typeof toolCallId !== 'string' || toolCallId === '') {
    faults.reportType(`${place()}.tool_use_id`, 'a non-empty string', toolCallId);
    return null;
  }
  if (isError !== undefined && isError !== null && typeof isError !== 'boolean') {
    faults.reportType(`${place()}.is_error`, 'true or false', isError);
  }
  const parts: ToolResultPart[] = [];
  const text = textIn(content, texts);
  if (text !== null) parts.push(textPart(text));
  else if (content !== undefined && content !== null) {
    for (const [at, inner] of blocksOf(content, place, reading).entries()) {
      const part = readMedia(inner, () => `${place()}.content[${at}]`, reading);
      if (part !== null) parts.push(part);
    }
  }
  return { role: 'tool', toolCallId, content: parts, isError: isError === true, ...mark };
}

export function readAssistantContent(
  content: unknown,
  index: number,
  reading: TurnReading,
): readonly AssistantPart[] {
  const parts: AssistantPart[] = [];
  for (const [at, block] of blocksOf(content, () => `messages[${index}]`, reading).entries()) {
    const place = (): string => `messages[${index}].content[${at}]`;
    const type = typeOf(block, place, reading);
    if (type === null || !isJsonObject(block)) continue;
    const part = readAssistantBlock(type, block, place, reading, () =>
      reading.inputs.textOf(index, at),
    );
    if (part !== null) parts.push(part);
  }
  return parts;
}

function readAssistantBlock(
  type: string,
  block: JsonObject,
  place: Place,
  reading: TurnReading,
  input: () => string,
): AssistantPart | null {
  switch (type) {
    case 'text':
      return readTextBlock(block, place, reading);
    case 'thinking':
      return readThinking(block, place, reading);
    case 'redacted_thinking':
      return readRedacted(block, place, reading);
    case 'tool_use':
      return readToolUse(block, place, reading, input);
    default:
      keepOpaque(type, block, reading);
      return null;
  }
}

function readThinking(
  block: JsonObject,
  place: Place,
  { faults }: BlockReading,
): ReasoningPart | null {
  const { thinking, signature = null } = block;
  if (typeof thinking !== 'string') {
    faults.reportType(`${place()}.thinking`, 'a string', thinking);
    return null;
  }
  if (signature !== null && typeof signature !== 'string') {
    faults.reportType(`${place()}.signature`, 'a string', signature);
    return null;
  }
  const isCarried = signature !== null && isCarrier(signature);
  const carried = isCarried ? decodeCarrier(signature, thinking) : null;
  if (carried !== null) return carried;
  const isOwn = signature !== null && signature !== '' && !isUnsigned(signature);
  return {
    type: 'reasoning',
    text: thinking,
    signature: isOwn ? signature : null,
    redacted: null,
    dialect: dialectName,
  };
}

function readRedacted(
  block: JsonObject,
  place: Place,
  { faults, texts }: BlockReading,
): ReasoningPart | null {
  const data: Text | null = textIn(block['data'], texts);
  if (data === null) {
    faults.reportType(`${place()}.data`, 'a string', block['data']);
    return null;
  }
  return {
    type: 'reasoning',
    text: '',
    signature: null,
    dialect: dialectName,
    get redacted() {
      return readText(data);
    },
  };
}

function readToolUse(
  block: JsonObject,
  place: Place,
  reading: BlockReading,
  input: () => string,
): ToolCallPart | null {
  const { faults } = reading;
  const { id, name } = block;
  noteFields(block, reading);
  for (const [field, value] of Object.entries({ id, name })) {
    if (typeof value === 'string' && value !== '') continue;
    faults.reportType(`${place()}.${field}`, 'a non-empty string', value);
    return null;
  }
  if (!isJsonObject(block['input'])) {
    faults.reportType(`${place()}.input`, 'an object', block['input']);
    return null;
  }
  return {
    type: 'tool_call',
    id: String(id),
    name: String(name),
    get arguments() {
      return input();
    },
    ...cacheMark(block, reading),
  };
}
