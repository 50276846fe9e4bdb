/** The conversation of a client's body: one canonical message for each of the client's, in their order. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type {
  AssistantPart,
  Message,
  ProviderTool,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../../chat/request.ts';
import { type DeferredTexts, readText, type Text, textIn } from '../deferred-texts.ts';
import type { FirstFault } from '../first-fault.ts';
import { type MediaReading, readUserPart, textPart } from './client-media.ts';
import { thinkingText } from './reasoning-text.ts';
import { dialectName } from './wire.ts';

export type ReadMessages = {
  readonly messages: readonly Message[];
  /** Content parts not known here, kept so that no other dialect leaves them out in silence. */
  readonly opaqueParts: readonly ProviderTool[];
};

type Reading = MediaReading & {
  readonly opaqueParts: ProviderTool[];
  /** The id made for the last call of each function in the old form, which has none. */
  readonly functionCallIds: Map<string, string>;
};

/** `texts` are those of the messages that were put off; null = all are there. */
export function readMessages(
  value: unknown,
  faults: FirstFault,
  texts: DeferredTexts | null = null,
): ReadMessages {
  const reading: Reading = { faults, texts, opaqueParts: [], functionCallIds: new Map() };
  const messages: Message[] = [];
  if (!Array.isArray(value)) faults.reportType('messages', 'an array', value);
  else if (value.length === 0) faults.report('messages', 'messages must hold at least one message');
  else {
    for (let index = 0; index < value.length; index += 1) {
      const message = readMessage(value[index], index, reading);
      if (message === null) return { messages, opaqueParts: reading.opaqueParts };
      messages.push(message);
    }
    reportMissingResults(messages, faults);
  }
  return { messages, opaqueParts: reading.opaqueParts };
}

/** Null only when a fault was reported. */
function readMessage(value: unknown, index: number, reading: Reading): Message | null {
  if (!isJsonObject(value)) {
    reading.faults.reportType(`messages[${index}]`, 'an object', value);
    return null;
  }
  switch (value['role']) {
    case 'user':
      return readUser(value, index, reading);
    case 'assistant':
      return { role: 'assistant', content: readAssistant(value, index, reading) };
    case 'system':
    case 'developer':
      return { role: 'system', content: readTexts(value['content'], index, reading) };
    case 'tool':
      return readToolMessage(value, index, reading);
    case 'function':
      return readFunctionMessage(value, index, reading);
    default:
      if (typeof value['role'] !== 'string') {
        reading.faults.reportType(`messages[${index}].role`, 'a string', value['role']);
      } else {
        reading.faults.report(
          `messages[${index}].role`,
          `messages[${index}].role must be system, developer, user, assistant or tool`,
        );
      }
      return null;
  }
}

function readUser(value: JsonObject, index: number, reading: Reading): Message {
  const name = value['name'];
  return {
    role: 'user',
    content: readParts(value['content'], index, reading),
    name: typeof name === 'string' ? name : null,
  };
}

function readParts(content: unknown, index: number, reading: Reading): readonly UserPart[] {
  const text = textIn(content, reading.texts);
  if (text !== null) return [textPart(text)];
  if (!Array.isArray(content)) {
    reading.faults.reportType(
      `messages[${index}].content`,
      'a string or an array of parts',
      content,
    );
    return [];
  }
  const parts: UserPart[] = [];
  for (const [place, part] of content.entries()) {
    const read = readUserPart(part, () => `messages[${index}].content[${place}]`, reading);
    if (read === null) keepOpaque(part, reading);
    else parts.push(read);
  }
  return parts;
}

/** Text alone: what a system message may hold. */
function readTexts(content: unknown, index: number, reading: Reading): readonly TextPart[] {
  const texts: TextPart[] = [];
  for (const part of readParts(content, index, reading)) {
    if (part.type === 'text') texts.push(part);
    else {
      const param = `messages[${index}].content`;
      reading.faults.report(param, `${param} of a system message may hold text only`);
    }
  }
  return texts;
}

