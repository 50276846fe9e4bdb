/** An assistant's turn in a client's body: text, refusal, reasoning, and calls in both their forms. */
import { isJsonObject, type JsonObject, stringAt } from '../../base/json.ts';
import type { AssistantPart, ProviderTool, ToolCallPart } from '../../chat/request.ts';
import { readText, type Text, textIn } from '../deferred-texts.ts';
import { deferredTextPart } from '../media-source.ts';
import { noteUnknown } from '../unknown-fields.ts';
import type { MediaReading } from './client-media.ts';
import { thinkingText } from './reasoning-text.ts';
import { dialectName } from './wire.ts';

export type MessageReading = MediaReading & {
  readonly opaqueParts: ProviderTool[];
  /** The id made for the last call of each function in the old form, which has none. */
  readonly functionCallIds: Map<string, string>;
};

export function readAssistant(
  value: JsonObject,
  index: number,
  reading: MessageReading,
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
function addReasoning(value: JsonObject, parts: AssistantPart[], reading: MessageReading): void {
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
  reading: MessageReading,
): void {
  if (content === undefined || content === null) return;
  const text = textIn(content, reading.texts);
  if (text !== null) {
    if (text !== '') parts.push(deferredTextPart(text));
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

const knownPartFields: ReadonlySet<string> = new Set(['type', 'text', 'refusal', 'thinking']);

function readAssistantPart(
  part: unknown,
  param: string,
  reading: MessageReading,
): AssistantPart | null {
  const { faults, texts } = reading;
  if (!isJsonObject(part)) {
    faults.reportType(param, 'an object', part);
    return null;
  }
  noteUnknown(part, knownPartFields, reading.notes, 'content.');
  switch (part['type']) {
    case 'text': {
      const text = textIn(part['text'], texts);
      if (text === null) faults.reportType(`${param}.text`, 'a string', part['text']);
      return deferredTextPart(text ?? '');
    }
    case 'refusal': {
      const { refusal } = part;
      if (typeof refusal !== 'string') faults.reportType(`${param}.refusal`, 'a string', refusal);
      return { type: 'refusal', text: typeof refusal === 'string' ? refusal : '' };
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
  reading: MessageReading,
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

function readToolCall(call: unknown, param: string, reading: MessageReading): ToolCallPart | null {
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
  { faults, texts }: MessageReading,
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
  reading: MessageReading,
): void {
  if (!isJsonObject(value)) return;
  const id = `function_${index}`;
  const read = readCalled(id, value, 'arguments', `messages[${index}].function_call`, reading);
  if (read === null) return;
  reading.functionCallIds.set(read.name, id);
  parts.push(read);
}

export function keepOpaque(part: unknown, reading: MessageReading): void {
  if (!isJsonObject(part)) return;
  reading.opaqueParts.push({
    dialect: dialectName,
    kind: `content:${stringAt(part, 'type') ?? 'untyped'}`,
    raw: part,
  });
}
