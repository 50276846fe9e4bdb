/**
 * Server-sent events out of bytes, cut anywhere. Every event keeps the exact bytes it came in, so
 * that a frame can be held back, replaced, or written on unchanged.
 */

/** A line whose field is none of `data`, `event`, `id`, `retry`: kept, since some servers report errors so. */
export type SseField = { readonly name: string; readonly value: string };

/**
 * One block, the blank line that ends it included in `bytes`. Joined, the `bytes` of all events are
 * the input without its byte order mark.
 * `event`: a block with data. `comment`: a block without (comments, a lone field, a stray blank
 * line). `too_large`: a block grew beyond the bound; nothing follows. `residual`: what the body
 * ended with, without its blank line.
 */
export type SseEvent =
  | {
      readonly kind: 'event' | 'residual';
      readonly event: string | null;
      readonly data: string;
      readonly otherFields: readonly SseField[];
      readonly bytes: Buffer;
    }
  | {
      readonly kind: 'comment';
      readonly event: string | null;
      readonly otherFields: readonly SseField[];
      readonly bytes: Buffer;
    }
  | { readonly kind: 'too_large'; readonly bytesSeen: number };

/** Unknown fields kept of one block; further ones still pass through in `bytes`. */
const otherFieldsMax = 16;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const space = 0x20;
const noFields: readonly SseField[] = [];
const noEvents: readonly SseEvent[] = [];
const noBytes = Buffer.alloc(0);

/**
 * Splits a byte stream into events. Any cut of the same bytes gives the same events, save in a stream
 * that mixes its line ends: there a CR LF cut in two may give one more `comment` of a single line feed.
 * An event's `bytes` share memory with what was pushed: the caller must not write into a pushed buffer
 * again.
 */
export class SseSplitter {
  readonly #eventBytesMax: number;
  #storage: Buffer = noBytes;
  /** Whether `#storage` is ours to append to; else it is what the caller pushed. */
  #isOwned = false;
  #end = 0;
  #blockStart = 0;
  #lineStart = 0;
  /** The last byte was a CR: a LF at the start of the next read belongs to it. */
  #isAfterCarriageReturn = false;
  /** A line has ended in CR LF. */
  #hasBothEnds = false;
  /** The LF that is to come stands already at the end of the event before. */
  #isFeedGiven = false;
  #isFirstLine = true;
  #isOver = false;

  #dataLines = 0;
  #dataStart = 0;
  #dataEnd = 0;
  #dataJoined = '';
  #event: string | null = null;
  #otherFields: SseField[] | null = null;

  /** `eventBytesMax`: bytes of one block, > 0; a block beyond it ends the splitting with `too_large`. */
  constructor({ eventBytesMax }: { readonly eventBytesMax: number }) {
    this.#eventBytesMax = eventBytesMax;
  }

