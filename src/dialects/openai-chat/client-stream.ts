/** A stream for a client of this dialect: frames of the dialect as they are, everything else as chunks of our own. */
import type { JsonObject } from '../../base/json.ts';
import type { Citation } from '../../chat/citation.ts';
import {
  type ChatEvent,
  type FinishReason,
  isProgress,
  type StreamPart,
} from '../../chat/stream-event.ts';
import { type Usage, unknownUsage } from '../../chat/usage.ts';
import type { RequestFailure } from '../../failure/request-failure.ts';
import type { ClientStreamEncoder, Joint, StreamEncoderOptions } from '../dialect.ts';
import { jointComment } from '../joint-comment.ts';
import { TextOffsets } from '../text-offsets.ts';
import { writeAnnotation } from './annotations.ts';
import { encodeStreamError } from './client-error.ts';
import { completionIdOf } from './completion-id.ts';
import { writeFinish } from './finish-reasons.ts';
import { logprobsOf } from './logprobs.ts';
import { writeUsage } from './usage.ts';
import { dialectName, type WireDelta } from './wire.ts';

export function streamEncoder(options: StreamEncoderOptions): ClientStreamEncoder {
  const writer = new ChunkWriter(options);
  return {
    push: (part) => writer.push(part),
    join: (joint) => writer.join(joint),
    fail: (failure) => writer.fail(failure),
  };
}

type ChoiceState = {
  hasRole: boolean;
  /** The finish that is to be written; a later one replaces it until then. */
  pending: { readonly reason: FinishReason; readonly raw: string | null } | null;
  hasFinished: boolean;
  /** The index of the open tool call whose arguments have not begun: its text must not stay empty. */
  emptyCall: number | null;
  /** What the client was told of its text, which annotations count in. */
  readonly offsets: TextOffsets;
};

const doneFrame = 'data: [DONE]\n\n';

class ChunkWriter {
  readonly #options: StreamEncoderOptions;
  readonly #choices = new Map<number, ChoiceState>();
  #id: string | null = null;
  #model: string | null = null;
  #created: number | null = null;
  /** The first frame passed, from which chunks of our own take their date. */
  #firstFrame: Buffer | null = null;
  #hasStarted = false;
  #usage: Usage = unknownUsage;
  #hasToldUsage = false;
  /** Another answer goes on in this stream: its frames carry another id. */
  #isContinued = false;
  #isOver = false;

  constructor(options: StreamEncoderOptions) {
    this.#options = options;
  }

  push(part: StreamPart): Buffer | string {
    if (this.#isOver) return '';
    const { events, frame } = part;
    for (const event of events) this.#note(event);
    const isOwnFrame = frame !== null && frame.dialect === dialectName && !this.#isContinued;
    if (isOwnFrame && this.#mayPass(events)) return this.#pass(events, frame.bytes);
    let text = '';
    for (const event of events) text += this.#write(event);
    return text;
  }

  join(joint: Joint): string {
    this.#isContinued = true;
    // That was the first part's; some services tell it with every chunk.
    this.#hasToldUsage = false;
    return jointComment(joint);
  }

  fail(failure: RequestFailure): string {
    if (this.#isOver) return '';
    this.#isOver = true;
    return encodeStreamError(failure);
  }

  #note(event: ChatEvent): void {
    if (event.type === 'usage') this.#usage = event.usage;
    if (event.type === 'text') this.#choice(event.choice).offsets.push(event.text);
    if (event.type !== 'start') return;
    if (this.#hasStarted) this.#isContinued = true;
    else if (event.id !== null) this.#id ??= completionIdOf(event.id, event.dialect);
    this.#hasStarted = true;
    this.#model = event.model ?? this.#model;
  }

  /** A frame that would tell a second finish is written anew, without it. */
  #mayPass(events: readonly ChatEvent[]): boolean {
    return !events.some(
      (event) => event.type === 'finish' && this.#choice(event.choice).hasFinished,
    );
  }

  #pass(events: readonly ChatEvent[], bytes: Buffer): Buffer | string {
    if (events.some((event) => event.type === 'end')) return this.#end(bytes);
    if (this.#isUsageAlone(events)) {
      if (!this.#options.includeUsage) return '';
      this.#hasToldUsage = true;
      return joined(this.#writeFinishes(), bytes);
    }
    const before = this.#writeFinishes();
    this.#firstFrame ??= bytes;
    for (const event of events) {
      if (event.type === 'usage') this.#hasToldUsage = true;
      if ('choice' in event) this.#passed(event);
    }
    // A frame without content opens the stream: it holds the role.
    if (!events.some(isProgress)) this.#choice(0).hasRole = true;
    return joined(before, bytes);
  }

  #passed(event: Extract<ChatEvent, { readonly choice: number }>): void {
    const choice = this.#choice(event.choice);
    choice.hasRole = true;
    if (event.type === 'finish') choice.hasFinished = true;
    if (event.type === 'tool_call_start') choice.emptyCall = event.index;
    if (event.type === 'tool_call_arguments') choice.emptyCall = null;
  }

  #isUsageAlone(events: readonly ChatEvent[]): boolean {
    return (
      events.some((event) => event.type === 'usage') &&
      events.every((event) => event.type === 'usage' || event.type === 'start')
    );
  }

  #write(event: ChatEvent): string {
    switch (event.type) {
      case 'text':
        return this.#delta(event.choice, { content: event.text }, this.#logprobs(event));
      case 'refusal':
        return this.#delta(event.choice, { refusal: event.text }, this.#logprobs(event));
      case 'reasoning':
        return this.#delta(event.choice, { reasoning_content: event.text });
      case 'tool_call_start':
      case 'tool_call_arguments':
      case 'tool_call_end':
        return this.#writeTool(event);
      case 'finish': {
        const choice = this.#choice(event.choice);
        if (!choice.hasFinished) choice.pending = { reason: event.reason, raw: event.raw };
        return '';
      }
      case 'end':
        return String(this.#end(null));
      case 'citation':
        return this.#annotation(event.choice, event.citation);
      case 'omitted':
        this.#options.onOmitted?.(event.name);
        return '';
      case 'start':
      case 'usage':
      case 'reasoning_end':
      case 'activity':
      case 'error':
      case 'malformed':
        return '';
    }
  }

  #writeTool(event: Extract<ChatEvent, { readonly index: number }>): string {
    const choice = this.#choice(event.choice);
    const { index } = event;
    switch (event.type) {
      case 'tool_call_start': {
        choice.emptyCall = index;
        const { id, name } = event;
        const called = { index, id, type: 'function' as const, function: { name, arguments: '' } };
        return this.#delta(event.choice, { content: null, tool_calls: [called] });
      }
      case 'tool_call_arguments':
        if (event.fragment !== '') choice.emptyCall = null;
        return this.#arguments(event.choice, index, event.fragment);
      case 'tool_call_end': {
        if (choice.emptyCall !== index) return '';
        choice.emptyCall = null;
        return this.#arguments(event.choice, index, '{}');
      }
    }
  }

