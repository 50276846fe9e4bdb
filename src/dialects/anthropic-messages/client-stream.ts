/** A stream for a client of this dialect: frames of the dialect as they are, everything else as events of our own. */
import { objectAt, stringAt } from '../../base/json.ts';
import type { Citation } from '../../chat/citation.ts';
import type { ChatEvent, FinishReason, StreamPart } from '../../chat/stream-event.ts';
import { type Usage, unknownUsage } from '../../chat/usage.ts';
import type { RequestFailure } from '../../failure/request-failure.ts';
import type { ClientStreamEncoder, Joint, StreamEncoderOptions } from '../dialect.ts';
import { dataIn, documentIn } from '../frame-document.ts';
import { jointComment } from '../joint-comment.ts';
import { writeCitation } from './citations.ts';
import { encodeStreamError } from './client-error.ts';
import { messageHead } from './client-message.ts';
import { writeFinalUsage, writeUsage } from './client-usage.ts';
import { ContentBlocks, writeEvent } from './content-blocks.ts';
import { writeFinish } from './finish-reasons.ts';
import { foreignSignature } from './thinking-origin.ts';
import { dialectName } from './wire.ts';

export function streamEncoder(options: StreamEncoderOptions): ClientStreamEncoder {
  const writer = new MessageWriter(options);
  return {
    push: (part) => writer.push(part),
    join: (joint) => writer.join(joint),
    fail: (failure) => writer.fail(failure),
  };
}

class MessageWriter {
  readonly #options: StreamEncoderOptions;
  readonly #blocks = new ContentBlocks();
  #id: string | null = null;
  #model: string | null = null;
  #usage: Usage = unknownUsage;
  /** The finish that is to be written; a later one replaces it until then. */
  #pending: { readonly reason: FinishReason; readonly raw: string | null } | null = null;
  /** The text of the thought that is being told. */
  #thought = '';
  #hasStarted = false;
  #hasToldFinish = false;
  #hasRefused = false;
  #hasCalled = false;
  /** Whether a service of this dialect speaks: its signatures are good. */
  #isSigned = false;
  /** Blocks were written here, so the numbers in the provider's frames are no longer right. */
  #isRewriting = false;
  #isOver = false;

  constructor(options: StreamEncoderOptions) {
    this.#options = options;
  }

  push(part: StreamPart): Buffer | string {
    if (this.#isOver) return '';
    const { events, frame } = part;
    const isOwn = frame !== null && frame.dialect === dialectName;
    for (const event of events) this.#note(event, isOwn);
    if (isOwn && !this.#isRewriting) {
      const passed = this.#pass(events, frame.bytes);
      if (passed !== null) return passed;
    }
    let text = '';
    for (const event of events) text += this.#write(event);
    return text;
  }

  join(joint: Joint): string {
    this.#isRewriting = true;
    return jointComment(joint);
  }

  fail(failure: RequestFailure): string {
    if (this.#isOver) return '';
    this.#isOver = true;
    return encodeStreamError(failure);
  }

  #note(event: ChatEvent, isOwn: boolean): void {
    if (event.type === 'usage') this.#usage = event.usage;
    if (event.type !== 'start') return;
    if (!this.#hasStarted) this.#id = event.id;
    this.#model = event.model ?? this.#model;
    this.#isSigned = isOwn;
  }

  /** Null: the frame cannot go out as it is. */
  #pass(events: readonly ChatEvent[], bytes: Buffer): Buffer | string | null {
    if (this.#hasStarted && isDelta(events, bytes)) return named(bytes, 'content_block_delta');
    const event = documentIn(bytes);
    const type = stringAt(event, 'type');
    // Comments, pings and what nobody here knows may stand anywhere.
    if (type === null) return bytes;
    if (!messageEvents.includes(type)) return named(bytes, type);
    if (this.#hasStarted === (type === 'message_start')) {
      this.#isRewriting = true;
      return null;
    }
    this.#hasStarted = true;
    this.#blocks.note(event);
    const hasReason = stringAt(objectAt(event, 'delta'), 'stop_reason') !== null;
    if (type === 'message_delta' && hasReason) this.#hasToldFinish = true;
    if (type !== 'message_stop') return named(bytes, type);
    return this.#options.meta === null ? this.#stop(named(bytes, type)) : this.#end();
  }

  #write(event: ChatEvent): string {
    if ('choice' in event && event.choice !== 0) return '';
    switch (event.type) {
      case 'start':
        return this.#start();
      case 'activity':
        return this.#hasStarted ? writeEvent('ping', {}) : '';
      case 'finish':
        this.#pending = { reason: event.reason, raw: event.raw };
        return '';
      case 'end':
        return this.#end();
      case 'usage':
      case 'error':
      case 'malformed':
        return '';
      default: {
        const opening = this.#start();
        this.#isRewriting = true;
        return opening + this.#content(event);
      }
    }
  }

  #content(event: ContentEvent): string {
    switch (event.type) {
      case 'text':
        return this.#blocks.text(event.text);
      case 'refusal':
        this.#hasRefused = true;
        return this.#blocks.text(event.text);
      case 'reasoning':
        this.#thought += event.text;
        return this.#blocks.think(event.text);
      case 'reasoning_end':
        return this.#endThought(event);
      case 'tool_call_start':
        this.#hasCalled = true;
        return this.#blocks.startTool(event.id, event.name);
      case 'tool_call_arguments':
        return this.#blocks.addArguments(event.fragment);
      case 'tool_call_end':
        return this.#blocks.close();
      case 'citation':
        return this.#cite(event.citation);
      case 'omitted':
        this.#options.onOmitted?.(event.name);
        return '';
    }
  }

