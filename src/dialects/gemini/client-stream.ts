/** A stream for a client of this dialect: frames of the dialect as they are, everything else as chunks of our own. */
import type { JsonObject } from '../../base/json.ts';
import type { ToolCall } from '../../chat/reply.ts';
import type { ChatEvent, FinishReason, StreamPart } from '../../chat/stream-event.ts';
import { type Usage, unknownUsage } from '../../chat/usage.ts';
import type { RequestFailure } from '../../failure/request-failure.ts';
import type { ClientStreamEncoder, StreamEncoderOptions } from '../dialect.ts';
import { TextOffsets } from '../text-offsets.ts';
import { encodeError } from './client-error.ts';
import { arrayFraming, eventFraming, type StreamFraming } from './client-framing.ts';
import { Grounding } from './client-grounding.ts';
import { callPart, finishFields } from './client-parts.ts';
import { CandidateLogprobs } from './logprobs.ts';
import { writeUsage } from './usage-tally.ts';
import { dialectName } from './wire.ts';

export function streamEncoder(options: StreamEncoderOptions): ClientStreamEncoder {
  return encoderWith(options, eventFraming());
}

/** What a client gets that does not ask for events. */
export function arrayEncoder(options: StreamEncoderOptions): ClientStreamEncoder {
  return encoderWith(options, arrayFraming());
}

function encoderWith(options: StreamEncoderOptions, framing: StreamFraming): ClientStreamEncoder {
  const writer = new ChunkWriter(options, framing);
  return {
    push: (part) => writer.push(part),
    join: () => writer.join(),
    fail: (failure) => writer.fail(failure),
  };
}

type ChoiceState = {
  /** The finish that is to be written; a later one replaces it until then. */
  pending: { readonly reason: FinishReason; readonly raw: string | null } | null;
  hasFinished: boolean;
  isRefused: boolean;
  /** Calls are written whole: those whose arguments are still coming, by their index. */
  readonly calls: Map<number, ToolCall>;
  brokenCall: string | null;
  readonly logprobs: CandidateLogprobs;
  readonly offsets: TextOffsets;
  /** Told with the finish, as the service does. */
  readonly grounding: Grounding;
};

type ChoiceEvent = Extract<ChatEvent, { readonly choice: number }>;
type SpokenEvent = Extract<ChatEvent, { readonly type: 'text' | 'refusal' }>;

class ChunkWriter {
  readonly #options: StreamEncoderOptions;
  readonly #framing: StreamFraming;
  readonly #choices = new Map<number, ChoiceState>();
  #id: string | null = null;
  #model: string | null = null;
  #usage: Usage = unknownUsage;
  /** Another answer goes on in this stream: its frames carry another id. */
  #isContinued = false;
  #isOver = false;

  constructor(options: StreamEncoderOptions, framing: StreamFraming) {
    this.#options = options;
    this.#framing = framing;
  }

  push({ events, frame }: StreamPart): Buffer | string {
    if (this.#isOver) return '';
    for (const event of events) this.#note(event);
    const isOwnFrame = frame !== null && frame.dialect === dialectName && !this.#isContinued;
    if (isOwnFrame && this.#mayPass(events)) return this.#pass(events, frame.bytes);
    let text = '';
    for (const event of events) text += this.#write(event);
    return text;
  }

  /** Without a comment, for the reason that stands at `keepAlive` of the dialect. */
  join(): string {
    this.#isContinued = true;
    return '';
  }

  fail(failure: RequestFailure): string {
    if (this.#isOver) return '';
    this.#isOver = true;
    return this.#framing.document(encodeError(failure)) + this.#framing.end();
  }

  #note(event: ChatEvent): void {
    if (event.type === 'usage') this.#usage = event.usage;
    if (event.type === 'text') this.#choice(event.choice).offsets.push(event.text);
    if (event.type !== 'start') return;
    // An answer may name itself after its first chunk; only another id is another answer.
    if (this.#id !== null && event.id !== null && event.id !== this.#id) this.#isContinued = true;
    this.#id ??= event.id;
    this.#model = event.model ?? this.#model;
  }

  /** Not a frame that tells a second finish, nor one that goes on with a call which is held here. */
  #mayPass(events: readonly ChatEvent[]): boolean {
    return !events.some((event) => {
      if (!('choice' in event)) return false;
      const choice = this.#choice(event.choice);
      return choice.calls.size > 0 || (event.type === 'finish' && choice.hasFinished);
    });
  }

  #pass(events: readonly ChatEvent[], bytes: Buffer): Buffer | string {
    const before = this.#writeFinishes();
    for (const event of events) {
      if (event.type === 'finish') this.#choice(event.choice).hasFinished = true;
    }
    return joined(before, this.#framing.frame(bytes));
  }

  #write(event: ChatEvent): string {
    if ('choice' in event) return this.#writeContent(event);
    return event.type === 'end' ? this.#end() : '';
  }

  #writeContent(event: ChoiceEvent): string {
    const choice = this.#choice(event.choice);
    switch (event.type) {
      case 'text':
        return this.#spoken(event);
      case 'refusal':
        choice.isRefused = true;
        return this.#spoken(event);
      case 'reasoning':
        if (this.#options.request?.hidesThoughts === true) return '';
        if (event.text === '') return '';
        return this.#part(event.choice, { text: event.text, thought: true });
      case 'citation':
        choice.grounding.add(event.citation);
        return '';
      case 'omitted':
        this.#options.onOmitted?.(event.name);
        return '';
      case 'reasoning_end':
        return '';
      case 'tool_call_start':
        choice.calls.set(event.index, { id: event.id, name: event.name, arguments: '' });
        return '';
      case 'tool_call_arguments': {
        // None where its frame has passed.
        const call = choice.calls.get(event.index);
        if (call === undefined) return '';
        choice.calls.set(event.index, { ...call, arguments: call.arguments + event.fragment });
        return '';
      }
      case 'tool_call_end':
        return this.#writeCall(event.choice, event.index);
      case 'finish':
        if (!choice.hasFinished) choice.pending = { reason: event.reason, raw: event.raw };
        return '';
    }
  }

  /** Calls whose end was never told: the answer is over, and so are they. */
  #writeOpenCalls(): string {
    let text = '';
    for (const [index, choice] of this.#choices) {
      for (const callIndex of [...choice.calls.keys()]) text += this.#writeCall(index, callIndex);
    }
    return text;
  }