function keepOpaque(part: unknown, reading: Reading): void {
  if (!isJsonObject(part)) return;
  reading.opaqueParts.push({
    dialect: dialectName,
    kind: `content:${String(part['type'])}`,
    raw: part,
  });
}

function readToolMessage(value: JsonObject, index: number, reading: Reading): Message {
  const toolCallId = value['tool_call_id'];
  if (typeof toolCallId !== 'string') {
    reading.faults.reportType(`messages[${index}].tool_call_id`, 'a string', toolCallId);
  }
  return {
    role: 'tool',
    toolCallId: typeof toolCallId === 'string' ? toolCallId : '',
    content: readResult(value['content'], index, reading),
    isError: false,
  };
}

/** The old form of a result names its function instead of a call. */
function readFunctionMessage(value: JsonObject, index: number, reading: Reading): Message {
  const name = value['name'];
  if (typeof name !== 'string') {
    reading.faults.reportType(`messages[${index}].name`, 'a string', name);
  }
  return {
    role: 'tool',
    toolCallId: reading.functionCallIds.get(String(name)) ?? `function_${index}`,
    content: readResult(value['content'] ?? '', index, reading),
    isError: false,
  };
}

function readResult(content: unknown, index: number, reading: Reading): readonly ToolResultPart[] {
  const parts: ToolResultPart[] = [];
  for (const part of readParts(content, index, reading)) {
    if (part.type !== 'audio') parts.push(part);
    else {
      const param = `messages[${index}].content`;
      reading.faults.report(param, `${param} of a tool message may not hold audio`);
    }
  }
  return parts;
}

function readAssistant(
  value: JsonObject,
  index: number,
  reading: Reading,
): readonly AssistantPart[] {
  const parts: AssistantPart[] = [];
  addReasoning(value, parts, reading);
  addAssistantContent(value['content'], index, parts, reading);
  const refusal = value['refusal'];
  if (typeof refusal === 'string' && refusal !== '') parts.push({ type: 'refusal', text: refusal });
  else if (refusal !== undefined && refusal !== null && typeof refusal !== 'string') {
    reading.faults.reportType(`messages[${index}].refusal`, 'a string', refusal);
  }
  if (isJsonObject(value['audio'])) {
    reading.opaqueParts.push({
      dialect: dialectName,
      kind: 'content:audio',
      raw: { audio: value['audio'] },
    });
  }
  addToolCalls(value['tool_calls'], index, parts, reading);
  addFunctionCall(value['function_call'], index, parts, reading);
  return parts;
}

/** The two names under which compatible servers give reasoning text; clients send it back. */
function addReasoning(value: JsonObject, parts: AssistantPart[], reading: Reading): void {
  const text = textIn(value['reasoning_content'] ?? value['reasoning'], reading.texts);
  if (text !== null && text !== '') parts.push(reasoningPart(text));
}

function reasoningPart(text: Text): AssistantPart {
  return {
    type: 'reasoning',
    signature: null,
    redacted: null,
    dialect: dialectName,
    get text() {
      return readText(text);
    },
  };
}

function addAssistantContent(
  content: unknown,
  index: number,
  parts: AssistantPart[],
  reading: Reading,
): void {
  if (content === undefined || content === null) return;
  const text = textIn(content, reading.texts);
  if (text !== null) {
    if (text !== '') parts.push(textPart(text));
    return;
  }
  if (!Array.isArray(content)) {
    reading.faults.reportType(
      `messages[${index}].content`,
      'a string or an array of parts',
      content,
    );
    return;
  }
  for (const [place, part] of content.entries()) {
    const read = readAssistantPart(part, `messages[${index}].content[${place}]`, reading);
    if (read === null) keepOpaque(part, reading);
    else parts.push(read);
  }
}

