/**
 * Tool calls of one choice, out of deltas that servers number, name and cut in many ways, into calls
 * that come one after another, numbered from 0.
 */
import { append } from '../../base/append.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import { lostEvents } from '../event-payload.ts';
import { decodeToolName } from '../tool-names.ts';
import { JsonProgress } from './json-progress.ts';
import { madeToolCallId } from './tool-call-ids.ts';

/** A reply with more calls than this is no reply. */
const callsMax = 1024;

type Draft = {
  readonly order: number;
  readonly progress: JsonProgress;
  id: string;
  name: string;
  /** Arguments that were not told yet. */
  pending: string;
  /** The number told; -1 before the start. */
  index: number;
  isEnded: boolean;
};

type Delta = {
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
};

export class ToolDeltas {
  readonly #choice: number;
  /** Tells replies apart in the ids made for calls that have none. */
  readonly #idSeed: () => string;
  readonly #calls: Draft[] = [];
  readonly #byId = new Map<string, Draft>();
  readonly #byIndex = new Map<number, Draft>();
  /** The call that may speak: those after it wait until it is whole. */
  #current = 0;
  #told = 0;

  constructor(choice: number, idSeed: () => string) {
    this.#choice = choice;
    this.#idSeed = idSeed;
  }

  get hasCalls(): boolean {
    return this.#told > 0;
  }

  /**
   * Adds what `value`, the element at `position` of a chunk's `tool_calls`, says. Returns whether a
   * client that reads the original element learns the same: else the chunk has to be written anew.
   */
  push(value: unknown, position: number, events: ChatEvent[]): boolean {
    const delta = readDelta(value, position);
    const draft = delta === null ? null : this.#draftFor(delta);
    if (delta === null || draft === null) {
      events.push({ type: 'malformed' });
      return false;
    }
    const isFirst = draft.index === -1 && draft.name === '';
    const isResent = draft.progress.isComplete && delta.id !== '' && delta.name !== '';
    if (draft.name === '') draft.name = delta.name;
    if (!isResent) {
      draft.pending += delta.arguments;
      draft.progress.push(delta.arguments);
    }
    const before = events.length;
    this.#advance(events);
    const isAlone = events.slice(before).every((event) => isOf(event, draft));
    const isTold = draft.index !== -1 && draft.pending === '' && !isResent;
    return isAlone && isTold && isPlain(value, draft, isFirst);
  }

  /** Nothing more comes for the calls so far, or for all when `isLast`. */
  close(events: ChatEvent[], isLast: boolean): void {
    const current = this.#calls[this.#current];
    if (!isLast) {
      if (current?.progress.isComplete) this.#end(current, events);
      return;
    }
    for (const draft of this.#calls.slice(this.#current)) {
      if (draft.name !== '') {
        this.#tell(draft, events);
        this.#end(draft, events);
      } else if (draft.pending.trim() !== '') append(events, lostEvents);
    }
    this.#current = this.#calls.length;
  }

  #draftFor(delta: Delta): Draft | null {
    const byId = delta.id === '' ? undefined : this.#byId.get(delta.id);
    if (byId !== undefined) return byId;
    const byIndex = delta.index === null ? this.#calls.at(-1) : this.#byIndex.get(delta.index);
    if (byIndex !== undefined && !isNewCall(delta, byIndex)) {
      if (byIndex.id === '' && byIndex.index === -1) byIndex.id = delta.id;
      if (delta.id !== '') this.#byId.set(delta.id, byIndex);
      return byIndex;
    }
    if (this.#calls.length >= callsMax) return null;
    return this.#add(delta);
  }

  #add(delta: Delta): Draft {
    const draft: Draft = {
      order: this.#calls.length,
      progress: new JsonProgress(),
      id: delta.id,
      name: '',
      pending: '',
      index: -1,
      isEnded: false,
    };
    this.#calls.push(draft);
    if (delta.id !== '') this.#byId.set(delta.id, draft);
    if (delta.index !== null) this.#byIndex.set(delta.index, draft);
    return draft;
  }

  #advance(events: ChatEvent[]): void {
    for (;;) {
      const draft = this.#calls[this.#current];
      if (draft === undefined || draft.name === '') return;
      this.#tell(draft, events);
      if (this.#current === this.#calls.length - 1 || !draft.progress.isComplete) return;
      this.#end(draft, events);
      this.#current += 1;
    }
  }

  #tell(draft: Draft, events: ChatEvent[]): void {
    const choice = this.#choice;
    if (draft.index === -1) {
      draft.index = this.#told;
      this.#told += 1;
      if (draft.id === '') {
        draft.id = madeToolCallId(`${this.#idSeed()}|${choice}|${draft.order}|${draft.name}`);
      }
      const { index, id } = draft;
      events.push({ type: 'tool_call_start', choice, index, id, name: decodeToolName(draft.name) });
    }
    if (draft.pending === '') return;
    const { index, pending: fragment } = draft;
    draft.pending = '';
    if (draft.isEnded) return;
    events.push({ type: 'tool_call_arguments', choice, index, fragment });
  }

  #end(draft: Draft, events: ChatEvent[]): void {
    if (draft.isEnded || draft.index === -1) return;
    draft.isEnded = true;
    events.push({ type: 'tool_call_end', choice: this.#choice, index: draft.index });
  }
}

/** An unknown id, or none, at a known place: another call only when it is named and the one there could be over. */
function isNewCall(delta: Delta, known: Draft): boolean {
  if (delta.name === '') return false;
  if (delta.id !== '') return known.id !== '' || known.name !== '';
  return known.progress.isComplete && delta.arguments !== '';
}

function readDelta(value: unknown, position: number): Delta | null {
  if (!isJsonObject(value)) return null;
  const { index, id } = value;
  const called = calledIn(value);
  if (called === null) return null;
  const { name } = called;
  return {
    index: typeof index === 'number' ? index : position > 0 ? position : null,
    id: typeof id === 'string' ? id : '',
    name: typeof name === 'string' ? name : '',
    arguments: argumentText(called['arguments'] ?? called['input']),
  };
}

function calledIn(value: JsonObject): JsonObject | null {
  const called = value['function'] ?? value['custom'] ?? {};
  return isJsonObject(called) ? called : null;
}

/** Some servers give the arguments as the object that they stand for. */
function argumentText(value: unknown): string {
  if (typeof value === 'string') return value;
  return isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : '';
}

function isOf(event: ChatEvent, draft: Draft): boolean {
  switch (event.type) {
    case 'tool_call_start':
    case 'tool_call_arguments':
      return event.index === draft.index;
    // The end has no form on the wire.
    case 'tool_call_end':
      return true;
    default:
      return false;
  }
}

/** Whether the element has the form in which this dialect's own vendor writes it. */
function isPlain(value: unknown, draft: Draft, isFirst: boolean): boolean {
  if (!isJsonObject(value) || value['index'] !== draft.index) return false;
  const called = calledIn(value);
  const given = called?.['arguments'] ?? called?.['input'];
  if (given !== undefined && typeof given !== 'string') return false;
  if (isFirst) {
    const hasType = value['type'] === 'function' || value['type'] === 'custom';
    return hasType && value['id'] === draft.id && typeof given === 'string';
  }
  return isAbsent(value['id']) && isAbsent(called?.['name']) && called?.['arguments'] !== null;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
