/**
 * Messages out of the bytes of an `application/vnd.amazon.eventstream` body, cut anywhere. Each message
 * states its length and carries two checksums; nothing of a message whose checksums fail is told.
 *
 *     u32 total length | u32 headers length | u32 CRC-32 of these 8 bytes
 *     headers | payload | u32 CRC-32 of everything before it
 */
import { crc32 } from 'node:zlib';

export type HeaderValue = boolean | number | bigint | string | Buffer;

export type EventStreamMessage =
  | {
      readonly kind: 'message';
      /** Instants are numbers of ms, 64-bit numbers bigints, UUIDs 32 hex digits. The last of a name counts. */
      readonly headers: ReadonlyMap<string, HeaderValue>;
      readonly payload: Buffer;
    }
  /** A checksum or a length is wrong: where the next message begins is unknown, so nothing follows. */
  | { readonly kind: 'corrupt'; readonly why: string }
  /** A message states more bytes than the bound; nothing follows. */
  | { readonly kind: 'too_large'; readonly bytesStated: number }
  /** The body ended within a message. */
  | { readonly kind: 'residual'; readonly bytes: Buffer };

const preludeBytes = 12;
const checksumBytes = 4;
const leastBytes = preludeBytes + checksumBytes;
/** By the format's own definition. */
const headersBytesMax = 128 * 1024;

const noMessages: readonly EventStreamMessage[] = [];
const noBytes = Buffer.alloc(0);

/**
 * Splits a byte stream into messages. Any cut of the same bytes gives the same messages. Payloads share
 * memory with what was pushed: the caller must not write into a pushed buffer again.
 */
export class EventStreamSplitter {
  readonly #messageBytesMax: number;
  #storage: Buffer = noBytes;
  /** Whether `#storage` is ours to append to; else it is what the caller pushed. */
  #isOwned = false;
  #start = 0;
  #end = 0;
  /** Below this many bytes nothing new can be told. */
  #bytesNeeded = preludeBytes;
  #isOver = false;

  /** `eventBytesMax`: bytes of one message, > 0; one beyond it ends the splitting with `too_large`. */
  constructor({ eventBytesMax }: { readonly eventBytesMax: number }) {
    this.#messageBytesMax = eventBytesMax;
  }