  #writeCall(index: number, callIndex: number): string {
    const choice = this.#choice(index);
    const call = choice.calls.get(callIndex);
    if (call === undefined) return '';
    choice.calls.delete(callIndex);
    const part = callPart(call, this.#model);
    if (part === null) choice.brokenCall ??= call.name;
    return this.#part(index, part);
  }

  #spoken({ choice, text, logprobs }: SpokenEvent): string {
    const told = this.#choice(choice).logprobs.fields(logprobs);
    if (text !== '' || Object.keys(told).length > 0) return this.#part(choice, { text }, told);
    return '';
  }

  #part(index: number, part: JsonObject | null, more: JsonObject = {}): string {
    if (part === null) return '';
    return this.#chunk([{ content: { parts: [part], role: 'model' }, index, ...more }]);
  }

  /** Usage comes with the finish, which waits for the end or for a frame that passes after it. */
  #writeFinishes(): string {
    const candidates: JsonObject[] = [];
    for (const [index, choice] of this.#choices) {
      if (choice.pending === null) continue;
      const { isRefused, brokenCall, grounding, offsets } = choice;
      const finish = finishFields({ ...choice.pending, isRefused, brokenCall });
      choice.pending = null;
      choice.hasFinished = true;
      const rests = grounding.fields(offsets, 0);
      const average = choice.logprobs.average();
      candidates.push({ content: emptyContent, ...finish, ...rests, index, ...average });
    }
    return candidates.length === 0 ? '' : this.#chunk(candidates, this.#usageField());
  }

  #end(): string {
    const { meta } = this.#options;
    let text = this.#writeOpenCalls() + this.#writeFinishes();
    if (meta !== null) {
      const extra = { ...this.#usageField(), tiergate: meta() };
      text += this.#chunk([{ content: emptyContent, index: 0 }], extra);
    }
    this.#isOver = true;
    return text + this.#framing.end();
  }

  #usageField(): JsonObject {
    const usage = writeUsage(this.#usage);
    return usage === null ? {} : { usageMetadata: usage };
  }

  #chunk(candidates: readonly JsonObject[], extra: JsonObject = {}): string {
    // Every chunk has the id of the first.
    this.#id ??= this.#options.fallbackId;
    const chunk = {
      candidates,
      ...extra,
      modelVersion: this.#model ?? '',
      responseId: this.#id,
    };
    return this.#framing.document(JSON.stringify(chunk));
  }

  #choice(index: number): ChoiceState {
    const known = this.#choices.get(index);
    if (known !== undefined) return known;
    const made: ChoiceState = {
      pending: null,
      hasFinished: false,
      isRefused: false,
      calls: new Map(),
      brokenCall: null,
      logprobs: new CandidateLogprobs(this.#options.request),
      offsets: new TextOffsets(),
      grounding: new Grounding(),
    };
    this.#choices.set(index, made);
    return made;
  }
}

/** SDKs that keep a conversation take a chunk without a part for a broken answer. */
const emptyContent: JsonObject = { parts: [{ text: '' }], role: 'model' };

function joined(text: string, rest: Buffer | string): Buffer | string {
  if (text === '') return rest;
  return typeof rest === 'string' ? text + rest : Buffer.concat([Buffer.from(text), rest]);
}
