/** What the model said, as clients send it back: text, refusals, calls, thoughts. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { AssistantPart, ReasoningPart, ToolCallPart } from '../../chat/request.ts';
import { readText, textIn } from '../deferred-texts.ts';
import { keepOpaque, type PartReading, type Place, readTextPart, typeOf } from './client-media.ts';
import { readEncrypted } from './encrypted-content.ts';

export function readAssistantContent(
  parts: readonly unknown[],
  place: Place,
  reading: PartReading,
): readonly AssistantPart[] {
  return parts.flatMap(
    (part, position) => readPart(part, () => `${place()}[${position}]`, reading) ?? [],
  );
}

function readPart(part: unknown, place: Place, reading: PartReading): AssistantPart | null {
  const type = typeOf(part, place, reading);
  if (type === null || !isJsonObject(part)) return null;
  switch (type) {
    case 'output_text':
    case 'input_text':
      return readTextPart(part, place, reading);
    case 'refusal': {
      const { refusal } = part;
      if (typeof refusal === 'string') return { type, text: refusal };
      reading.faults.reportType(`${place()}.refusal`, 'a string', refusal);
      return null;
    }
    default:
      keepOpaque(`content:${type}`, part, reading);
      return null;
  }
}

/** `field` holds the arguments, or a custom tool's free text. Null when a fault was reported. */
export function readCall(
  item: JsonObject,
  field: 'arguments' | 'input',
  place: Place,
  { faults, texts }: PartReading,
): ToolCallPart | null {
  const { call_id: id, name } = item;
  const given = textIn(item[field], texts);
  for (const [key, value] of Object.entries({ call_id: id, name })) {
    if (typeof value === 'string' && value !== '') continue;
    faults.reportType(`${place()}.${key}`, 'a non-empty string', value);
    return null;
  }
  if (given === null) {
    faults.reportType(`${place()}.${field}`, 'a string', item[field]);
    return null;
  }
  return {
    type: 'tool_call',
    id: String(id),
    name: String(name),
    get arguments() {
      return readText(given);
    },
  };
}

/** Null when a fault was reported. */
export function readReasoning(
  item: JsonObject,
  place: Place,
  reading: PartReading,
): ReasoningPart | null {
  const { encrypted_content: encrypted = null } = item;
  if (encrypted !== null && typeof encrypted !== 'string') {
    reading.faults.reportType(`${place()}.encrypted_content`, 'a string', encrypted);
    return null;
  }
  const summary = joinedText(item['summary'], () => `${place()}.summary`, reading);
  const content = joinedText(item['content'], () => `${place()}.content`, reading);
  return readEncrypted(encrypted ?? '', summary || content);
}

function joinedText(value: unknown, place: Place, { faults, texts }: PartReading): string {
  if (value === undefined || value === null) return '';
  if (!Array.isArray(value)) {
    faults.reportType(place(), 'an array', value);
    return '';
  }
  const found = value.flatMap((part) =>
    isJsonObject(part) ? (textIn(part['text'], texts) ?? []) : [],
  );
  return found.map(readText).join('\n\n');
}
