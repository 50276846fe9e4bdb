/** One answer, document by document: a whole reply is one document, a stream is many chunks. */
import { isJsonObject, type JsonObject, objectAt } from '../../base/json.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import { findError, isErrorDocument, isFilled, statedStatus } from '../error-document.ts';
import { ListedSources } from './annotations.ts';
import { ChoiceDecoder } from './decode-choice.ts';
import { readFinish } from './finish-reasons.ts';
import { readUsage } from './usage.ts';
import { dialectName } from './wire.ts';

/** `isPlain`: a client that reads the original bytes learns what the events say. */
export type Reading = { readonly events: readonly ChatEvent[]; readonly isPlain: boolean };

/** More choices than a request can ask for are no choices. */
const choicesMax = 128;

const malformed: Reading = { events: [{ type: 'malformed' }], isPlain: false };
const idle: ChatEvent = { type: 'activity', isProgress: false };

export class ChunkReader {
  #hasStarted = false;
  #seed = '';
  readonly #choices = new Map<number, ChoiceDecoder>();
  readonly #sources = new ListedSources();

  /** The events of one chunk of a stream. `isError`: the event that carried it is named an error. */
  readChunk(body: unknown, isError = false): Reading {
    if (!isJsonObject(body)) {
      return isErrorDocument(body) ? this.#error(body, []) : malformed;
    }
    const events: ChatEvent[] = [];
    let isPlain = this.#readChoices(body, events, true);
    const usage = usageIn(body);
    if (usage !== null) events.push({ type: 'usage', usage });
    if (isError || isErrorDocument(body) || hasError(events)) return this.#error(body, events);
    if (!Array.isArray(body['choices'])) isPlain = false;
    const isSilent = saysNothing(events);
    if (isSilent && (usage === null || hasChoice(body))) events.push(idle);
    return { events, isPlain };
  }

  /** The events of a chunk that says `text` in `choice` and nothing else. */
  readText(choice: number, text: string): readonly ChatEvent[] {
    const events: ChatEvent[] = [];
    this.#decoder(choice, choice)?.pushText(text, events);
    return events;
  }

  /** The events of a whole reply, ending in `end`; `malformed` or `error` alone when it is none. */
  readReply(body: unknown): readonly ChatEvent[] {
    if (!isJsonObject(body)) {
      return isErrorDocument(body) ? this.#error(body, []).events : malformed.events;
    }
    const events: ChatEvent[] = [];
    this.#readChoices(body, events, false);
    const usage = usageIn(body);
    if (usage !== null) events.push({ type: 'usage', usage });
    if (isErrorDocument(body) || hasError(events)) {
      return this.#ended(this.#error(body, events).events);
    }
    if (saysNothing(events)) {
      return malformed.events;
    }
    return this.#ended(events);
  }

