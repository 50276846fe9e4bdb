/** One choice of an answer, whole or in deltas, into events. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { movedCitation } from '../../chat/citation.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import { TextOffsets } from '../text-offsets.ts';
import { readAnnotations } from './annotations.ts';
import { readFinish, saysToolCalls } from './finish-reasons.ts';
import { ChoiceLogprobs } from './logprobs.ts';
import { reasoningDetailText, thinkingText } from './reasoning-text.ts';
import { type ThinkPiece, ThinkTags } from './think-tags.ts';
import { ToolDeltas } from './tool-deltas.ts';

export class ChoiceDecoder {
  readonly #choice: number;
  readonly #tools: ToolDeltas;
  readonly #tags = new ThinkTags();
  readonly logprobs = new ChoiceLogprobs();
  /** The text as it was written, which annotations count in, and how much of it was told as text. */
  readonly #offsets = new TextOffsets();
  #told = 0;
  #isReasoning = false;
  #hasSpoken = false;
  #finish: 'none' | 'normal' | 'error' = 'none';

  constructor(choice: number, idSeed: () => string) {
    this.#choice = choice;
    this.#tools = new ToolDeltas(choice, idSeed);
  }

  /** Whether nothing was said yet. */
  get isFresh(): boolean {
    return !this.#hasSpoken;
  }

  get hasNormalFinish(): boolean {
    return this.#finish === 'normal';
  }

  /** Adds the events of a delta or a whole message; returns whether a client may read it as it is. */
  push(delta: JsonObject, events: ChatEvent[]): boolean {
    const before = events.length;
    const { content } = delta;
    let isPlain = this.#pushReasoning(delta, events);
    if (typeof content === 'string') this.pushText(content, events);
    else if (Array.isArray(content)) {
      isPlain = false;
      for (const part of content) this.#pushPart(part, events);
    } else if (content !== undefined && content !== null) isPlain = false;
    if (typeof delta['refusal'] === 'string') this.#pushRefusal(delta['refusal'], events);
    if (!this.#pushTools(delta, events)) isPlain = false;
    this.#pushAnnotations(delta, events);
    const choice = this.#choice;
    if (isJsonObject(delta['audio'])) events.push({ type: 'omitted', choice, name: 'audio' });
    // OpenRouter's place for what a model drew.
    const { images } = delta;
    if (Array.isArray(images) && images.length > 0) {
      events.push({ type: 'omitted', choice, name: 'images' });
    }
    if (events.length > before) this.#hasSpoken = true;
    return isPlain;
  }

  /** Ends what is open and tells the finish; returns whether a client may read `raw` as it is. */
  finish(raw: string, events: ChatEvent[]): boolean {
    this.#tell(this.#tags.end(), events);
    this.#endReasoning(events);
    const before = events.length;
    this.#tools.close(events, true);
    const hadWaiting = events.slice(before).some((event) => event.type !== 'tool_call_end');
    const choice = this.#choice;
    let reason = readFinish(raw);
    const isCut = reason === 'length' || reason === 'content_filter' || reason === 'error';
    if (this.#tools.hasCalls && !isCut) reason = 'tool_calls';
    this.#finish = reason === 'error' ? 'error' : 'normal';
    events.push({ type: 'finish', choice, reason, raw });
    if (hadWaiting) return false;
    return reason !== 'tool_calls' || saysToolCalls(raw);
  }

  #pushAnnotations(delta: JsonObject, events: ChatEvent[]): void {
    // They count all that was written; what was thought at its beginning is told apart.
    const apart = this.#offsets.length - this.#told;
    const text = { offsets: this.#offsets, from: 0 };
    for (const event of readAnnotations(delta, this.#choice, text)) {
      if (event.type !== 'citation' || apart === 0) events.push(event);
      else events.push({ ...event, citation: movedCitation(event.citation, -apart) });
    }
  }

  #pushReasoning(delta: JsonObject, events: ChatEvent[]): boolean {
    const given = delta['reasoning_content'] ?? delta['reasoning'];
    if (given !== undefined && given !== null) {
      if (typeof given !== 'string') return false;
      if (given !== '') this.#tags.settle();
      this.#reason(given, events);
      if (given !== '') return true;
    }
    const details = delta['reasoning_details'];
    if (!Array.isArray(details)) return true;
    if (details.length > 0) this.#tags.settle();
    this.#reason(reasoningDetailText(details), events);
    return true;
  }

  #pushPart(part: unknown, events: ChatEvent[]): void {
    if (!isJsonObject(part)) return;
    if (part['type'] === 'thinking') {
      this.#tags.settle();
      this.#reason(thinkingText(part['thinking']), events);
    } else if (typeof part['text'] === 'string') this.pushText(part['text'], events);
    else if (typeof part['refusal'] === 'string') this.#pushRefusal(part['refusal'], events);
    else if (part['type'] === 'image_url') {
      events.push({ type: 'omitted', choice: this.#choice, name: 'images' });
    }
  }

  #pushTools(delta: JsonObject, events: ChatEvent[]): boolean {
    let isPlain = true;
    const calls = delta['tool_calls'];
    if (Array.isArray(calls)) {
      if (calls.length > 0) {
        this.#tell(this.#tags.end(), events);
        this.#endReasoning(events);
      }
      for (const [position, call] of calls.entries()) {
        if (!this.#tools.push(call, position, events)) isPlain = false;
      }
    } else if (calls !== undefined && calls !== null) isPlain = false;
    const legacy = delta['function_call'];
    if (isJsonObject(legacy) && isFilledCall(legacy)) {
      this.#endReasoning(events);
      this.#tools.push({ index: 0, function: legacy }, 0, events);
    }
    return isPlain;
  }

  /** A delta of plain text. */
  pushText(text: string, events: ChatEvent[]): void {
    if (text === '') return;
    this.#hasSpoken = true;
    this.#offsets.push(text);
    this.#tell(this.#tags.push(text), events);
  }

  #tell(pieces: readonly ThinkPiece[], events: ChatEvent[]): void {
    for (const { type, text } of pieces) {
      if (type === 'reasoning') {
        this.#reason(text, events);
        continue;
      }
      this.#endReasoning(events);
      this.#tools.close(events, false);
      this.#told += text.length;
      events.push({ type, choice: this.#choice, text });
    }
  }

  #pushRefusal(text: string, events: ChatEvent[]): void {
    if (text === '') return;
    this.#endReasoning(events);
    this.#tools.close(events, false);
    events.push({ type: 'refusal', choice: this.#choice, text });
  }

  #reason(text: string, events: ChatEvent[]): void {
    if (text === '') return;
    this.#tools.close(events, false);
    this.#isReasoning = true;
    events.push({ type: 'reasoning', choice: this.#choice, text });
  }

  #endReasoning(events: ChatEvent[]): void {
    if (!this.#isReasoning) return;
    this.#isReasoning = false;
    events.push({
      type: 'reasoning_end',
      choice: this.#choice,
      signature: null,
      redacted: null,
    });
  }
}

/** Some servers fill the fields they do not use: a call without a name and arguments is none. */
function isFilledCall(call: JsonObject): boolean {
  return (call['name'] ?? '') !== '' || (call['arguments'] ?? '') !== '';
}
