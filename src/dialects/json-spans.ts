/**
 * Where the members of a JSON text lie, in bytes, so that an edit leaves all else as it was written:
 * unknown fields, number spellings, escapes, white space. Nothing is decoded but keys.
 */
import { parseJson } from '../base/json.ts';

/** Brackets nested deeper than this are refused: nothing a client means is, and walking it costs a stack. */
export const jsonDepthMax = 512;

/** A field of an object, or an element of an array (its `key` is '' and `start` = `valueStart`). Offsets in bytes, `end` exclusive. */
export type JsonMember = {
  readonly key: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
};

/** An object or array: `openAt` and `closeAt` are the places of its brackets. */
export type JsonContainer = {
  readonly openAt: number;
  readonly closeAt: number;
  readonly members: readonly JsonMember[];
};

/** Bytes [start, end) give way to `text`; '' removes, start = end inserts. */
export type Splice = { readonly start: number; readonly end: number; readonly text: string };

/** What a scan notes by the way. */
export type ScanNotes = {
  /** Where long strings lie, keys among them: start and end, quotes included, in turn. */
  readonly longStrings: number[];
  /** Whether a number below the outermost level may be more than JavaScript can hold. */
  hasLongNumber: boolean;
};

/** Digits of a number that may be beyond 2^53. */
const longNumberBytesMin = 16;

/** With its quotes. Below it a string is read sooner than it is put off. */
const longStringBytesMin = 256;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** A string's first bytes are looked at one by one; only a long one is worth a call to `indexOf`. */
const nearBytes = 48;
const windowBytesMin = 512;
const windowBytesMax = 8192;

/**
 * The members of the outermost object or array, or null when it is neither, or nests deeper than
 * `jsonDepthMax`. Runs on any bytes in one pass; what it says of a text that is no valid JSON means
 * nothing. Adds to `notes`.
 */
export function scanJson(bytes: Buffer, notes: ScanNotes | null = null): JsonContainer | null {
  return scanContainer(bytes, skipSpace(bytes, 0), Number.POSITIVE_INFINITY, notes);
}

/**
 * The members of the object or array that opens at `openAt`, or null as above. `membersMax` ends
 * the scan early: `closeAt` then is the end of the last member looked at.
 */
export function scanContainer(
  bytes: Buffer,
  openAt: number,
  membersMax = Number.POSITIVE_INFINITY,
  notes: ScanNotes | null = null,
): JsonContainer | null {
  const open = bytes[openAt];
  if (open !== openBrace && open !== openBracket) return null;
  const isObject = open === openBrace;
  const members: JsonMember[] = [];
  let at = skipSpace(bytes, openAt + 1);
  while (at < bytes.length && bytes[at] !== closeBrace && bytes[at] !== closeBracket) {
    const start = at;
    let key = '';
    if (isObject) {
      const keyEnd = stringEnd(bytes, at);
      key = keyOf(bytes, at, keyEnd);
      at = skipSpace(bytes, keyEnd);
      if (bytes[at] === colon) at = skipSpace(bytes, at + 1);
    }
    const end = valueEnd(bytes, at, notes);
    if (end === -1) return null;
    members.push({ key, start, valueStart: at, end });
    at = skipSpace(bytes, Math.max(end, start + 1));
    if (members.length >= membersMax) return { openAt, closeAt: end, members };
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1);
  }
  return { openAt, closeAt: at, members };
}

/** The last member with `key`, as a parser reads it, or null. */
export function memberAt(container: JsonContainer | null, key: string): JsonMember | null {
  return container?.members.findLast((member) => member.key === key) ?? null;
}

/** Splices that take the members for which `isRemoved` holds out of their container, commas included. */
export function removeMembers(
  container: JsonContainer,
  isRemoved: (member: JsonMember) => boolean,
): readonly Splice[] {
  const splices: Splice[] = [];
  let runStart: number | null = null;
  let lastKept: JsonMember | null = null;
  let lastRemoved: JsonMember | null = null;
  for (const member of container.members) {
    if (isRemoved(member)) {
      runStart ??= member.start;
      lastRemoved = member;
      continue;
    }
    if (runStart !== null) splices.push({ start: runStart, end: member.start, text: '' });
    runStart = null;
    lastKept = member;
  }
  if (runStart !== null && lastRemoved !== null) {
    splices.push({ start: lastKept?.end ?? runStart, end: lastRemoved.end, text: '' });
  }
  return splices;
}

/**
 * `bytes` with the splices applied. Of insertions at one place the first given comes first; a splice
 * that begins inside a stretch already replaced is lost with it.
 */
