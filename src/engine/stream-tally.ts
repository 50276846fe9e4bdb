/** Reads along with a stream: what it said so far, and when it last moved. */
import { type ChatEvent, type FinishReason, isProgress } from '../chat/stream-event.ts';
import { type Usage, unknownUsage } from '../chat/usage.ts';

const charactersPerToken = 4;

export class StreamTally {
  responseId: string | null = null;
  model: string | null = null;
  usage: Usage = unknownUsage;
  finish: FinishReason | null = null;
  rawFinish: string | null = null;
  hasEnded = false;
  malformedEvents = 0;
  /** Tokens of text, refusal and reasoning, estimated: a delta counts at least one. */
  contentTokens = 0;
  /** An event came that could be read. */
  hasSpoken = false;
  hasContent = false;
  hasToolCall = false;
  lastProgressMs: number;
  lastActivityMs: number;
  error: { readonly status: number | null; readonly body: unknown } | null = null;

  constructor(startedMs: number) {
    this.lastProgressMs = startedMs;
    this.lastActivityMs = startedMs;
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
        this.#addContent(event.text);
        return;
      case 'tool_call_start':
        this.hasContent = true;
        this.hasToolCall = true;
        return;
      case 'tool_call_arguments':
        this.#addContent(event.fragment);
        return;
      case 'finish':
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
      case 'tool_call_end':
      case 'activity':
        return;
    }
  }

  /** The time in which nobody read counts for nobody. */
  skip(idleMs: number): void {
    this.lastProgressMs += idleMs;
    this.lastActivityMs += idleMs;
  }

  #addContent(text: string): void {
    if (text === '') return;
    this.hasContent = true;
    this.contentTokens += Math.max(1, Math.ceil(text.length / charactersPerToken));
  }
}
