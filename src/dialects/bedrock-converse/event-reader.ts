/**
 * What the events of one answer say, in order. A whole reply is read as the events it would have been
 * streamed as.
 */
import { append } from '../../base/append.ts';
import { isJsonObject, numberAt, objectAt, property, stringAt } from '../../base/json.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import { BlockCitations } from '../block-citations.ts';
import { lostEvents } from '../event-payload.ts';
import { encodeJson } from '../exact-json.ts';
import { ToolCallSequence } from '../tool-call-sequence.ts';
import { unknownEvent } from '../unknown-event.ts';
import { readCitation } from './citations.ts';
import { finishReasonOf } from './finish-reasons.ts';
import { ReasoningBlock } from './reasoning-block.ts';
import { usageOf } from './usage.ts';

/** Work that a client does not see. */
const working: ChatEvent = { type: 'activity', isProgress: true };
const providerTools: ChatEvent = { type: 'omitted', choice: 0, name: 'provider_tools' };
const images: ChatEvent = { type: 'omitted', choice: 0, name: 'images' };
const alive: ChatEvent = { type: 'activity', isProgress: false };
const malformed: readonly ChatEvent[] = [{ type: 'malformed' }];

export class EventReader {
  readonly #model: string | null;
  readonly #calls = new ToolCallSequence();
  readonly #citations = new BlockCitations();
  #reasoning: ReasoningBlock | null = null;
  /** The block that the last text or citation was of. */
  #textBlock: number | null = null;
  #hasStarted = false;
  #hasCalled = false;
  #hasUsage = false;
  #hasStopped = false;
  #hasEnded = false;

  /** `model`: whom the call went to, since no answer names it. */
  constructor(model: string | null) {
    this.#model = model;
  }

  /** What the event `type` says. One of an unknown type is a sign of life. */
  read(type: string, event: unknown): readonly ChatEvent[] {
    if (!isJsonObject(event)) return malformed;
    switch (type) {
      case 'messageStart':
        return this.#start();
      case 'contentBlockStart':
        return this.#started(this.#startBlock(indexOf(event), objectAt(event, 'start')));
      case 'contentBlockDelta':
        return this.#started(this.#addDelta(indexOf(event), objectAt(event, 'delta')));
      case 'contentBlockStop':
        return this.#endBlock(indexOf(event));
      case 'messageStop':
        return this.#started(this.#stop(stringAt(event, 'stopReason') || null));
      case 'metadata':
        return this.#started(this.#tellUsage(objectAt(event, 'usage')));
      default:
        return [unknownEvent(type)];
    }
  }

  /** The body ended: an answer that stopped is whole, with or without its usage. */
  end(): readonly ChatEvent[] {
    return this.#hasStopped ? this.#endOnce() : [];
  }

