/**
 * Splices inside the contents of a client's own body: signatures that the asked model would refuse
 * or miss, and the turns that the gateway has added at the end.
 */
import { append } from '../../base/append.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { type Result, success } from '../../base/result.ts';
import type { Message, OriginalBody } from '../../chat/request.ts';
import type { RequestFault, UpstreamCall } from '../dialect.ts';
import {
  type JsonContainer,
  type JsonMember,
  memberAt,
  removeMembers,
  type Splice,
  scanContainer,
} from '../json-spans.ts';
import { arrangeTurns } from '../turns.ts';
import type { DecodedBody } from './client-request.ts';
import { dummySignature, encodeMessages } from './encode-messages.ts';
import { familyOf, thinkingControlOf } from './model-family.ts';
import { elementsAt, memberNamed } from './part-bytes.ts';
import { fieldAt } from './proto-names.ts';
import { dialectName } from './wire.ts';

export function editContents(
  call: UpstreamCall,
  bytes: Buffer,
  contents: JsonMember,
): Result<readonly Splice[], RequestFault> {
  const splices: Splice[] = [];
  const { original } = call.request;
  const given = listOf(original.json['contents']);
  const changes = changesIn(given, signingOf(call));
  if (changes.size > 0) applyAll(changes, given, { bytes, contents, splices });
  const added = encodeAdded(call, original);
  if (!added.ok) return added;
  const last = scanContainer(bytes, contents.valueStart)?.members.at(-1);
  const isList = bytes[contents.valueStart] === openBracket;
  if (added.value !== '' && last !== undefined && isList) {
    splices.push({ start: last.end, end: last.end, text: added.value });
  } else if (added.value !== '') {
    splices.push({ start: contents.valueStart, end: contents.valueStart, text: '[' });
    splices.push({ start: contents.end, end: contents.end, text: `${added.value}]` });
  }
  return success(splices);
}

const openBracket = 0x5b;

/** What becomes of a part: signed with the dummy, without its signature, or left out. */
type Change = 'dummy' | 'unsigned' | 'gone';
/** By content, by part. */
type Changes = ReadonlyMap<number, ReadonlyMap<number, Change>>;

type Signing = {
  /** The signatures in the history were made by models of another family. */
  readonly isForeign: boolean;
  /** The asked model wants its calls signed. */
  readonly isWanted: boolean;
};

/** Signatures hold for the family of models that made them, which is taken to be the usual model's. */
function signingOf({ model, usualModel = null }: UpstreamCall): Signing {
  return {
    isForeign: usualModel !== null && familyOf(usualModel) !== familyOf(model),
    isWanted: thinkingControlOf(model).kind === 'level',
  };
}

/**
 * A history that comes from elsewhere has no signatures, and models that sign their calls want one on
 * the first call of each step: the documented dummy then stands there. Empty text, with which a stream
 * ends and which SDKs keep, is refused by some models.
 */
function changesIn(contents: readonly unknown[], signing: Signing): Changes {
  const changes = new Map<number, ReadonlyMap<number, Change>>();
  let isFirstCall = true;
  for (const [index, content] of contents.entries()) {
    if (!isOfModel(content)) {
      isFirstCall = true;
      continue;
    }
    const found = new Map<number, Change>();
    for (const [at, part] of listOf(content['parts']).entries()) {
      if (!isJsonObject(part)) continue;
      const isCall = fieldAt(part, 'functionCall') !== undefined;
      const change = changeOf(part, signing, isCall && isFirstCall);
      if (change !== null) found.set(at, change);
      if (isCall) isFirstCall = false;
    }
    if (found.size > 0) changes.set(index, found);
  }
  return changes;
}

function changeOf(
  part: JsonObject,
  { isForeign, isWanted }: Signing,
  isFirstCall: boolean,
): Change | null {
  const isSigned = fieldAt(part, 'thoughtSignature') !== undefined;
  const isKept = isSigned && !isForeign;
  if (part['text'] === '' && !isKept) return 'gone';
  if (isFirstCall && isWanted && !isKept) return 'dummy';
  return isSigned && isForeign ? 'unsigned' : null;
}

