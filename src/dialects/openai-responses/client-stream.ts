/** A stream for a client of this dialect: frames of the dialect as they are, everything else as events of our own. */
import { type JsonObject, objectAt, stringAt } from '../../base/json.ts';
import type { ChatEvent, FinishReason, StreamPart } from '../../chat/stream-event.ts';
import { type Usage, unknownUsage } from '../../chat/usage.ts';
import type { RequestFailure } from '../../failure/request-failure.ts';
import type { ClientStreamEncoder, Joint, StreamEncoderOptions } from '../dialect.ts';
import { documentIn } from '../frame-document.ts';
import { jointComment } from '../joint-comment.ts';
import { openaiErrorCode, openaiErrorMessage } from '../openai-error.ts';
import { streamError } from './client-error.ts';
import { textLogprobs } from './client-output.ts';
import { lastItemStatus, responseEnd, responseFields } from './client-response.ts';
import { writeUsage } from './client-usage.ts';
import { writeEncrypted } from './encrypted-content.ts';
import { ownItemId } from './item-ids.ts';
import { OutputStream } from './output-stream.ts';
import { dialectName, terminalEvents, type WireStreamEvents } from './wire.ts';

export function streamEncoder(options: StreamEncoderOptions): ClientStreamEncoder {
  const writer = new ResponseWriter(options);
  return {
    push: (part) => writer.push(part),
    join: (joint) => writer.join(joint),
    fail: (failure) => writer.fail(failure),
  };
}

class ResponseWriter {
  readonly #options: StreamEncoderOptions;
  readonly #output: OutputStream;
  #id: string | null = null;
  #model: string | null = null;
  #usage: Usage = unknownUsage;
  /** The provider's own response object, from the frame that opened the stream. */
  #head: JsonObject | null = null;
  /** The finish that is to be written; a later one replaces it until then. */
  #finish: { readonly reason: FinishReason; readonly raw: string | null } | null = null;
  #sequence = 0;
  /** The last frame passed that told a number: events of our own go on from it. */
  #lastFrame: Buffer | null = null;
  #hasStarted = false;
  /** Events were written here, so the numbers in the provider's frames are no longer right. */
  #isRewriting = false;
  #isOver = false;

  constructor(options: StreamEncoderOptions) {
    this.#options = options;
    this.#output = new OutputStream(
      (type, fields) => this.#event(type, fields),
      (type, index) => ownItemId(type, this.#responseId(), index),
    );
  }

  push({ events, frame }: StreamPart): Buffer | string {
    if (this.#isOver) return '';
    for (const event of events) this.#note(event);
    const isOwn = frame !== null && frame.dialect === dialectName;
    if (isOwn && !this.#isRewriting) return this.#pass(events, frame.bytes);
    let text = '';
    for (const event of events) text += this.#write(event);
    return text;
  }

  join(joint: Joint): string {
    this.#beginRewriting();
    return jointComment(joint);
  }

  /** After it comes `response.failed`, which says that it is over. */
  fail(failure: RequestFailure): string {
    if (this.#isOver) return '';
    this.#isOver = true;
    this.#beginRewriting();
    const opening = this.#start();
    const error = this.#event('error', streamError(failure));
    const response = this.#response({
      status: 'failed',
      incomplete_details: null,
      error: { code: openaiErrorCode(failure.failureClass), message: openaiErrorMessage(failure) },
    });
    return opening + error + this.#event('response.failed', { response });
  }

  #note(event: ChatEvent): void {
    if (event.type === 'usage') this.#usage = event.usage;
    if (event.type === 'finish' && event.choice === 0) {
      this.#finish = { reason: event.reason, raw: event.raw };
    }
    if (event.type !== 'start') return;
    if (!this.#hasStarted) this.#id = event.id;
    this.#model = event.model ?? this.#model;
  }

  #pass(events: readonly ChatEvent[], bytes: Buffer): Buffer | string {
    const isKnown = this.#hasStarted && isDelta(events, bytes);
    const event = isKnown ? null : documentIn(bytes);
    const type = stringAt(event, 'type');
    if (isKnown || type !== null) {
      this.#lastFrame = bytes;
      this.#sequence += 1;
      this.#hasStarted = true;
    }
    if (event !== null) {
      if (type === 'response.created') this.#head = objectAt(event, 'response');
      this.#output.note(event);
    }
    for (const content of events) {
      if (content.type === 'text' || content.type === 'refusal')
        this.#output.noteText(content.text);
      if (content.type === 'tool_call_arguments') this.#output.noteText(content.fragment);
    }
    if (type === null || !terminalEvents.includes(type)) return bytes;
    this.#isOver = true;
    const { meta } = this.#options;
    return meta === null ? bytes : withMetaInFrame(bytes, meta());
  }

