/**
 * Tool calls one after another, whatever order their pieces came in: the first open call is told as
 * it grows, later ones wait until it has ended.
 */
import type { ChatEvent } from '../chat/stream-event.ts';
import { decodeToolName } from './tool-names.ts';

type Call = {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** The whole arguments, for a call that brings no pieces. */
  readonly whole: string;
  waiting: string;
  hasArguments: boolean;
  isEnded: boolean;
};

/** Characters of later calls that may wait for an earlier one to end. */
const waitingCharactersMax = 16 * 1024 * 1024;

export class ToolCallSequence {
  #count = 0;
  #waitingCharacters = 0;
  readonly #open = new Map<number, Call>();
  /** In the order they began; the first one is being told. */
  readonly #queue: Call[] = [];

  /** `block`: the number under which pieces of this call come. `whole`: its arguments if no piece comes. */
  start(block: number, call: { id: string; name: string; whole: string }): readonly ChatEvent[] {
    const ended = this.end(block);
    const name = decodeToolName(call.name);
    const made = {
      ...call,
      name,
      index: this.#count,
      waiting: '',
      hasArguments: false,
      isEnded: false,
    };
    this.#count += 1;
    this.#open.set(block, made);
    this.#queue.push(made);
    return this.#queue.length === 1 ? [...ended, startOf(made)] : ended;
  }

  /** Null when no call is open under `block`, or too much waits already. */
  add(block: number, fragment: string): readonly ChatEvent[] | null {
    const call = this.#open.get(block);
    if (call === undefined) return null;
    if (fragment === '') return [];
    call.hasArguments = true;
    if (this.#queue[0] === call) return [argumentsOf(call, fragment)];
    this.#waitingCharacters += fragment.length;
    if (this.#waitingCharacters > waitingCharactersMax) return null;
    call.waiting += fragment;
    return [];
  }

  isOpen(block: number): boolean {
    return this.#open.has(block);
  }

  end(block: number): readonly ChatEvent[] {
    const call = this.#open.get(block);
    if (call === undefined) return [];
    this.#open.delete(block);
    call.isEnded = true;
    return this.#tell();
  }

  /** Ends every call, for an answer that stops before it said so. */
  endAll(): readonly ChatEvent[] {
    for (const call of this.#open.values()) call.isEnded = true;
    this.#open.clear();
    return this.#tell();
  }

  #tell(): readonly ChatEvent[] {
    const events: ChatEvent[] = [];
    for (let call = this.#queue[0]; call?.isEnded === true; call = this.#queue[0]) {
      if (!call.hasArguments) events.push(argumentsOf(call, call.whole));
      events.push({ type: 'tool_call_end', choice: 0, index: call.index });
      this.#queue.shift();
      const next = this.#queue[0];
      if (next === undefined) continue;
      events.push(startOf(next));
      if (next.waiting !== '') events.push(argumentsOf(next, next.waiting));
      this.#waitingCharacters -= next.waiting.length;
      next.waiting = '';
    }
    return events;
  }
}

function startOf({ index, id, name }: Call): ChatEvent {
  return { type: 'tool_call_start', choice: 0, index, id, name };
}

function argumentsOf({ index }: Call, fragment: string): ChatEvent {
  return { type: 'tool_call_arguments', choice: 0, index, fragment };
}