  #start(): readonly ChatEvent[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    return [{ type: 'start', id: null, model: this.#model }];
  }

  #started(events: readonly ChatEvent[]): readonly ChatEvent[] {
    return this.#hasStarted ? events : [...this.#start(), ...events];
  }

  #startBlock(block: number, start: unknown): readonly ChatEvent[] {
    const call = objectAt(start, 'toolUse');
    if (call === null) {
      return [...this.#endReasoning(), omittedIn(start) ?? working];
    }
    // The provider runs it by itself.
    if (isServerTool(call)) return [...this.#endReasoning(), providerTools];
    const whole = wholeInput(property(call, 'input'));
    if (whole === null) return malformed;
    const id = stringAt(call, 'toolUseId') ?? '';
    const name = stringAt(call, 'name') ?? '';
    // Nobody can run it, and nobody can answer it.
    if (id === '' || name === '') return lostEvents;
    this.#hasCalled = true;
    return [...this.#endReasoning(), ...this.#calls.start(block, { id, name, whole })];
  }

  #addDelta(block: number, delta: unknown): readonly ChatEvent[] {
    const text = stringAt(delta, 'text');
    if (text !== null) {
      const begun = this.#inText(block);
      this.#citations.addText(text);
      const told: readonly ChatEvent[] = text === '' ? [] : [{ type: 'text', choice: 0, text }];
      return text === '' ? begun : [...begun, ...this.#endReasoning(), ...told];
    }
    const citation = objectAt(delta, 'citation');
    if (citation !== null) {
      return [...this.#inText(block), working, ...this.#citations.add(readCitation(citation))];
    }
    const call = objectAt(delta, 'toolUse');
    if (call !== null) return this.#addArguments(block, stringAt(call, 'input') ?? '');
    const reasoning = objectAt(delta, 'reasoningContent');
    if (reasoning !== null) return this.#addReasoning(block, reasoning);
    return delta === null ? malformed : [omittedIn(delta) ?? working];
  }

  /** Citations are of the text of their block. */
  #inText(block: number): readonly ChatEvent[] {
    if (this.#textBlock === block) return [];
    this.#textBlock = block;
    return this.#citations.begin();
  }

  #addArguments(block: number, fragment: string): readonly ChatEvent[] {
    const events = this.#calls.add(block, fragment);
    if (events !== null) return events;
    // Arguments of the provider's own tool; of a call of ours they are lost.
    return this.#calls.isOpen(block) ? lostEvents : [working];
  }

  #addReasoning(block: number, delta: unknown): readonly ChatEvent[] {
    const events: ChatEvent[] = [];
    if (this.#reasoning !== null && this.#reasoning.block !== block) {
      append(events, this.#endReasoning());
    }
    this.#reasoning ??= new ReasoningBlock(block);
    append(events, this.#reasoning.add(delta));
    return events.length > 0 ? events : [working];
  }

  #endReasoning(): readonly ChatEvent[] {
    const events = this.#reasoning?.end() ?? [];
    this.#reasoning = null;
    return events;
  }

  #endBlock(block: number): readonly ChatEvent[] {
    const ended = this.#reasoning?.block === block ? this.#endReasoning() : [];
    return [...ended, ...this.#citations.end(), ...this.#calls.end(block)];
  }

  /** Some models call it the end of their turn also when they wait for the results of calls. */
  #stop(word: string | null): readonly ChatEvent[] {
    if (word === null) return malformed;
    this.#hasStopped = true;
    const known = finishReasonOf(word);
    const reason = known === 'stop' && this.#hasCalled ? 'tool_calls' : known;
    return [
      ...this.#endReasoning(),
      ...this.#citations.end(),
      ...this.#calls.endAll(),
      { type: 'finish', choice: 0, reason, raw: word },
      ...(this.#hasUsage ? this.#endOnce() : []),
    ];
  }

  /** Follows the stop, as a rule: only then is everything said. */
  #tellUsage(usage: unknown): readonly ChatEvent[] {
    if (usage === null) return [alive];
    this.#hasUsage = true;
    const told: ChatEvent = { type: 'usage', usage: usageOf(usage) };
    return this.#hasStopped ? [told, ...this.#endOnce()] : [told];
  }

  #endOnce(): readonly ChatEvent[] {
    if (this.#hasEnded) return [];
    this.#hasEnded = true;
    return [{ type: 'end' }];
  }
}

function indexOf(event: unknown): number {
  return numberAt(event, 'contentBlockIndex') ?? 0;
}

/** What no other dialect's client can be shown of a block; null = nothing that is known. */
function omittedIn(block: unknown): ChatEvent | null {
  if (objectAt(block, 'image') !== null) return images;
  return objectAt(block, 'toolResult') === null ? null : providerTools;
}

function isServerTool(call: unknown): boolean {
  return stringAt(call, 'type')?.startsWith('server_tool') ?? false;
}

/** A call that brings its input at once; `{}` otherwise. Null when it cannot be written as text. */
function wholeInput(input: unknown): string | null {
  if (!isJsonObject(input)) return '{}';
  const text = encodeJson(input);
  return text.ok ? text.value : null;
}
