/** A canonical conversation as input items: results straight after their calls, joined by call_id. */
import { append } from '../../base/append.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type {
  AssistantMessage,
  Message,
  ToolCallPart,
  ToolMessage,
  UserMessage,
} from '../../chat/request.ts';
import type { RequestFault, UpstreamCall } from '../dialect.ts';
import { unwritableName } from '../tool-names.ts';
import { ToolResults } from '../tool-results.ts';
import type { UniqueCallIds } from '../unique-call-ids.ts';
import { encodePart } from './encode-media.ts';
import { toolName } from './encode-tools.ts';
import { encryptedFor } from './reasoning-origin.ts';
import { toolCallIds } from './tool-call-ids.ts';
import type { WireInputItem, WireInputPart, WireOutputPart } from './wire.ts';

/** The fault names a call whose result is missing, or a part that has no form here. */
export function encodeMessages(
  messages: readonly Message[],
  call: UpstreamCall,
  dropped: Set<string>,
): Result<readonly WireInputItem[], RequestFault> {
  const items: WireInputItem[] = [];
  const ids = toolCallIds();
  const toolResults = new ToolResults(messages);
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case 'system':
        items.push(systemItem(message.content.map(({ text }) => text).join('\n\n')));
        break;
      case 'user': {
        const item = userItem(message, index);
        if (!item.ok) return item;
        if (message.name !== null) dropped.add('name');
        items.push(item.value);
        break;
      }
      case 'assistant': {
        const results = toolResults.take(index);
        if (!results.ok) return results;
        const turn = encodeTurn(message, results.value, { index, call, ids, dropped });
        if (!turn.ok) return turn;
        append(items, turn.value);
        break;
      }
      case 'tool': {
        // Already written behind its call; one that answers no call has nothing to stand behind.
        const fault = toolResults.faultOf(message, index);
        if (fault !== null) return fail(fault);
        break;
      }
    }
  }
  return success(items);
}

export function systemItem(text: string): WireInputItem {
  return { type: 'message', role: 'system', content: [{ type: 'input_text', text }] };
}

function userItem(message: UserMessage, index: number): Result<WireInputItem, RequestFault> {
  const content: WireInputPart[] = [];
  const filled = message.content.filter((part) => part.type !== 'text' || part.text !== '');
  for (const part of filled) {
    const encoded = encodePart(part);
    if (encoded === null) return fail(formlessPart(part.type, index));
    content.push(encoded);
  }
  if (content.length === 0) content.push({ type: 'input_text', text: '' });
  return success({ type: 'message', role: 'user', content });
}

function formlessPart(type: string, index: number): RequestFault {
  return {
    param: `messages[${index}].content`,
    message: `messages[${index}] holds ${type} content in a form that this target does not take`,
  };
}

type TurnContext = {
  readonly index: number;
  readonly call: UpstreamCall;
  readonly ids: UniqueCallIds;
  readonly dropped: Set<string>;
};

/** The turn's items in their order, then the results of its calls. */
function encodeTurn(
  message: AssistantMessage,
  results: readonly ToolMessage[],
  { index, call, ids, dropped }: TurnContext,
): Result<readonly WireInputItem[], RequestFault> {
  const turn = new TurnItems();
  const outputs: WireInputItem[] = [];
  for (const part of message.content) {
    if (part.type === 'text') turn.say({ type: 'output_text', text: part.text, annotations: [] });
    else if (part.type === 'refusal') turn.say({ type: 'refusal', refusal: part.text });
    else if (part.type === 'reasoning') {
      const encrypted = encryptedFor(part, call);
      if (encrypted === null) dropped.add('reasoning');
      else turn.think(part.text, encrypted);
    } else {
      const callId = ids.next(part.id);
      const item = callItem(part, callId);
      if (item === null) return fail(unwritableName(part.name));
      turn.add(item);
      const result = results[outputs.length];
      if (result === undefined) continue;
      const output = encodeResult(result, index);
      if (!output.ok) return output;
      outputs.push({ type: 'function_call_output', call_id: callId, output: output.value });
    }
  }
  return success([...turn.items(), ...outputs]);
}

/** Texts that follow each other are one message; reasoning stands before what it led to, or not at all. */
class TurnItems {
  readonly #items: WireInputItem[] = [];
  #said: WireOutputPart[] = [];
  #thought: WireInputItem | null = null;

  say(part: WireOutputPart): void {
    if ((part.type === 'refusal' ? part.refusal : part.text) === '') return;
    this.#takeThought();
    this.#said.push(part);
  }

  think(text: string, encrypted: string): void {
    this.#endMessage();
    const summary = text === '' ? [] : [{ type: 'summary_text' as const, text }];
    this.#thought = { type: 'reasoning', summary, encrypted_content: encrypted };
  }

  add(item: WireInputItem): void {
    this.#endMessage();
    this.#takeThought();
    this.#items.push(item);
  }

  items(): readonly WireInputItem[] {
    this.#endMessage();
    return this.#items;
  }

  #takeThought(): void {
    if (this.#thought !== null) this.#items.push(this.#thought);
    this.#thought = null;
  }

  #endMessage(): void {
    if (this.#said.length === 0) return;
    this.#items.push({ type: 'message', role: 'assistant', content: this.#said });
    this.#said = [];
  }
}

function callItem(part: ToolCallPart, callId: string): WireInputItem | null {
  const name = toolName(part.name);
  if (name === null) return null;
  const text = part.arguments === '' ? '{}' : part.arguments;
  return { type: 'function_call', call_id: callId, name, arguments: text };
}

/** Text where there is nothing else; a failure has no field of its own. */
function encodeResult(
  { content, isError }: ToolMessage,
  index: number,
): Result<string | readonly WireInputPart[], RequestFault> {
  const texts = content.map((part) => (part.type === 'text' ? part.text : null));
  if (!texts.includes(null)) {
    const text = texts.join('\n');
    return success(isError ? `Error: ${text}` : text);
  }
  const parts: WireInputPart[] = isError ? [{ type: 'input_text', text: 'Error:' }] : [];
  for (const part of content) {
    const encoded = encodePart(part);
    if (encoded === null) return fail(formlessPart(part.type, index));
    parts.push(encoded);
  }
  return success(parts);
}
