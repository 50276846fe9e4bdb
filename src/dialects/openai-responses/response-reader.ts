/**
 * What the events of one answer say, in order. A whole reply is read as the events it would have
 * been streamed as.
 */
import { append } from '../../base/append.ts';
import { arrayAt, numberAt, objectAt, property, stringAt } from '../../base/json.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import { unknownEvent } from '../unknown-event.ts';
import { isTelling } from './error-rules.ts';
import { finishOf } from './finish-reasons.ts';
import { logprobsAt, OutputItems, working } from './output-items.ts';
import { readUsage } from './usage.ts';

/** `isFrameKept`: whether the event's bytes may go on to a client of this dialect as they are. */
export type Reading = { readonly events: readonly ChatEvent[]; readonly isFrameKept: boolean };

const alive: ChatEvent = { type: 'activity', isProgress: false };
const silent: Reading = { events: [alive], isFrameKept: false };
const malformed: Reading = { events: [{ type: 'malformed' }], isFrameKept: false };

/** An answer with more items, or more parts in one, is no answer. */
const placesMax = 4096;

export class ResponseReader {
  readonly #items = new OutputItems();
  #hasStarted = false;
  #isOver = false;
  /** The item that the last event was about, for servers that leave the place out. */
  #index = 0;
  /** An error whose words say nothing here: the failed response that follows may say more. */
  #error: unknown = null;