  #write(event: ChatEvent): string {
    if ('choice' in event && event.choice !== 0) return '';
    switch (event.type) {
      case 'start':
        this.#beginRewriting();
        return this.#start();
      case 'end':
        return this.#end();
      case 'finish':
      case 'usage':
      case 'activity':
      case 'error':
      case 'malformed':
        return '';
      default:
        this.#beginRewriting();
        return this.#start() + this.#content(event);
    }
  }

  #content(event: ContentEvent): string {
    const output = this.#output;
    switch (event.type) {
      case 'text':
        return output.text(event.text, textLogprobs(event.logprobs, this.#options.request));
      case 'refusal':
        return output.refusal(event.text);
      case 'reasoning':
        return output.think(event.text);
      case 'reasoning_end':
        return output.endThinking(writeEncrypted({ ...output.thought, ...event }, this.#model));
      case 'tool_call_start':
        return output.startCall(event.id, event.name);
      case 'tool_call_arguments':
        return output.addArguments(event.fragment);
      case 'tool_call_end':
        return output.endCall();
      case 'citation': {
        const told = output.cite(event.citation);
        if (told === '') this.#options.onOmitted?.('citations');
        return told;
      }
      case 'omitted':
        this.#options.onOmitted?.(event.name);
        return '';
    }
  }

  #start(): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    const response = this.#response({
      status: 'in_progress',
      incomplete_details: null,
      error: null,
    });
    return (
      this.#event('response.created', { response }) +
      this.#event('response.in_progress', { response })
    );
  }

  /** What is still due, then the end of the response. */
  #end(): string {
    this.#beginRewriting();
    const reason = this.#finish?.reason ?? null;
    const end = responseEnd(reason, this.#finish?.raw ?? null);
    const before = this.#start() + this.#output.close(lastItemStatus(reason));
    this.#isOver = true;
    const { meta } = this.#options;
    const extra = meta === null ? {} : { tiergate: meta() };
    return (
      before + this.#event(`response.${end.status}`, { response: this.#response(end), ...extra })
    );
  }

  #response(state: JsonObject): JsonObject {
    const { fallbackId, createdAtSeconds, request } = this.#options;
    const head = { id: this.#id, model: this.#model, fallbackId, createdAtSeconds };
    return {
      ...(this.#head ?? responseFields({ ...head, ...(request === undefined ? {} : { request }) })),
      ...state,
      output: this.#output.items(),
      usage: writeUsage(this.#usage),
    };
  }

  #responseId(): string {
    return this.#id ?? this.#options.fallbackId;
  }

  #beginRewriting(): void {
    if (this.#isRewriting) return;
    this.#isRewriting = true;
    const told = this.#lastFrame?.toString('latin1').match(/"sequence_number"\s*:\s*(\d{1,9})/);
    if (told?.[1] !== undefined) this.#sequence = Number(told[1]) + 1;
    this.#lastFrame = null;
  }

  #event<Type extends keyof WireStreamEvents>(type: Type, fields: WireStreamEvents[Type]): string {
    const sequence_number = this.#sequence;
    this.#sequence += 1;
    return writeEvent(type, { sequence_number, ...fields });
  }
}

type ContentEvent = Exclude<
  Extract<ChatEvent, { readonly choice: number }>,
  { readonly type: 'finish' }
>;

function writeEvent(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** Most frames are deltas of the open item: they need no parsing here. */
function isDelta(events: readonly ChatEvent[], bytes: Buffer): boolean {
  const [event] = events;
  const isContent =
    event?.type === 'text' || event?.type === 'reasoning' || event?.type === 'tool_call_arguments';
  return events.length === 1 && isContent && bytes.includes('.delta"');
}

/** The event's document ends with the frame's last brace. */
function withMetaInFrame(bytes: Buffer, meta: JsonObject): Buffer {
  const end = bytes.lastIndexOf('}');
  const extra = `,"tiergate":${JSON.stringify(meta)}`;
  return Buffer.concat([bytes.subarray(0, end), Buffer.from(extra), bytes.subarray(end)]);
}
