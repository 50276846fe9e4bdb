/**
 * What the events of one answer say, in order. A whole reply is read as the events it would have
 * been streamed as.
 */
import { append } from '../../base/append.ts';
import { arrayAt, isJsonObject, numberAt, objectAt, property, stringAt } from '../../base/json.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import { BlockCitations } from '../block-citations.ts';
import { lostEvents } from '../event-payload.ts';
import { encodeJson } from '../exact-json.ts';
import { ToolCallSequence } from '../tool-call-sequence.ts';
import { unknownEvent } from '../unknown-event.ts';
import { readCitation } from './citations.ts';
import { finishReasonOf } from './finish-reasons.ts';
import { UsageTally } from './usage-tally.ts';
import { dialectName } from './wire.ts';

/** `isFrameKept`: whether the event's bytes may go on to a client of this dialect as they are. */
export type Reading = { readonly events: readonly ChatEvent[]; readonly isFrameKept: boolean };

/** Work that a client of another dialect does not see. */
const working: ChatEvent = { type: 'activity', isProgress: true };
const providerTools: ChatEvent = { type: 'omitted', choice: 0, name: 'provider_tools' };
const alive: ChatEvent = { type: 'activity', isProgress: false };
const malformed: Reading = { events: [{ type: 'malformed' }], isFrameKept: false };

/** What a second, different `message_start` in mid-answer is told as: what was sent cannot be taken back. */
const restarted = {
  type: 'error',
  error: { type: 'stream_restarted', message: 'The provider began its answer again.' },
};

export class MessageReader {
  #messageId: string | null = null;
  #isStarted = false;
  #hasContent = false;
  #hasCalled = false;
  #isRestarted = false;
  #thinking: { readonly block: number; signature: string | null } | null = null;
  readonly #calls = new ToolCallSequence();
  readonly #citations = new BlockCitations();
  readonly #usage = new UsageTally();

