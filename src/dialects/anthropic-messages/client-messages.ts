/** The conversation of a client's body: neighbours of one role as one turn, results before what the user says. */
import { append } from '../../base/append.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type {
  AssistantPart,
  Message,
  TextPart,
  ToolMessage,
  UserPart,
} from '../../chat/request.ts';
import { readTextBlock, typeOf } from './client-media.ts';
import {
  blocksOf,
  readAssistantContent,
  readUserContent,
  type TurnReading,
} from './client-turns.ts';

/** The system text, then the turns. */
export function readMessages(json: JsonObject, reading: TurnReading): readonly Message[] {
  const { faults } = reading;
  const { system, messages } = json;
  const turns = new TurnList();
  if (system !== undefined && system !== null) {
    turns.addSystem(readSystem(system, 'system', reading));
  }
  if (!Array.isArray(messages)) {
    faults.reportType('messages', 'an array', messages);
    return [];
  }
  if (messages.length === 0) faults.report('messages', 'messages must hold at least one message');
  for (const [index, message] of messages.entries()) {
    readMessage(message, index, turns, reading);
    if (faults.fault !== null) return [];
  }
  return turns.messages();
}

function readMessage(message: unknown, index: number, turns: TurnList, reading: TurnReading): void {
  const place = `messages[${index}]`;
  if (!isJsonObject(message)) {
    reading.faults.reportType(place, 'an object', message);
    return;
  }
  const { role, content } = message;
  switch (role) {
    case 'user': {
      const { results, parts } = readUserContent(content, index, reading);
      turns.addUser(results, parts);
      return;
    }
    case 'assistant':
      turns.addAssistant(readAssistantContent(content, index, reading));
      return;
    case 'system':
      turns.addSystem(readSystem(content, `${place}.content`, reading));
      return;
    default:
      if (typeof role !== 'string') reading.faults.reportType(`${place}.role`, 'a string', role);
      else reading.faults.report(`${place}.role`, `${place}.role must be user or assistant`);
  }
}

/** `at` is the path of `value`, a string or blocks of text. */
function readSystem(value: unknown, at: string, reading: TurnReading): readonly TextPart[] {
  if (typeof value !== 'string' && !Array.isArray(value)) {
    reading.faults.reportType(at, 'a string or an array of text blocks', value);
    return [];
  }
  const parts: TextPart[] = [];
  for (const [index, block] of blocksOf(value, () => at, reading).entries()) {
    const place = (): string => `${at}[${index}]`;
    const type = typeOf(block, place, reading);
    if (type === null || !isJsonObject(block)) continue;
    if (type !== 'text') {
      reading.faults.report(place(), `${place()} must be a text block`);
      continue;
    }
    const part = readTextBlock(block, place, reading);
    if (part !== null) parts.push(part);
  }
  return parts;
}

type Turn =
  | { readonly role: 'system'; readonly parts: TextPart[] }
  | { readonly role: 'user'; readonly results: ToolMessage[]; readonly parts: UserPart[] }
  | { readonly role: 'assistant'; readonly parts: AssistantPart[] };

class TurnList {
  readonly #turns: Turn[] = [];

  addSystem(parts: readonly TextPart[]): void {
    if (parts.length > 0) this.#turns.push({ role: 'system', parts: [...parts] });
  }

  addUser(results: readonly ToolMessage[], parts: readonly UserPart[]): void {
    const last = this.#turns.at(-1);
    if (last?.role !== 'user') {
      this.#turns.push({ role: 'user', results: [...results], parts: [...parts] });
      return;
    }
    append(last.results, results);
    append(last.parts, parts);
  }

  addAssistant(parts: readonly AssistantPart[]): void {
    const last = this.#turns.at(-1);
    if (last?.role === 'assistant') append(last.parts, parts);
    else this.#turns.push({ role: 'assistant', parts: [...parts] });
  }

  messages(): readonly Message[] {
    return this.#turns.flatMap(messagesOf);
  }
}

function messagesOf(turn: Turn): readonly Message[] {
  if (turn.role === 'system') return [{ role: turn.role, content: turn.parts }];
  if (turn.role === 'assistant') return [{ role: turn.role, content: turn.parts }];
  const { results, parts } = turn;
  if (parts.length === 0 && results.length > 0) return results;
  return [...results, { role: 'user', content: parts, name: null }];
}
