/** Reads along with a stream: what it said so far, and when it last moved. */
import {
  type ChatEvent,
  type FinishReason,
  isProgress,
  type StreamPart,
} from '../chat/stream-event.ts';
import { type Usage, unknownUsage } from '../chat/usage.ts';

const charactersPerToken = 4;

/** Types beyond these are counted together. */
const unknownTypesMax = 16;

export class StreamTally {
  responseId: string | null = null;
  model: string | null = null;
  usage: Usage = unknownUsage;
  finish: FinishReason | null = null;
  rawFinish: string | null = null;
  hasEnded = false;
  malformedEvents = 0;
  /** How often events of types that nobody knows came, by type; bounded. */
  readonly unknownEvents = new Map<string, number>();
  /** Tokens of text, refusal and reasoning, estimated: a delta counts at least one. */
  contentTokens = 0;
  /** An event came that could be read. */
  hasSpoken = false;
  hasContent = false;
  hasToolCall = false;
  lastProgressMs: number;
  lastActivityMs: number;
  error: { readonly status: number | null; readonly body: unknown } | null = null;
  /** Choices that have said something, and those that have ended. */
  readonly #begun = new Set<number>();
  readonly #finished = new Set<number>();
  #lastBegun = -1;

  constructor(startedMs: number) {
    this.lastProgressMs = startedMs;
    this.lastActivityMs = startedMs;
  }

  /** Every choice that began has had its finish; the first one, which all clients read, in any case. */
  get isFinished(): boolean {
    return this.#finished.has(0) && this.#begun.isSubsetOf(this.#finished);
  }

  get finishedChoices(): number {
    return this.#finished.size;
  }

  /** What `allow_missing_finish` makes of a clean end: the raw word says that it was inferred. */
  inferFinishes(): readonly StreamPart[] {
    const events = [...new Set([0, ...this.#begun])]
      .filter((choice) => !this.#finished.has(choice))
      .map((choice): ChatEvent => ({ type: 'finish', choice, reason: 'stop', raw: null }));
    for (const event of events) this.push(event, this.lastActivityMs);
    return [{ events, frame: null }];
  }

  push(event: ChatEvent, nowMs: number): void {
    this.lastActivityMs = nowMs;
    this.hasSpoken ||= event.type !== 'malformed';
    if (isProgress(event)) this.lastProgressMs = nowMs;
    switch (event.type) {
      case 'start':
        this.responseId ??= event.id;
        this.model = event.model ?? this.model;
        return;
      case 'text':
      case 'refusal':
      case 'reasoning':
        this.#addContent(event.choice, event.text);
        return;
      case 'tool_call_start':
        this.#begin(event.choice);
        this.hasContent = true;
        this.hasToolCall = true;
        return;
      case 'tool_call_arguments':
        this.#addContent(event.choice, event.fragment);
        return;
      case 'finish':
        this.#finished.add(event.choice);
        this.finish = event.reason;
        this.rawFinish = event.raw;
        return;
      case 'usage':
        this.usage = event.usage;
        return;
      case 'malformed':
        this.malformedEvents += 1;
        return;
      case 'error':
        this.error ??= { status: event.status, body: event.body };
        return;
      case 'end':
        this.hasEnded = true;
        return;
      case 'reasoning_end':
        this.#begin(event.choice);
        return;
      case 'tool_call_end':
      case 'citation':
      case 'omitted':
        return;
      case 'activity':
        if (event.unknown !== undefined) this.#noteUnknown(event.unknown);
        return;
    }
  }

  /** The time in which nobody read counts for nobody. */
  skip(idleMs: number): void {
    this.lastProgressMs += idleMs;
    this.lastActivityMs += idleMs;
  }

  #noteUnknown(type: string): void {
    const counts = this.unknownEvents;
    const key = counts.has(type) || counts.size < unknownTypesMax ? type : 'other';
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }

  #addContent(choice: number, text: string): void {
    if (text === '') return;
    this.#begin(choice);
    this.hasContent = true;
    this.contentTokens += Math.max(1, Math.ceil(text.length / charactersPerToken));
  }

  #begin(choice: number): void {
    if (choice === this.#lastBegun) return;
    this.#lastBegun = choice;
    this.#begun.add(choice);
  }
}