  #ended(events: readonly ChatEvent[]): readonly ChatEvent[] {
    return hasError(events) ? events : [...events, { type: 'end' }];
  }

  /**
   * An error in a chunk ends the stream, unless the answer had ended well before: some routers send one
   * behind a finish of `length` (OpenRouter, recorded 2025-11), which takes nothing from the answer.
   */
  #error(body: unknown, events: readonly ChatEvent[]): Reading {
    const decoders = [...this.#choices.values()];
    if (decoders.length > 0 && decoders.every((decoder) => decoder.hasNormalFinish)) {
      return { events: events.filter((event) => event.type !== 'error'), isPlain: false };
    }
    const start = events.filter((event) => event.type === 'start');
    const told = events.find((event) => event.type === 'error');
    return { events: [...start, told ?? errorEvent(body)], isPlain: false };
  }

  /** Returns whether every choice is plain. */
  #readChoices(body: JsonObject, events: ChatEvent[], isStream: boolean): boolean {
    this.#start(body, events);
    const choices = body['choices'];
    if (!Array.isArray(choices)) return true;
    let isPlain = true;
    for (const [position, choice] of choices.entries()) {
      if (!isJsonObject(choice)) {
        isPlain = false;
        continue;
      }
      if (!this.#readChoice(choice, position, events, isStream)) isPlain = false;
    }
    this.#tellSources(body, events);
    return isPlain;
  }

  /** Once the first choice has all its text: before its finish, or as soon as they are told after it. */
  #tellSources(body: JsonObject, events: ChatEvent[]): void {
    this.#sources.noteTold(events);
    this.#sources.note(body);
    if (this.#choices.get(0)?.hasNormalFinish !== true) return;
    const finishAt = events.findIndex((event) => event.type === 'finish');
    events.splice(finishAt === -1 ? events.length : finishAt, 0, ...this.#sources.tell());
  }

  #readChoice(
    choice: JsonObject,
    position: number,
    events: ChatEvent[],
    isStream: boolean,
  ): boolean {
    const decoder = this.#decoder(choice['index'], position);
    if (decoder === null) return false;
    const before = events.length;
    const said = saidBy(choice, decoder, isStream);
    let isPlain = said === null ? true : decoder.push(said.message, events) && said.isPlain;
    const raw = finishOf(choice, isStream);
    const fault = faultOf(choice, raw);
    if (fault !== null) {
      events.push(fault);
      return false;
    }
    if (raw !== null && !decoder.finish(raw, events)) isPlain = false;
    decoder.logprobs.tell(choice, events, before);
    return isPlain && typeof choice['index'] === 'number';
  }

  #decoder(value: unknown, position: number): ChoiceDecoder | null {
    const index = typeof value === 'number' ? value : position;
    if (!Number.isInteger(index) || index < 0 || index >= choicesMax) return null;
    const known = this.#choices.get(index);
    if (known !== undefined) return known;
    const made = new ChoiceDecoder(index, () => this.#seed);
    this.#choices.set(index, made);
    return made;
  }

  #start(body: JsonObject, events: ChatEvent[]): void {
    if (this.#hasStarted) return;
    const { id, model, created } = body;
    const hasId = typeof id === 'string' && id !== '';
    const hasModel = typeof model === 'string' && model !== '';
    if (!hasId && !hasModel) return;
    this.#hasStarted = true;
    this.#seed = `${hasId ? id : ''}|${typeof created === 'number' ? created : ''}`;
    events.push({
      type: 'start',
      id: hasId ? id : null,
      model: hasModel ? model : null,
      dialect: dialectName,
    });
  }
}

/** `delta`, or the whole `message` that some servers send in its place (or beside it, with all so far). */
function saidBy(
  choice: JsonObject,
  decoder: ChoiceDecoder,
  isStream: boolean,
): { readonly message: JsonObject; readonly isPlain: boolean } | null {
  const { delta, message } = choice;
  if (!isStream) {
    if (isJsonObject(message)) return { message, isPlain: true };
    return isJsonObject(delta) ? { message: delta, isPlain: false } : null;
  }
  if (isJsonObject(delta)) return { message: delta, isPlain: true };
  return isJsonObject(message) && decoder.isFresh ? { message, isPlain: false } : null;
}

/** An empty word ends a whole reply, but stands in every chunk of servers that fill all fields. */
function finishOf(choice: JsonObject, isStream: boolean): string | null {
  const raw = choice['finish_reason'];
  if (typeof raw !== 'string') return null;
  if (raw !== '') return raw;
  return isStream ? null : 'stop';
}

/** The error that stands in the choice, or that its finish is. */
function faultOf(choice: JsonObject, raw: string | null): ChatEvent | null {
  if (isFilled(choice['error'])) return errorEvent({ error: choice['error'] });
  if (raw === null || readFinish(raw) !== 'error') return null;
  const message = `the provider ended the answer with finish_reason "${raw}"`;
  const code = raw === 'error' ? 'finish_reason_error' : raw;
  return { type: 'error', status: null, body: { error: { message, code } } };
}

function errorEvent(body: unknown): ChatEvent {
  return { type: 'error', status: statedStatus(findError(body)), body };
}

function usageIn(body: JsonObject): ReturnType<typeof readUsage> {
  return readUsage(body['usage']) ?? readUsage(objectAt(body, 'x_groq')?.['usage']);
}

function hasError(events: readonly ChatEvent[]): boolean {
  return events.some((event) => event.type === 'error');
}

function saysNothing(events: readonly ChatEvent[]): boolean {
  return events.every((event) => event.type === 'start' || event.type === 'usage');
}

function hasChoice(body: JsonObject): boolean {
  return Array.isArray(body['choices']) && body['choices'].length > 0;
}