  #annotation(choice: number, citation: Citation): string {
    const { offsets } = this.#choice(choice);
    const annotation = writeAnnotation(citation, { offsets, from: 0 });
    if (annotation !== null) return this.#delta(choice, { annotations: [annotation] });
    this.#options.onOmitted?.('citations');
    return '';
  }

  #arguments(choice: number, index: number, fragment: string): string {
    return this.#delta(choice, { tool_calls: [{ index, function: { arguments: fragment } }] });
  }

  #logprobs(event: Extract<ChatEvent, { readonly type: 'text' | 'refusal' }>): JsonObject | null {
    const { type, logprobs } = event;
    if (logprobs === undefined) return null;
    const spoken = type === 'text' ? { logprobs } : { refusalLogprobs: logprobs };
    return logprobsOf(spoken, this.#options.request);
  }

  #delta(index: number, delta: WireDelta, logprobs: JsonObject | null = null): string {
    const choice = this.#choice(index);
    const said = choice.hasRole ? withoutNull(delta) : { role: 'assistant', content: '', ...delta };
    choice.hasRole = true;
    return this.#chunk([{ index, delta: said, logprobs, finish_reason: null }]);
  }

  #writeFinishes(): string {
    let text = '';
    for (const [index, choice] of this.#choices) {
      if (choice.pending === null) continue;
      const finish = writeFinish(choice.pending.reason, choice.pending.raw);
      choice.pending = null;
      choice.hasFinished = true;
      const delta = choice.hasRole ? {} : { role: 'assistant', content: '' };
      choice.hasRole = true;
      text += this.#chunk([{ index, delta, logprobs: null, finish_reason: finish }]);
    }
    return text;
  }

  /** What is still due, then the terminator: the provider's own frame where there is one. */
  #end(frame: Buffer | null): Buffer | string {
    this.#isOver = true;
    let text = this.#writeFinishes();
    const { includeUsage, meta } = this.#options;
    const usage = includeUsage && !this.#hasToldUsage ? writeUsage(this.#usage) : null;
    if (usage !== null || meta !== null) {
      text += this.#chunk([], {
        ...(usage === null ? {} : { usage }),
        ...(meta === null ? {} : { tiergate: meta() }),
      });
    }
    return joined(text, frame ?? doneFrame);
  }

  #chunk(choices: readonly JsonObject[], extra: JsonObject = {}): string {
    // Every chunk has the id of the first.
    this.#id ??= completionIdOf(this.#options.fallbackId);
    const chunk = {
      id: this.#id,
      object: 'chat.completion.chunk',
      created: this.#createdAt(),
      model: this.#model ?? '',
      choices,
      ...(this.#options.includeUsage && choices.length > 0 ? { usage: null } : {}),
      ...extra,
    };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }

  #createdAt(): number {
    if (this.#created !== null) return this.#created;
    const told = this.#firstFrame?.toString('latin1', 0, 2000).match(/"created"\s*:\s*(\d{1,15})/);
    this.#created = told?.[1] === undefined ? this.#options.createdAtSeconds : Number(told[1]);
    return this.#created;
  }

  #choice(index: number): ChoiceState {
    const known = this.#choices.get(index);
    if (known !== undefined) return known;
    const made: ChoiceState = {
      hasRole: false,
      pending: null,
      hasFinished: false,
      emptyCall: null,
      offsets: new TextOffsets(),
    };
    this.#choices.set(index, made);
    return made;
  }
}

/** `content: null` belongs into the opening delta only. */
function withoutNull(delta: WireDelta): JsonObject {
  if (delta.content !== null) return delta;
  const { content: _, ...rest } = delta;
  return rest;
}

function joined(text: string, rest: Buffer | string): Buffer | string {
  if (text === '') return rest;
  return typeof rest === 'string' ? text + rest : Buffer.concat([Buffer.from(text), rest]);
}