  read(event: unknown): Reading {
    if (this.#isRestarted) return dropped();
    const type = stringAt(event, 'type');
    switch (type) {
      case 'message_start':
        return this.#startMessage(objectAt(event, 'message'));
      case 'content_block_start':
        return this.#startBlock(numberAt(event, 'index') ?? 0, objectAt(event, 'content_block'));
      case 'content_block_delta':
        return this.#addDelta(numberAt(event, 'index') ?? 0, objectAt(event, 'delta'));
      case 'content_block_stop':
        return kept(this.#endBlock(numberAt(event, 'index') ?? 0));
      case 'message_delta':
        return kept(this.#endMessage(event));
      case 'message_stop':
        return kept([...this.#endOpen(), { type: 'end' }]);
      case 'error':
        return { events: [errorOf(event)], isFrameKept: false };
      case null:
        return property(event, 'error') === undefined
          ? malformed
          : { events: [errorOf(event)], isFrameKept: false };
      case 'ping':
        return kept([alive]);
      default:
        return kept([unknownEvent(type)]);
    }
  }

  #startMessage(message: unknown): Reading {
    const id = stringAt(message, 'id') || null;
    if (this.#isStarted && id === this.#messageId) return dropped();
    if (this.#isStarted && this.#hasContent) {
      this.#isRestarted = true;
      return { events: [{ type: 'error', status: null, body: restarted }], isFrameKept: false };
    }
    const isFirst = !this.#isStarted;
    this.#isStarted = true;
    this.#messageId = id;
    this.#usage.update(objectAt(message, 'usage'));
    const start: ChatEvent = { type: 'start', id, model: stringAt(message, 'model') || null };
    return { events: [start, this.#usageEvent()], isFrameKept: isFirst };
  }

  #startBlock(index: number, block: unknown): Reading {
    const ended = [...this.#endThinking(), ...this.#citations.begin()];
    const events = this.#openBlock(index, block);
    if (events === null) return { ...malformed, events: [...ended, ...malformed.events] };
    return kept([...ended, ...events]);
  }

  #openBlock(index: number, block: unknown): readonly ChatEvent[] | null {
    switch (stringAt(block, 'type')) {
      case null:
        return null;
      case 'text':
        return [
          ...this.#text(stringAt(block, 'text') ?? ''),
          ...arrayAt(block, 'citations').flatMap((citation) => this.#cite(citation)),
        ];
      case 'thinking':
        this.#thinking = { block: index, signature: stringAt(block, 'signature') || null };
        return this.#reasoning(stringAt(block, 'thinking') ?? '');
      case 'redacted_thinking': {
        this.#hasContent = true;
        const redacted = stringAt(block, 'data') ?? '';
        return [
          { type: 'reasoning_end', choice: 0, signature: null, redacted, dialect: dialectName },
        ];
      }
      case 'tool_use': {
        this.#hasContent = true;
        const id = stringAt(block, 'id') ?? '';
        const name = stringAt(block, 'name') ?? '';
        const whole = wholeInput(property(block, 'input'));
        if (whole === null) return null;
        // Nobody can run it, and nobody can answer it.
        if (id === '' || name === '') return lostEvents;
        this.#hasCalled = true;
        return this.#calls.start(index, { id, name, whole });
      }
      case 'fallback': {
        const model = stringAt(objectAt(block, 'to'), 'model');
        return model === null
          ? [working]
          : [{ type: 'start', id: this.#messageId, model }, working];
      }
      default:
        return isProviderTool(block) ? [providerTools] : [working];
    }
  }

  #addDelta(index: number, delta: unknown): Reading {
    switch (stringAt(delta, 'type')) {
      case null:
        return malformed;
      case 'text_delta':
        return kept(this.#text(stringAt(delta, 'text') ?? ''));
      case 'thinking_delta':
        this.#thinking ??= { block: index, signature: null };
        return kept(this.#reasoning(stringAt(delta, 'thinking') ?? ''));
      case 'signature_delta':
        this.#thinking ??= { block: index, signature: null };
        this.#thinking.signature = stringAt(delta, 'signature');
        return kept([working]);
      case 'citations_delta':
        return kept([working, ...this.#cite(property(delta, 'citation'))]);
      case 'input_json_delta':
        return this.#addArguments(index, stringAt(delta, 'partial_json') ?? '');
      default:
        return kept([working]);
    }
  }

  #addArguments(index: number, fragment: string): Reading {
    const events = this.#calls.add(index, fragment);
    if (events !== null) return kept(events);
    // Arguments of the provider's own tool; of a call of ours they are lost.
    return this.#calls.isOpen(index) ? { events: lostEvents, isFrameKept: false } : kept([working]);
  }

  #endBlock(index: number): readonly ChatEvent[] {
    const ended = this.#thinking?.block === index ? this.#endThinking() : [];
    return [...ended, ...this.#citations.end(), ...this.#calls.end(index)];
  }

  #endOpen(): readonly ChatEvent[] {
    return [...this.#endThinking(), ...this.#citations.end(), ...this.#calls.endAll()];
  }

  #cite(citation: unknown): readonly ChatEvent[] {
    return this.#citations.add(readCitation(citation));
  }

  /** Some servers of this dialect call it the end of their turn also when they wait for the results of calls. */
  #endMessage(event: unknown): readonly ChatEvent[] {
    const events: ChatEvent[] = [];
    const word = stringAt(objectAt(event, 'delta'), 'stop_reason') || null;
    if (word !== null) {
      append(events, this.#endOpen());
      const known = finishReasonOf(word);
      const reason = known === 'stop' && this.#hasCalled ? 'tool_calls' : known;
      events.push({ type: 'finish', choice: 0, reason, raw: word });
    }
    const usage = objectAt(event, 'usage');
    if (usage !== null) {
      this.#usage.update(usage);
      events.push(this.#usageEvent());
    }
    return events;
  }

  #text(text: string): readonly ChatEvent[] {
    if (text === '') return [];
    this.#hasContent = true;
    this.#citations.addText(text);
    return [{ type: 'text', choice: 0, text }];
  }

  #reasoning(text: string): readonly ChatEvent[] {
    if (text === '') return [];
    this.#hasContent = true;
    return [{ type: 'reasoning', choice: 0, text }];
  }

  #endThinking(): readonly ChatEvent[] {
    if (this.#thinking === null) return [];
    const { signature } = this.#thinking;
    this.#thinking = null;
    this.#hasContent = true;
    return [{ type: 'reasoning_end', choice: 0, signature, redacted: null, dialect: dialectName }];
  }

  #usageEvent(): ChatEvent {
    return { type: 'usage', usage: this.#usage.usage() };
  }
}

/** A call of a tool that the service runs by itself, or what came of it. */
function isProviderTool(block: unknown): boolean {
  return /_tool_(use|result)$/.test(stringAt(block, 'type') ?? '');
}

function kept(events: readonly ChatEvent[]): Reading {
  return { events, isFrameKept: true };
}

function dropped(): Reading {
  return { events: [alive], isFrameKept: false };
}

function errorOf(event: unknown): ChatEvent {
  return { type: 'error', status: null, body: event };
}

/** A call that brings its input at once; `{}` otherwise. Null when it cannot be written as text. */
function wholeInput(input: unknown): string | null {
  if (!isJsonObject(input)) return '{}';
  const text = encodeJson(input);
  return text.ok ? text.value : null;
}
