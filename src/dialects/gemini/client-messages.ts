/** The contents of a client's body as canonical messages. */
import type {
  AssistantPart,
  Message,
  TextPart,
  ToolMessage,
  UserPart,
} from '../../chat/request.ts';
import { readText, type Text } from '../deferred-texts.ts';
import {
  type ContentsReading,
  type OpenCall,
  OpenCalls,
  type PartNumbers,
  readCall,
  readResult,
} from './client-calls.ts';
import type { ClientFields } from './client-fields.ts';
import {
  checkPart,
  keepOpaque,
  type PartReading,
  readMediaPart,
  readPartText,
  textPart,
} from './client-media.ts';
import { dummySignature } from './encode-messages.ts';
import { dialectName } from './wire.ts';

/** The system text first, then the conversation. Neighbouring contents of the model are one turn: a stream's chunks come back so. */
export function readMessages(body: ClientFields, reading: ContentsReading): readonly Message[] {
  const system = readSystem(body, reading);
  const conversation = new Conversation(reading);
  const contents = body.objects('contents');
  if (contents.length === 0) {
    reading.faults.report('contents', 'contents must hold at least one content');
  }
  for (const [index, content] of contents.entries()) {
    if (reading.faults.fault !== null) break;
    readContent(content, index, conversation, reading);
  }
  return [...system, ...conversation.end()];
}

function readSystem(body: ClientFields, reading: PartReading): readonly Message[] {
  const given = body.value('systemInstruction');
  if (typeof given === 'string') {
    return given === '' ? [] : [{ role: 'system', content: [{ type: 'text', text: given }] }];
  }
  const texts: TextPart[] = [];
  const content = body.fieldsOf('systemInstruction');
  refuseBare(content);
  for (const part of content.objects('parts')) {
    const text = part.value('text') === undefined ? null : readPartText(part, reading);
    if (text === null) {
      const place = body.placeOf('systemInstruction');
      reading.faults.report(place, `${place} may hold text only`);
    } else if (text !== '') texts.push(textPart(text));
  }
  return texts.length === 0 ? [] : [{ role: 'system', content: texts }];
}

const contentFields: ReadonlySet<string> = new Set(['role', 'parts']);

/** What stands beside the parts that are missing says nothing to the service, and would be lost. */
function refuseBare(content: ClientFields): void {
  if (content.value('parts') !== undefined || content.othersThan(contentFields).length === 0)
    return;
  content.refuse('parts', 'an array of objects');
}

function readContent(
  content: ClientFields,
  index: number,
  conversation: Conversation,
  reading: ContentsReading,
): void {
  const role = content.string('role') ?? '';
  const parts = content.objects('parts');
  refuseBare(content);
  for (const part of parts) checkPart(part, reading);
  switch (role) {
    case 'model':
      conversation.beginModel();
      for (const [at, part] of parts.entries())
        readModelPart(part, [index, at], conversation, reading);
      return;
    case '':
    case 'user':
    // What results came under in the API's first versions.
    case 'function':
      conversation.beginUser();
      for (const [at, part] of parts.entries())
        readUserPart(part, [index, at], conversation, reading);
      return;
    default: {
      const place = content.placeOf('role');
      reading.faults.report(place, `${place} must be user or model`);
    }
  }
}

function readModelPart(
  part: ClientFields,
  numbers: PartNumbers,
  conversation: Conversation,
  reading: ContentsReading,
): void {
  noteSignature(part, reading);
  if (part.value('functionCall') !== undefined) {
    const call = readCall(part, numbers, reading);
    if (call !== null) conversation.addCall(call);
    return;
  }
  if (part.value('functionResponse') !== undefined) {
    misplaced(part, 'functionResponse', 'user', reading);
    return;
  }
  if (part.value('text') === undefined) {
    keepOpaque(part.json, reading);
    return;
  }
  const text = readPartText(part, reading);
  if (text === null) return;
  if (part.value('thought') !== true) conversation.addText(text);
  else conversation.addPart(thoughtOf(text, part.string('thoughtSignature')));
}