function isOfModel(content: unknown): content is JsonObject {
  return isJsonObject(content) && content['role'] === 'model';
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? [value] : [];
}

type Target = {
  readonly bytes: Buffer;
  readonly contents: JsonMember;
  readonly splices: Splice[];
};

function applyAll(changes: Changes, given: readonly unknown[], target: Target): void {
  const { bytes, contents, splices } = target;
  const elements = elementsAt(bytes, contents.valueStart);
  const hollow = new Set<number>();
  for (const [index, found] of changes) {
    const content = given[index];
    const count = isOfModel(content) ? listOf(content['parts']).length : 0;
    const goes = [...found.values()].filter((change) => change === 'gone').length;
    if (goes < count) applyTo(found, elements[index], target);
    // Beside another of the model's a content with nothing in it is none.
    else if (isOfModel(given[index - 1]) || isOfModel(given[index + 1])) hollow.add(index);
  }
  if (hollow.size > 0) removeElements(bytes, contents.valueStart, hollow, splices);
}

/** Where the list is a single object in its place nothing is removed. */
function removeElements(
  bytes: Buffer,
  openAt: number,
  places: ReadonlySet<number>,
  splices: Splice[],
): void {
  const list = bytes[openAt] === openBracket ? scanContainer(bytes, openAt) : null;
  if (list === null) return;
  const removed = new Set([...places].map((place) => list.members[place]));
  append(
    splices,
    removeMembers(list, (member) => removed.has(member)),
  );
}

function applyTo(
  found: ReadonlyMap<number, Change>,
  openAt: number | undefined,
  { bytes, splices }: Target,
): void {
  const list = openAt === undefined ? null : memberNamed(bytes, openAt, 'parts');
  if (list === null) return;
  const parts = elementsAt(bytes, list.valueStart);
  const gone = new Set<number>();
  for (const [at, change] of found) {
    const partAt = parts[at];
    const fields = partAt === undefined ? null : scanContainer(bytes, partAt);
    if (partAt === undefined || fields === null) continue;
    if (change === 'gone') gone.add(at);
    else if (change === 'unsigned') append(splices, removeMembers(fields, isSignature));
    else sign(fields, memberNamed(bytes, partAt, 'functionCall'), splices);
  }
  if (gone.size > 0) removeElements(bytes, list.valueStart, gone, splices);
}

function isSignature({ key }: JsonMember): boolean {
  return key === 'thoughtSignature' || key === 'thought_signature';
}

function sign(fields: JsonContainer, call: JsonMember | null, splices: Splice[]): void {
  const text = JSON.stringify(dummySignature);
  const present =
    memberAt(fields, 'thoughtSignature') ?? memberAt(fields, 'thought_signature') ?? null;
  if (present !== null) splices.push({ start: present.valueStart, end: present.end, text });
  else if (call !== null) {
    splices.push({ start: call.end, end: call.end, text: `,"thoughtSignature":${text}` });
  }
}

function isDecoded(original: OriginalBody): original is DecodedBody {
  return 'messageCount' in original;
}

/** Turns beyond the client's own, as text that goes on from the last of its contents; '' = none. */
function encodeAdded(call: UpstreamCall, original: OriginalBody): Result<string, RequestFault> {
  const { messages } = call.request;
  const added = isDecoded(original) ? messages.slice(original.messageCount) : [];
  if (added.length === 0) return success('');
  const turns = arrangeTurns(added, dialectName);
  if (!turns.ok) return turns;
  // A conversation that would begin with the model's turn is given an opening: here it goes on.
  const own = startsWithModel(added) ? turns.value.turns.slice(1) : turns.value.turns;
  const encoded = encodeMessages(own, familyOf(call.model), new Set());
  if (!encoded.ok) return encoded;
  return success(encoded.value.map((content) => `,${JSON.stringify(content)}`).join(''));
}

function startsWithModel([first]: readonly Message[]): boolean {
  return first?.role === 'assistant';
}
