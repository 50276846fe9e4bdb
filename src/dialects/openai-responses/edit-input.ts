/** Splices inside the `input` of a client's own body. */
import { append } from '../../base/append.ts';
import { isJsonObject, type JsonObject, stringAt } from '../../base/json.ts';
import { type Result, success } from '../../base/result.ts';
import type { Message, OriginalBody } from '../../chat/request.ts';
import type { RequestFault, UpstreamCall } from '../dialect.ts';
import type { FieldEdit } from '../field-edit.ts';
import {
  type JsonMember,
  memberAt,
  removeMembers,
  type Splice,
  scanContainer,
} from '../json-spans.ts';
import { isCarrier } from '../reasoning-carrier.ts';
import type { UniqueCallIds } from '../unique-call-ids.ts';
import type { DecodedBody } from './client-request.ts';
import { encodeMessages } from './encode-messages.ts';
import { isOwnItemId } from './item-ids.ts';
import { isReadableFor } from './reasoning-origin.ts';
import { toolCallIds } from './tool-call-ids.ts';

export type InputEdit = {
  readonly call: UpstreamCall;
  /** The account that is asked keeps what the ids of items name. */
  readonly isKept: boolean;
  readonly dropped: Set<string>;
};

/** What of one item must change. */
type Change =
  | { readonly kind: 'gone' }
  | { readonly kind: 'edited'; readonly isIdGone: boolean; readonly callId: string | null };

/**
 * Reasoning that the target cannot read, ids under which nobody keeps anything, ids of calls that it
 * would refuse, and the messages that the gateway has added behind the client's own.
 */
export function editInput(
  edit: FieldEdit,
  context: InputEdit,
): Result<readonly Splice[], RequestFault> {
  const member = edit.member('input');
  if (member === null) return success([]);
  const added = encodeAdded(context.call);
  if (!added.ok) return added;
  const { input } = context.call.request.original.json;
  if (!Array.isArray(input)) return success(besideText(member, added.value));
  const changes = changesOf(input, context);
  if (changes.size === 0 && added.value === '') return success([]);
  return success(itemSplices(edit.bytes, member, changes, added.value));
}

/** A plain text becomes the first item. */
function besideText({ valueStart, end }: JsonMember, added: string): readonly Splice[] {
  if (added === '') return [];
  return [
    { start: valueStart, end: valueStart, text: '[{"role":"user","content":' },
    { start: end, end, text: `},${added}]` },
  ];
}

function itemSplices(
  bytes: Buffer,
  member: JsonMember,
  changes: ReadonlyMap<number, Change>,
  added: string,
): readonly Splice[] {
  const list = scanContainer(bytes, member.valueStart);
  if (list === null) return [];
  const splices: Splice[] = [];
  const gone = new Set<JsonMember>();
  for (const [index, change] of changes) {
    const element = list.members[index];
    if (element === undefined) continue;
    if (change.kind === 'gone') gone.add(element);
    else changeItem(bytes, element, change, splices);
  }
  append(
    splices,
    removeMembers(list, (element) => gone.has(element)),
  );
  if (added === '') return splices;
  const last = list.members.findLast((element) => !gone.has(element));
  const start = last?.end ?? list.closeAt;
  splices.push({ start, end: start, text: last === undefined ? added : `,${added}` });
  return splices;
}

function changeItem(
  bytes: Buffer,
  element: JsonMember,
  { isIdGone, callId }: Extract<Change, { readonly kind: 'edited' }>,
  splices: Splice[],
): void {
  const fields = scanContainer(bytes, element.valueStart);
  if (fields === null) return;
  if (isIdGone) {
    append(
      splices,
      removeMembers(fields, ({ key }) => key === 'id'),
    );
  }
  const member = memberAt(fields, 'call_id');
  if (callId === null || member === null) return;
  splices.push({ start: member.valueStart, end: member.end, text: JSON.stringify(callId) });
}

function changesOf(items: readonly unknown[], context: InputEdit): ReadonlyMap<number, Change> {
  const changes = new Map<number, Change>();
  const ids = toolCallIds();
  const sent = new Map<string, string>();
  for (const [index, item] of items.entries()) {
    if (!isJsonObject(item)) continue;
    const type = item['type'] ?? 'message';
    const lost = lostName(item, type, context);
    if (lost !== null) {
      context.dropped.add(lost);
      changes.set(index, { kind: 'gone' });
      continue;
    }
    const isIdGone = Object.hasOwn(item, 'id') && isIdMeaningless(item, type, context);
    const callId = newCallId(item, type, ids, sent);
    if (isIdGone || callId !== null) changes.set(index, { kind: 'edited', isIdGone, callId });
  }
  return changes;
}

/** What is told of an item that is left out; null = it stays. Clients refer to thoughts alone where nothing is kept. */
function lostName(item: JsonObject, type: unknown, context: InputEdit): string | null {
  if (type === 'item_reference') {
    const isKept = context.isKept || context.call.items?.isKeptHere(stringAt(item, 'id') ?? '');
    return isKept === true ? null : type;
  }
  return type === 'reasoning' && !isReadable(item, context) ? type : null;
}

/** Without what is encrypted in it an item stands for what the account keeps, which may be nothing. */
function isReadable(item: JsonObject, { call, isKept }: InputEdit): boolean {
  if (call.items?.isMadeElsewhere(stringAt(item, 'id') ?? '') === true) return false;
  const encrypted = item['encrypted_content'];
  if (encrypted === undefined || encrypted === null || encrypted === '') return isKept;
  if (typeof encrypted === 'string' && isCarrier(encrypted)) return false;
  return isKept || isReadableFor(null, call);
}

/** Items whose ids only name what an account keeps; other kinds are not taken without theirs. */
const namedItems: readonly unknown[] = [
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
];

/** An id is looked up, and an item refused whose id is not found: one that the gateway or another account made. */
function isIdMeaningless(item: JsonObject, type: unknown, { call, isKept }: InputEdit): boolean {
  if (!namedItems.includes(type)) return false;
  const id = stringAt(item, 'id') ?? '';
  return !isKept || isOwnItemId(id) || call.items?.isMadeElsewhere(id) === true;
}

/** The id to write into a call or a result; null = its own stays. */
function newCallId(
  item: JsonObject,
  type: unknown,
  ids: UniqueCallIds,
  sent: Map<string, string>,
): string | null {
  const id = stringAt(item, 'call_id');
  if (id === null) return null;
  if (type === 'function_call' || type === 'custom_tool_call') sent.set(id, ids.next(id));
  const wanted = sent.get(id) ?? id;
  return wanted === id ? null : wanted;
}

function isDecoded(original: OriginalBody): original is DecodedBody {
  return 'messageCount' in original;
}

/** Items in JSON, separated by commas; '' = none. */
function encodeAdded(call: UpstreamCall): Result<string, RequestFault> {
  const { original, messages } = call.request;
  const added: readonly Message[] = isDecoded(original)
    ? messages.slice(original.messageCount)
    : [];
  if (added.length === 0) return success('');
  const items = encodeMessages(added, call, new Set());
  if (!items.ok) return items;
  return success(items.value.map((item) => JSON.stringify(item)).join(','));
}
