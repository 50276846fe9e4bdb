/** The conversation of a client's body: one canonical message for each of the client's, in their order. */
import { isJsonObject, type JsonObject, stringAt } from '../../base/json.ts';
import type {
  Message,
  ProviderTool,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../chat/request.ts';
import { type DeferredTexts, textIn } from '../deferred-texts.ts';
import type { FirstFault } from '../first-fault.ts';
import { deferredTextPart } from '../media-source.ts';
import { noteUnknown } from '../unknown-fields.ts';
import { keepOpaque, type MessageReading, readAssistant } from './client-assistant.ts';
import { readUserPart } from './client-media.ts';
import { reasoningFields } from './wire.ts';

export type ReadMessages = {
  readonly messages: readonly Message[];
  /** Content parts not known here, kept so that no other dialect leaves them out in silence. */
  readonly opaqueParts: readonly ProviderTool[];
  /** Names of what only tunes and has no canonical place. */
  readonly notes: Set<string>;
};

/** `texts` are those of the messages that were put off; null = all are there. */
export function readMessages(
  value: unknown,
  faults: FirstFault,
  texts: DeferredTexts | null = null,
): ReadMessages {
  const reading: MessageReading = {
    faults,
    texts,
    opaqueParts: [],
    notes: new Set(),
    functionCallIds: new Map(),
  };
  const { opaqueParts, notes } = reading;
  const messages: Message[] = [];
  if (!Array.isArray(value)) faults.reportType('messages', 'an array', value);
  else if (value.length === 0) faults.report('messages', 'messages must hold at least one message');
  else {
    for (let index = 0; index < value.length; index += 1) {
      const message = readMessage(value[index], index, reading);
      if (message === null) return { messages, opaqueParts, notes };
      messages.push(message);
    }
    reportMissingResults(messages, faults);
  }
  return { messages, opaqueParts, notes };
}

/** What clients send back of an answer is among them, though it says nothing to a model. */
const knownMessageFields: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'refusal',
  'audio',
  'annotations',
  'parsed',
  ...reasoningFields,
]);

/** Null only when a fault was reported. */
function readMessage(value: unknown, index: number, reading: MessageReading): Message | null {
  if (!isJsonObject(value)) {
    reading.faults.reportType(`messages[${index}]`, 'an object', value);
    return null;
  }
  noteUnknown(value, knownMessageFields, reading.notes, 'messages.');
  switch (value['role']) {
    case 'user':
      return readUser(value, index, reading);
    case 'assistant':
      noteName(value, reading);
      return { role: 'assistant', content: readAssistant(value, index, reading) };
    case 'system':
    case 'developer':
      noteName(value, reading);
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

/** Only a user's name has a place of its own. */
function noteName({ name }: JsonObject, { notes }: MessageReading): void {
  if (typeof name === 'string' && name !== '') notes.add('name');
}

function readUser(value: JsonObject, index: number, reading: MessageReading): Message {
  const name = value['name'];
  return {
    role: 'user',
    content: readParts(value['content'], index, reading),
    name: typeof name === 'string' ? name : null,
  };
}

function readParts(content: unknown, index: number, reading: MessageReading): readonly UserPart[] {
  const text = textIn(content, reading.texts);
  if (text !== null) return [deferredTextPart(text)];
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
function readTexts(content: unknown, index: number, reading: MessageReading): readonly TextPart[] {
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

function readToolMessage(value: JsonObject, index: number, reading: MessageReading): Message {
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
function readFunctionMessage(value: JsonObject, index: number, reading: MessageReading): Message {
  const name = stringAt(value, 'name');
  if (name === null)
    reading.faults.reportType(`messages[${index}].name`, 'a string', value['name']);
  return {
    role: 'tool',
    toolCallId: reading.functionCallIds.get(name ?? '') ?? `function_${index}`,
    content: readResult(value['content'] ?? '', index, reading),
    isError: false,
  };
}

function readResult(
  content: unknown,
  index: number,
  reading: MessageReading,
): readonly ToolResultPart[] {
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