function readAssistantPart(part: unknown, param: string, reading: Reading): AssistantPart | null {
  const { faults, texts } = reading;
  if (!isJsonObject(part)) {
    faults.reportType(param, 'an object', part);
    return null;
  }
  switch (part['type']) {
    case 'text': {
      const text = textIn(part['text'], texts);
      if (text === null) faults.reportType(`${param}.text`, 'a string', part['text']);
      return textPart(text ?? '');
    }
    case 'refusal': {
      const { refusal } = part;
      if (typeof refusal !== 'string') faults.reportType(`${param}.refusal`, 'a string', refusal);
      return { type: 'refusal', text: String(refusal) };
    }
    case 'thinking':
      return reasoningPart(thinkingText(part['thinking'], texts));
    default:
      if (typeof part['type'] !== 'string') {
        faults.reportType(`${param}.type`, 'a string', part['type']);
      }
      return null;
  }
}

function addToolCalls(
  calls: unknown,
  index: number,
  parts: AssistantPart[],
  reading: Reading,
): void {
  if (calls === undefined || calls === null) return;
  if (!Array.isArray(calls)) {
    reading.faults.reportType(`messages[${index}].tool_calls`, 'an array', calls);
    return;
  }
  for (const [place, call] of calls.entries()) {
    const read = readToolCall(call, `messages[${index}].tool_calls[${place}]`, reading);
    if (read !== null) parts.push(read);
  }
}

function readToolCall(call: unknown, param: string, reading: Reading): ToolCallPart | null {
  const { faults } = reading;
  if (!isJsonObject(call)) {
    faults.reportType(param, 'an object', call);
    return null;
  }
  const id = call['id'];
  if (typeof id !== 'string' || id === '') {
    faults.reportType(`${param}.id`, 'a non-empty string', id);
    return null;
  }
  const isCustom = call['type'] === 'custom';
  const field = isCustom ? 'custom' : 'function';
  const called = call[field];
  if (!isJsonObject(called)) {
    faults.reportType(`${param}.${field}`, 'an object', called);
    return null;
  }
  return readCalled(id, called, isCustom ? 'input' : 'arguments', `${param}.${field}`, reading);
}

function readCalled(
  id: string,
  called: JsonObject,
  field: string,
  param: string,
  { faults, texts }: Reading,
): ToolCallPart | null {
  const name = called['name'];
  if (typeof name !== 'string' || name === '') {
    faults.reportType(`${param}.name`, 'a non-empty string', name);
    return null;
  }
  const given = textIn(called[field] ?? '', texts);
  if (given === null) {
    faults.reportType(`${param}.${field}`, 'a string', called[field]);
    return null;
  }
  return {
    type: 'tool_call',
    id,
    name,
    get arguments() {
      return readText(given);
    },
  };
}

function addFunctionCall(
  value: unknown,
  index: number,
  parts: AssistantPart[],
  reading: Reading,
): void {
  if (!isJsonObject(value)) return;
  const id = `function_${index}`;
  const read = readCalled(id, value, 'arguments', `messages[${index}].function_call`, reading);
  if (read === null) return;
  reading.functionCallIds.set(read.name, id);
  parts.push(read);
}

/**
 * Every call needs its result before the assistant speaks again. No provider takes a history
 * without it, and one must not be made up.
 */
function reportMissingResults(messages: readonly Message[], faults: FirstFault): void {
  const open = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') open.delete(message.toolCallId);
    if (message.role !== 'assistant') continue;
    if (open.size > 0) break;
    for (const part of message.content) {
      if (part.type === 'tool_call') open.set(part.id, `messages[${index}].tool_calls`);
    }
  }
  for (const [id, param] of open) {
    const shown = id.length > 100 ? `${id.slice(0, 100)}...` : id;
    faults.report(
      param,
      `the tool call ${JSON.stringify(shown)} has no result: a message with role tool and this tool_call_id must follow it`,
    );
    return;
  }
}