export function applySplices(bytes: Buffer, splices: readonly Splice[]): Buffer {
  if (splices.length === 0) return bytes;
  const pieces: Buffer[] = [];
  let at = 0;
  for (const splice of splices.toSorted(compareSplices)) {
    if (splice.start < at) continue;
    if (splice.start > at) pieces.push(bytes.subarray(at, splice.start));
    if (splice.text !== '') pieces.push(Buffer.from(splice.text));
    at = splice.end;
  }
  if (at < bytes.length) pieces.push(bytes.subarray(at));
  return Buffer.concat(pieces);
}

/** By place; what inserts there comes before what replaces from there on. */
function compareSplices(left: Splice, right: Splice): number {
  if (left.start !== right.start) return left.start - right.start;
  return Number(left.end > left.start) - Number(right.end > right.start);
}

/** The string that is the member's value, or null when it is no string. */
export function stringIn(bytes: Buffer, member: JsonMember | null): string | null {
  if (member === null || bytes[member.valueStart] !== quote) return null;
  const read = parseJson(bytes.toString('utf8', member.valueStart, member.end));
  return read.ok && typeof read.value === 'string' ? read.value : null;
}

/** Whether brackets nest deeper than `jsonDepthMax`; asked before a large text is parsed. */
export function isNestedTooDeeply(bytes: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = stringEnd(bytes, at) - 1;
    else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > jsonDepthMax) return true;
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
  }
  return false;
}

function keyOf(bytes: Buffer, start: number, end: number): string {
  const raw = bytes.toString('utf8', start + 1, end - 1);
  if (!raw.includes('\\')) return raw;
  const read = parseJson(`"${raw}"`);
  return read.ok && typeof read.value === 'string' ? read.value : raw;
}

/** The end of the value at `at`; -1 when it nests too deeply. */
function valueEnd(bytes: Buffer, at: number, notes: ScanNotes | null): number {
  const byte = bytes[at];
  if (byte === openBrace || byte === openBracket) return containerEnd(bytes, at, notes);
  if (byte !== quote) return scalarEnd(bytes, at);
  return notedStringEnd(bytes, at, notes);
}

function notedStringEnd(bytes: Buffer, at: number, notes: ScanNotes | null): number {
  const end = stringEnd(bytes, at);
  if (notes !== null && end - at >= longStringBytesMin) notes.longStrings.push(at, end);
  return end;
}

function containerEnd(bytes: Buffer, openAt: number, notes: ScanNotes | null): number {
  let depth = 0;
  let at = openAt;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === quote) {
      at = notedStringEnd(bytes, at, notes);
      continue;
    }
    at += 1;
    if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth >= jsonDepthMax) return -1;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth === 0) return at;
    } else if (isDigit(byte)) {
      const start = at - 1;
      at = scalarEnd(bytes, at);
      if (notes !== null && isLongNumber(bytes, start, at)) notes.hasLongNumber = true;
    }
  }
  return bytes.length;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function isLongNumber(bytes: Buffer, start: number, end: number): boolean {
  if (end - start >= longNumberBytesMin) return true;
  for (let at = start; at < end; at += 1) {
    if (bytes[at] === 0x65 || bytes[at] === 0x45) return true;
  }
  return false;
}

function scalarEnd(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === comma || byte === closeBrace || byte === closeBracket || isSpace(byte)) return at;
    at += 1;
  }
  return at;
}

/** The place after the closing quote of the string that opens at `openAt`. */
function stringEnd(bytes: Buffer, openAt: number): number {
  let at = openAt + 1;
  const near = Math.min(at + nearBytes, bytes.length);
  while (at < near) {
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    at += byte === backslash ? 2 : 1;
  }
  if (at >= bytes.length) return bytes.length;
  const found = bytes.indexOf(quote, at);
  if (found === -1) return bytes.length;
  let slashes = 0;
  while (found - 1 - slashes >= at && bytes[found - 1 - slashes] === backslash) slashes += 1;
  return slashes % 2 === 0 ? found + 1 : quotedStringEnd(bytes, found + 1);
}

/**
 * The same for a string that holds quotes, most likely many (code, JSON in JSON): searching a string
 * costs far less a call than searching bytes. No escape may reach over `start`.
 */
function quotedStringEnd(bytes: Buffer, start: number): number {
  let at = start;
  for (let size = windowBytesMin; at < bytes.length; size = Math.min(2 * size, windowBytesMax)) {
    const window = bytes.toString('latin1', at, Math.min(at + size, bytes.length));
    for (let from = 0; ; ) {
      const found = window.indexOf('"', from);
      if (found === -1) break;
      if (slashesBefore(window, found) % 2 === 0) return at + found + 1;
      from = found + 1;
    }
    at += window.length + (slashesBefore(window, window.length) % 2);
  }
  return bytes.length;
}

function slashesBefore(text: string, at: number): number {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === backslash) slashes += 1;
  return slashes;
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && isSpace(bytes[at])) at += 1;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