  #cite(citation: Citation): string {
    const wire = writeCitation(citation);
    const event = wire === null ? '' : this.#blocks.cite(wire);
    if (event === '') this.#options.onOmitted?.('citations');
    return event;
  }

  #endThought(event: Extract<ChatEvent, { readonly type: 'reasoning_end' }>): string {
    const text = this.#thought;
    this.#thought = '';
    if (!this.#isSigned)
      return this.#blocks.endThinking(foreignSignature({ ...event, text }, this.#model));
    if (event.redacted !== null) return this.#blocks.redacted(event.redacted);
    return this.#blocks.endThinking(event.signature);
  }

  #start(): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    const { fallbackId } = this.#options;
    return writeEvent('message_start', {
      message: {
        ...messageHead({ id: this.#id, model: this.#model, fallbackId }),
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: writeUsage(this.#usage),
      },
    });
  }

  /** What is still due, then the end of the message. */
  #end(): string {
    let text = this.#start() + this.#blocks.close();
    if (!this.#hasToldFinish) {
      text += writeEvent('message_delta', {
        delta: { stop_reason: this.#stopReason(), stop_sequence: null },
        usage: writeFinalUsage(this.#usage),
      });
    }
    const { meta } = this.#options;
    return text + this.#stop(writeEvent('message_stop', meta === null ? {} : { tiergate: meta() }));
  }

  #stop<Bytes extends Buffer | string>(bytes: Bytes): Bytes {
    this.#isOver = true;
    return bytes;
  }

  /** A provider that may leave the reason out has ended all the same. */
  #stopReason(): string {
    if (this.#pending === null) return writeFinish(this.#hasCalled ? 'tool_calls' : 'stop', null);
    const { reason, raw } = this.#pending;
    return reason === 'stop' && this.#hasRefused ? 'refusal' : writeFinish(reason, raw);
  }
}

type ContentEvent = Exclude<
  Extract<ChatEvent, { readonly choice: number }>,
  { readonly type: 'finish' }
>;

/** What makes up a message. */
const messageEvents: readonly string[] = [
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
];

/** Most frames are deltas of the open block: they need no parsing here. */
function isDelta(events: readonly ChatEvent[], bytes: Buffer): boolean {
  const [event] = events;
  const isContent =
    event?.type === 'text' || event?.type === 'reasoning' || event?.type === 'tool_call_arguments';
  return events.length === 1 && isContent && bytes.includes('"content_block_delta"');
}

const firstLetter = 'event:'.charCodeAt(0);

/** SDKs of this dialect pass over events without a name, which some proxies lose. */
function named(bytes: Buffer, type: string): Buffer | string {
  if (bytes[0] === firstLetter || /(^|[\r\n])event:/.test(bytes.toString('latin1'))) return bytes;
  return `event: ${type}\ndata: ${dataIn(bytes)}\n\n`;
}