/** What signs a call or a text brings back the thought behind it: to its own maker alone. */
function noteSignature(part: ClientFields, { notes }: PartReading): void {
  const signature = part.value('thoughtSignature') ?? dummySignature;
  if (signature !== dummySignature) notes.add('reasoning');
}

function thoughtOf(text: Text, signature: string | null): AssistantPart {
  return {
    type: 'reasoning',
    signature,
    redacted: null,
    dialect: dialectName,
    get text() {
      return readText(text);
    },
  };
}

function readUserPart(
  part: ClientFields,
  numbers: PartNumbers,
  conversation: Conversation,
  reading: ContentsReading,
): void {
  if (part.value('functionCall') !== undefined) {
    misplaced(part, 'functionCall', 'model', reading);
  } else if (part.value('functionResponse') !== undefined) {
    const result = readResult(part, numbers, conversation.openCalls, reading);
    if (result !== null) conversation.addResult(result);
  } else {
    const read = readMediaPart(part, reading);
    if (read !== null) conversation.addUserPart(read);
  }
}

function misplaced(part: ClientFields, name: string, role: string, { faults }: PartReading): void {
  const place = part.placeOf(name);
  faults.report(place, `${place} belongs into a content whose role is ${role}`);
}

/** Puts the parts of contents into messages, and sees to it that every call has its result. */
class Conversation {
  /** Those of the model's last turn. */
  readonly openCalls = new OpenCalls();
  readonly #reading: PartReading;
  readonly #messages: Message[] = [];
  #role: 'user' | 'model' | null = null;
  /** A content of the model follows another, and nothing of it was added yet. */
  #isGoingOn = false;
  #assistant: (AssistantPart | { readonly type: 'texts'; readonly texts: Text[] })[] = [];
  #user: UserPart[] = [];

  constructor(reading: PartReading) {
    this.#reading = reading;
  }

  beginModel(): void {
    this.#isGoingOn = this.#role === 'model';
    if (this.#isGoingOn) return;
    this.#flush();
    this.#reportOpenCall();
    this.#role = 'model';
  }

  beginUser(): void {
    this.#flush();
    this.#role = 'user';
  }

  /** Text goes on over a content's border alone: parts of one content are told apart. */
  addText(text: Text): void {
    if (text === '') return;
    const last = this.#isGoingOn ? this.#assistant.at(-1) : null;
    this.#isGoingOn = false;
    if (last?.type === 'texts') last.texts.push(text);
    else this.#assistant.push({ type: 'texts', texts: [text] });
  }

  addPart(part: AssistantPart): void {
    this.#isGoingOn = false;
    this.#assistant.push(part);
  }

  addCall(call: OpenCall): void {
    this.#isGoingOn = false;
    this.openCalls.add(call);
    this.#assistant.push(call.part);
  }

  /** Results come first in their turn, whatever else it holds. */
  addResult(result: ToolMessage): void {
    this.#messages.push(result);
  }

  addUserPart(part: UserPart): void {
    this.#user.push(part);
  }

  end(): readonly Message[] {
    this.#flush();
    this.#reportOpenCall();
    return this.#messages;
  }

  #flush(): void {
    if (this.#assistant.length > 0) {
      const content = this.#assistant.map((part) =>
        part.type === 'texts' ? joinedText(part.texts) : part,
      );
      this.#messages.push({ role: 'assistant', content });
    }
    if (this.#user.length > 0) {
      this.#messages.push({ role: 'user', content: this.#user, name: null });
    }
    this.#assistant = [];
    this.#user = [];
  }

  /** No provider takes a history without a result, and one must not be made up. */
  #reportOpenCall(): void {
    const open = this.openCalls.first;
    if (open === null) return;
    const place = open.place();
    this.#reading.faults.report(
      place,
      `${place} has no result: a functionResponse for it must come in the next content`,
    );
  }
}

function joinedText(texts: readonly Text[]): TextPart {
  const [first] = texts;
  if (texts.length === 1 && first !== undefined) return textPart(first);
  return textPart(() => texts.map(readText).join(''));
}