  read(event: unknown): Reading {
    if (this.#isOver) return silent;
    const type = stringAt(event, 'type');
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return kept(this.#start(objectAt(event, 'response')));
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.readResponse(objectAt(event, 'response'), event);
      case 'error':
        return this.#holdError(event);
      case null: {
        const isError = (property(event, 'error') ?? null) !== null;
        return isError ? this.#holdError(event) : malformed;
      }
      default:
        return this.#readItemEvent(type, event);
    }
  }

  /** The end of a stream, or all of a whole reply. `document` is what holds the response. */
  readResponse(response: unknown, document: unknown): Reading {
    const isFailed = stringAt(response, 'status') === 'failed';
    const isNamedFailed = stringAt(document, 'type') === 'response.failed';
    const events = [...this.#start(response)];
    if (this.#items.isEmpty) append(events, this.#readOutput(response));
    append(events, this.#items.endAll());
    const usage = readUsage(objectAt(response, 'usage'));
    if (usage !== null) events.push({ type: 'usage', usage });
    if (isFailed || isNamedFailed) return this.#fail(events, response, document);
    const finish = finishOf(response, this.#items.hasCalls) ?? finishByName(document);
    if (finish === null) return { events: [...events, { type: 'malformed' }], isFrameKept: false };
    this.#isOver = true;
    events.push({ type: 'finish', choice: 0, ...finish }, { type: 'end' });
    return kept(events);
  }

  /** The body ended: an error that waited for more words is told. */
  end(): readonly ChatEvent[] {
    if (this.#error === null || this.#isOver) return [];
    this.#isOver = true;
    return [errorOf(this.#error)];
  }

  #readItemEvent(type: string, event: unknown): Reading {
    const index = placeAt(event, 'output_index') ?? this.#index;
    const part = placeAt(event, 'content_index') ?? placeAt(event, 'summary_index') ?? 0;
    if (index >= placesMax || part >= placesMax) return malformed;
    this.#index = index;
    const events = this.#itemEvents(type, event, index, part);
    return kept(events ?? [workOf(type)]);
  }

  /** Null: it tells of nothing that has a place elsewhere. */
  #itemEvents(
    type: string,
    event: unknown,
    index: number,
    part: number,
  ): readonly ChatEvent[] | null {
    const items = this.#items;
    const delta = stringAt(event, 'delta') ?? '';
    switch (type.replace(/^response\./, '')) {
      case 'output_item.added':
        return items.begin(index, objectAt(event, 'item'));
      case 'output_item.done':
        return items.end(index, objectAt(event, 'item'));
      case 'content_part.added':
      case 'content_part.done':
        return items.part(index, part, objectAt(event, 'part'));
      case 'output_text.delta':
        return items.text({ index, part, kind: 'text' }, delta, logprobsAt(event));
      case 'output_text.done':
        return items.wholeText(
          { index, part, kind: 'text' },
          stringAt(event, 'text') ?? '',
          logprobsAt(event),
        );
      case 'output_text.annotation.added':
        return this.#annotation(index, part, event);
      case 'refusal.delta':
        return items.text({ index, part, kind: 'refusal' }, delta);
      case 'refusal.done':
        return items.wholeText({ index, part, kind: 'refusal' }, stringAt(event, 'refusal') ?? '');
      case 'function_call_arguments.delta':
      case 'custom_tool_call_input.delta':
        return items.arguments(index, delta);
      case 'function_call_arguments.done':
        return items.wholeArguments(index, stringAt(event, 'arguments') ?? '');
      case 'custom_tool_call_input.done':
        return items.wholeArguments(index, stringAt(event, 'input') ?? '');
      case 'reasoning_summary_text.delta':
        return items.reasoning(index, 'summary', part, delta);
      case 'reasoning_summary_text.done':
        return items.wholeReasoning(index, 'summary', part, stringAt(event, 'text') ?? '');
      case 'reasoning_text.delta':
        return items.reasoning(index, 'content', part, delta);
      case 'reasoning_text.done':
        return items.wholeReasoning(index, 'content', part, stringAt(event, 'text') ?? '');
      default:
        return null;
    }
  }

  #annotation(index: number, part: number, event: unknown): readonly ChatEvent[] | null {
    const given = objectAt(event, 'annotation');
    const place = placeAt(event, 'annotation_index');
    return given === null ? null : this.#items.annotation(index, part, place, given);
  }

  #start(response: unknown): readonly ChatEvent[] {
    const id = stringAt(response, 'id') || null;
    const model = stringAt(response, 'model') || null;
    if (this.#hasStarted || (id === null && model === null)) return [];
    this.#hasStarted = true;
    return [{ type: 'start', id, model }];
  }

  /** Some proxies send no events but the last, and some last events hold nothing. */
  #readOutput(response: unknown): readonly ChatEvent[] {
    const events: ChatEvent[] = [];
    for (const [index, item] of arrayAt(response, 'output').slice(0, placesMax).entries()) {
      append(events, this.#items.end(index, item));
    }
    return events;
  }

  #holdError(event: unknown): Reading {
    if (!isTelling(event)) {
      this.#error = event;
      return silent;
    }
    this.#isOver = true;
    return { events: [errorOf(event)], isFrameKept: false };
  }

  /** The failed response decides that it is over; an error event before it may be all that says why. */
  #fail(before: readonly ChatEvent[], response: unknown, document: unknown): Reading {
    this.#isOver = true;
    const isExplained = objectAt(response, 'error') !== null;
    const cause = isExplained || this.#error === null ? document : this.#error;
    return { events: [...before, errorOf(cause)], isFrameKept: false };
  }
}

function kept(events: readonly ChatEvent[]): Reading {
  return { events: events.length === 0 ? [alive] : events, isFrameKept: true };
}

function errorOf(body: unknown): ChatEvent {
  return { type: 'error', status: null, body };
}

/** A whole number from 0; null where there is none. Out of range is as good as too large. */
function placeAt(event: unknown, name: string): number | null {
  const place = numberAt(event, name);
  if (place === null) return null;
  return Number.isInteger(place) && place >= 0 ? place : placesMax;
}

/**
 * The provider's own tools (`response.web_search_call.searching`), and what is said about a text, are
 * work; a part of reasoning that opens or closes is told by its text.
 */
function workOf(type: string): ChatEvent {
  if (/_call(_|\.)|annotation|mcp_list_tools|partial_image|\.delta$/.test(type)) return working;
  return /^(response\.)?reasoning_\w+\.(added|done)$|^keepalive$/.test(type)
    ? alive
    : unknownEvent(type);
}

/** A last event whose response does not say how it ended. */
function finishByName(document: unknown): ReturnType<typeof finishOf> {
  const name = stringAt(document, 'type')?.replace(/^response\./, '');
  return name === 'incomplete' ? finishOf({ status: 'incomplete' }, false) : null;
}