  /** The messages that `bytes` completed, in order. */
  push(bytes: Buffer): readonly EventStreamMessage[] {
    if (this.#isOver || bytes.length === 0) return noMessages;
    this.#append(bytes);
    return this.#end - this.#start < this.#bytesNeeded ? noMessages : this.#take();
  }

  /** What was left when the body ended: at most one `residual`. Nothing may be pushed afterwards. */
  end(): readonly EventStreamMessage[] {
    if (this.#isOver || this.#end === this.#start) return noMessages;
    this.#isOver = true;
    return [{ kind: 'residual', bytes: this.#storage.subarray(this.#start, this.#end) }];
  }

  #append(bytes: Buffer): void {
    const held = this.#end - this.#start;
    if (held === 0) {
      this.#storage = bytes;
      this.#isOwned = false;
      this.#start = 0;
      this.#end = bytes.length;
      return;
    }
    if (!this.#isOwned || this.#storage.length - this.#end < bytes.length) {
      // Doubling: a message that comes in many small reads is not copied once per read.
      const grown = Buffer.allocUnsafe(Math.max(1024, 2 * (held + bytes.length)));
      this.#storage.copy(grown, 0, this.#start, this.#end);
      this.#storage = grown;
      this.#isOwned = true;
      this.#start = 0;
      this.#end = held;
    }
    bytes.copy(this.#storage, this.#end);
    this.#end += bytes.length;
  }

  #take(): readonly EventStreamMessage[] {
    const messages: EventStreamMessage[] = [];
    this.#bytesNeeded = preludeBytes;
    while (this.#end - this.#start >= preludeBytes) {
      const length = this.#lengthAt(this.#storage, this.#start);
      if (typeof length !== 'number') return this.#endWith(messages, length);
      if (this.#end - this.#start < length) {
        this.#bytesNeeded = length;
        break;
      }
      const message = readMessage(this.#storage.subarray(this.#start, this.#start + length));
      if (message.kind !== 'message') return this.#endWith(messages, message);
      messages.push(message);
      this.#start += length;
    }
    return messages;
  }

  /** The length of the message at `at`, or why there is none. */
  #lengthAt(bytes: Buffer, at: number): number | EventStreamMessage {
    if (crc32(bytes.subarray(at, at + 8)) !== bytes.readUInt32BE(at + 8)) {
      return corrupt('the checksum of a prelude does not match');
    }
    const length = bytes.readUInt32BE(at);
    const headersLength = bytes.readUInt32BE(at + 4);
    if (headersLength > headersBytesMax || length < leastBytes + headersLength) {
      return corrupt('the lengths of a prelude contradict each other');
    }
    return length > this.#messageBytesMax ? { kind: 'too_large', bytesStated: length } : length;
  }

  #endWith(
    messages: EventStreamMessage[],
    last: EventStreamMessage,
  ): readonly EventStreamMessage[] {
    this.#isOver = true;
    this.#storage = noBytes;
    messages.push(last);
    return messages;
  }
}

function corrupt(why: string): EventStreamMessage {
  return { kind: 'corrupt', why };
}

/** `bytes` is one message by its prelude, which was checked. */
function readMessage(bytes: Buffer): EventStreamMessage {
  const payloadEnd = bytes.length - checksumBytes;
  if (crc32(bytes.subarray(0, payloadEnd)) !== bytes.readUInt32BE(payloadEnd)) {
    return corrupt('the checksum of a message does not match');
  }
  const payloadStart = preludeBytes + bytes.readUInt32BE(4);
  const headers = readHeaders(bytes.subarray(preludeBytes, payloadStart));
  if (headers === null) return corrupt('the headers of a message cannot be read');
  return { kind: 'message', headers, payload: bytes.subarray(payloadStart, payloadEnd) };
}

function readHeaders(bytes: Buffer): ReadonlyMap<string, HeaderValue> | null {
  const headers = new Map<string, HeaderValue>();
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + (bytes[at] ?? 0);
    const type = bytes[nameEnd];
    if (nameEnd === at + 1 || type === undefined) return null;
    const name = bytes.toString('utf8', at + 1, nameEnd);
    const read = readValue(bytes, nameEnd + 1, type);
    if (read === null || read.end > bytes.length) return null;
    headers.set(name, read.value());
    at = read.end;
  }
  return headers;
}

/** Where a value ends, and how to read it once it is known to lie within the headers. */
type Reading = { readonly end: number; readonly value: () => HeaderValue };

function readValue(bytes: Buffer, at: number, type: number): Reading | null {
  switch (type) {
    case 0:
      return { end: at, value: () => true };
    case 1:
      return { end: at, value: () => false };
    case 2:
      return { end: at + 1, value: () => bytes.readInt8(at) };
    case 3:
      return { end: at + 2, value: () => bytes.readInt16BE(at) };
    case 4:
      return { end: at + 4, value: () => bytes.readInt32BE(at) };
    case 5:
      return { end: at + 8, value: () => bytes.readBigInt64BE(at) };
    case 6: {
      const { start, end } = sizedAt(bytes, at);
      return { end, value: () => bytes.subarray(start, end) };
    }
    case 7: {
      const { start, end } = sizedAt(bytes, at);
      return { end, value: () => bytes.toString('utf8', start, end) };
    }
    case 8:
      return { end: at + 8, value: () => Number(bytes.readBigInt64BE(at)) };
    case 9:
      return { end: at + 16, value: () => bytes.toString('hex', at, at + 16) };
    default:
      return null;
  }
}

/** The bounds of a value that states its length; beyond the headers when the length itself is cut. */
function sizedAt(bytes: Buffer, at: number): { readonly start: number; readonly end: number } {
  const start = at + 2;
  const length = start <= bytes.length ? bytes.readUInt16BE(at) : 0;
  return { start, end: start + length };
}