  /** The events that `bytes` completed, in order. */
  push(bytes: Buffer): readonly SseEvent[] {
    if (this.#isOver || bytes.length === 0) return noEvents;
    return this.#scan(this.#append(bytes));
  }

  /** What was left when the body ended: at most one event. Nothing may be pushed afterwards. */
  end(): readonly SseEvent[] {
    if (this.#isOver) return noEvents;
    this.#isOver = true;
    if (this.#end === this.#blockStart) return noEvents;
    if (this.#isFirstLine) this.#skipByteOrderMark(this.#end);
    if (this.#end > this.#lineStart) this.#readLine(this.#lineStart, this.#end);
    return [this.#takeBlock(this.#end, 'residual')];
  }

  /** Returns where the new bytes begin in `#storage`. */
  #append(bytes: Buffer): number {
    const kept = this.#end - this.#blockStart;
    if (kept === 0) {
      this.#storage = bytes;
      this.#isOwned = false;
      this.#end = bytes.length;
      this.#blockStart = 0;
      this.#lineStart = 0;
      return 0;
    }
    if (!this.#isOwned || this.#storage.length - this.#end < bytes.length) {
      // Doubling: an event that comes in many small reads is not copied once per read.
      const grown = Buffer.allocUnsafe(Math.max(1024, 2 * kept + bytes.length));
      this.#storage.copy(grown, 0, this.#blockStart, this.#end);
      this.#rebase(this.#blockStart);
      this.#storage = grown;
      this.#isOwned = true;
    }
    const from = this.#end;
    bytes.copy(this.#storage, from);
    this.#end += bytes.length;
    return from;
  }

  #rebase(shift: number): void {
    this.#blockStart -= shift;
    this.#lineStart -= shift;
    this.#dataStart -= shift;
    this.#dataEnd -= shift;
    this.#end -= shift;
  }

  #scan(from: number): readonly SseEvent[] {
    const view =
      this.#storage.length === this.#end ? this.#storage : this.#storage.subarray(0, this.#end);
    const events: SseEvent[] = [];
    let at = this.#skipLineFeed(view, from, events);
    let nextReturn = view.indexOf(carriageReturn, at);
    let nextFeed = view.indexOf(lineFeed, at);
    for (;;) {
      if (nextReturn !== -1 && nextReturn < at) nextReturn = view.indexOf(carriageReturn, at);
      if (nextFeed !== -1 && nextFeed < at) nextFeed = view.indexOf(lineFeed, at);
      const isReturn = nextReturn !== -1 && (nextFeed === -1 || nextReturn < nextFeed);
      const lineEnd = isReturn ? nextReturn : nextFeed;
      if (lineEnd === -1) break;
      at = lineEnd + 1;
      if (isReturn) {
        if (at === view.length) this.#isAfterCarriageReturn = true;
        else if (view[at] === lineFeed) {
          this.#hasBothEnds = true;
          at += 1;
        }
      }
      if (!this.#endLine(lineEnd, at, events)) return events;
    }
    if (this.#end - this.#blockStart > this.#eventBytesMax) {
      this.#stopTooLarge(this.#end - this.#blockStart, events);
    }
    return events;
  }

  /** A CR LF that was cut in two is one line end. */
  #skipLineFeed(view: Buffer, from: number, events: SseEvent[]): number {
    if (!this.#isAfterCarriageReturn) return from;
    const isGiven = this.#isFeedGiven;
    this.#isAfterCarriageReturn = false;
    this.#isFeedGiven = false;
    if (view[from] !== lineFeed) return from;
    this.#hasBothEnds = true;
    this.#lineStart = from + 1;
    if (isGiven) this.#blockStart = from + 1;
    else if (this.#blockStart === from) events.push(this.#takeBlock(from + 1, 'event'));
    return from + 1;
  }

  /** Whether splitting goes on. `lineEnd` is the first byte of the line end, `next` the one after it. */
  #endLine(lineEnd: number, next: number, events: SseEvent[]): boolean {
    if (this.#isFirstLine) this.#skipByteOrderMark(lineEnd);
    if (lineEnd > this.#lineStart) {
      this.#readLine(this.#lineStart, lineEnd);
      this.#lineStart = next;
      return true;
    }
    // In a stream of CR LF the LF of a CR that was read last is given at once: who waits for it would hold
    // the event back, and what is written in between would stand inside a line end.
    this.#isFeedGiven = this.#isAfterCarriageReturn && this.#hasBothEnds;
    const size = next - this.#blockStart + (this.#isFeedGiven ? 1 : 0);
    if (size > this.#eventBytesMax) {
      this.#stopTooLarge(size, events);
      return false;
    }
    const taken = this.#takeBlock(next, 'event');
    events.push(this.#isFeedGiven ? withLineFeed(taken) : taken);
    return true;
  }

  #skipByteOrderMark(lineEnd: number): void {
    this.#isFirstLine = false;
    const start = this.#lineStart;
    const bytes = this.#storage;
    if (lineEnd - start < 3) return;
    if (bytes[start] !== 0xef || bytes[start + 1] !== 0xbb || bytes[start + 2] !== 0xbf) return;
    this.#lineStart += 3;
    this.#blockStart += 3;
  }

  #stopTooLarge(bytesSeen: number, events: SseEvent[]): void {
    this.#isOver = true;
    this.#storage = noBytes;
    events.push({ kind: 'too_large', bytesSeen });
  }

  #readLine(start: number, end: number): void {
    const bytes = this.#storage;
    const first = bytes[start];
    if (first === colon) return;
    if (first === 0x64 && isName(bytes, start, end, 'data')) {
      this.#addData(valueStart(bytes, start + 4, end), end);
      return;
    }
    if (first === 0x65 && isName(bytes, start, end, 'event')) {
      this.#event = bytes.toString('utf8', valueStart(bytes, start + 5, end), end);
      return;
    }
    this.#addOtherField(bytes.toString('utf8', start, end));
  }

  /** Of a single line only the place is kept: it is decoded once, when the block ends. */
  #addData(start: number, end: number): void {
    if (this.#dataLines === 1) {
      this.#dataJoined = this.#storage.toString('utf8', this.#dataStart, this.#dataEnd);
    }
    if (this.#dataLines >= 1) this.#dataJoined += `\n${this.#storage.toString('utf8', start, end)}`;
    this.#dataLines += 1;
    this.#dataStart = start;
    this.#dataEnd = end;
  }

  #addOtherField(line: string): void {
    const colonAt = line.indexOf(':');
    const name = colonAt === -1 ? line : line.slice(0, colonAt);
    if (name === 'id' || name === 'retry') return;
    const value = colonAt === -1 ? '' : line.slice(colonAt + 1);
    this.#otherFields ??= [];
    if (this.#otherFields.length >= otherFieldsMax) return;
    this.#otherFields.push({ name, value: value.startsWith(' ') ? value.slice(1) : value });
  }

  #takeBlock(end: number, kind: 'event' | 'residual'): SseEvent {
    const bytes = this.#storage.subarray(this.#blockStart, end);
    const event = this.#event;
    const otherFields = this.#otherFields ?? noFields;
    const taken: SseEvent =
      this.#dataLines === 0
        ? { kind: 'comment', event, otherFields, bytes }
        : { kind, event, data: this.#data(), otherFields, bytes };
    this.#blockStart = end;
    this.#lineStart = end;
    this.#event = null;
    this.#otherFields = null;
    this.#dataLines = 0;
    this.#dataJoined = '';
    return taken;
  }

  #data(): string {
    if (this.#dataLines > 1) return this.#dataJoined;
    return this.#storage.toString('utf8', this.#dataStart, this.#dataEnd);
  }
}

function withLineFeed(event: SseEvent): SseEvent {
  if (event.kind === 'too_large') return event;
  return { ...event, bytes: Buffer.concat([event.bytes, Buffer.from([lineFeed])]) };
}

/** Whether the line in [start, end) has the field `name`: the name, then a colon or the end. */
function isName(bytes: Buffer, start: number, end: number, name: string): boolean {
  const after = start + name.length;
  if (after > end || (after < end && bytes[after] !== colon)) return false;
  for (let offset = 1; offset < name.length; offset += 1) {
    if (bytes[start + offset] !== name.charCodeAt(offset)) return false;
  }
  return true;
}

/** Skips the colon at `at` and one space after it. */
function valueStart(bytes: Buffer, at: number, end: number): number {
  if (at >= end) return end;
  return at + 1 < end && bytes[at + 1] === space ? at + 2 : at + 1;
}
