/** Splices inside the `messages` of a client's own body. */
import { append } from '../../base/append.ts';
import { arrayAt, isJsonObject, type JsonObject, stringAt } from '../../base/json.ts';
import { type Result, success } from '../../base/result.ts';
import type { Message, OriginalBody } from '../../chat/request.ts';
import { isSameModel, modelInSignature } from '../claude-signature.ts';
import { traitsOf } from '../claude-traits.ts';
import type { RequestFault, UpstreamCall } from '../dialect.ts';
import {
  type JsonMember,
  memberAt,
  removeMembers,
  type Splice,
  scanContainer,
} from '../json-spans.ts';
import { arrangeTurns } from '../turns.ts';
import type { UniqueCallIds } from '../unique-call-ids.ts';
import type { DecodedBody } from './client-request.ts';
import { encodeMessages, goOn } from './encode-messages.ts';
import { toolName } from './encode-tools.ts';
import { isUnsigned } from './thinking-origin.ts';
import { toolCallIds } from './tool-call-ids.ts';

type Place = { readonly bytes: Buffer; readonly member: JsonMember };

/** What of one message must change, by the positions of its blocks. */
type Change = {
  readonly removed: ReadonlySet<number>;
  /** New ids of calls and of what results answer. */
  readonly ids: ReadonlyMap<number, string>;
};

/**
 * Thinking that the target may not be shown, ids that it would refuse, and the messages that the
 * gateway has added behind the client's own.
 */
export function editMessages(
  call: UpstreamCall,
  at: Place | null,
  dropped: Set<string>,
): Result<readonly Splice[], RequestFault> {
  if (at === null) return success([]);
  const messages = arrayAt(call.request.original.json, 'messages');
  const changes = changesOf(messages, call);
  const added = encodeAdded(addedMessages(call.request.original, call.request.messages));
  if (!added.ok) return added;
  const isRefused = added.value === '' && isRefusedPrefill(messages.at(-1), call);
  if (isRefused) dropped.add('prefill');
  const behind = isRefused ? JSON.stringify(goOn) : added.value;
  if (changes.size === 0 && behind === '') return success([]);
  const list = scanContainer(at.bytes, at.member.valueStart);
  if (list === null) return success([]);
  const splices: Splice[] = [];
  const emptied = new Set<JsonMember>();
  for (const [index, change] of changes) {
    const element = list.members[index];
    if (element === undefined) continue;
    const isEmptied = change.removed.size === arrayAt(messages[index], 'content').length;
    if (isEmptied) emptied.add(element);
    else changeMessage(at.bytes, element, change, splices);
  }
  append(
    splices,
    removeMembers(list, (element) => emptied.has(element)),
  );
  const last = list.members.findLast((element) => !emptied.has(element));
  const start = last?.end ?? list.closeAt;
  const comma = last === undefined ? '' : ',';
  if (behind !== '') splices.push({ start, end: start, text: comma + behind });
  return success(splices);
}

/** What the model itself may end with; a turn of a tool that the service runs is to be gone on with. */
const saidTypes: readonly unknown[] = ['text', 'thinking', 'redacted_thinking'];

/** Whether `last` is a turn that the model would be asked to go on with, which newer ones refuse. */
function isRefusedPrefill(last: unknown, { model, isToBeContinued }: UpstreamCall): boolean {
  if (stringAt(last, 'role') !== 'assistant' || isToBeContinued === true) return false;
  const isSaid = arrayAt(last, 'content').every((block) =>
    saidTypes.includes(stringAt(block, 'type')),
  );
  return isSaid && !traitsOf(model).takesPrefill;
}

/** Whether `block` is thinking that the target may not be shown: another model's, or nobody's. */
export function isForeignThinking(block: unknown, call: UpstreamCall): boolean {
  const type = stringAt(block, 'type');
  if (type !== 'thinking' && type !== 'redacted_thinking') return false;
  const isRedacted = type === 'redacted_thinking';
  const signature = stringAt(block, isRedacted ? 'data' : 'signature');
  // Without a signature no service takes it. Redacted data may have been put off, when it is long.
  if (!isRedacted && (signature === null || signature === '' || isUnsigned(signature))) return true;
  const maker = (signature === null ? null : modelInSignature(signature)) ?? call.usualModel;
  return maker !== undefined && maker !== null && !isSameModel(maker, call.model);
}

function changesOf(messages: readonly unknown[], call: UpstreamCall): ReadonlyMap<number, Change> {
  const changes = new Map<number, Change>();
  const ids = toolCallIds();
  const sent = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    const removed = new Set<number>();
    const renamed = new Map<number, string>();
    for (const [position, block] of arrayAt(message, 'content').entries()) {
      if (isForeignThinking(block, call)) removed.add(position);
      const id = newId(block, ids, sent);
      if (id !== null) renamed.set(position, id);
    }
    if (removed.size > 0 || renamed.size > 0) changes.set(index, { removed, ids: renamed });
  }
  return changes;
}

/** The id to write into a call or a result; null = its own stays. */
function newId(block: unknown, ids: UniqueCallIds, sent: Map<string, string>): string | null {
  if (!isJsonObject(block)) return null;
  const id = stringAt(block, idFieldOf(block));
  if (id === null) return null;
  if (block['type'] === 'tool_use') sent.set(id, ids.next(id));
  const wanted = sent.get(id) ?? id;
  return wanted === id ? null : wanted;
}

function idFieldOf(block: JsonObject): string {
  if (block['type'] === 'tool_use') return 'id';
  return block['type'] === 'tool_result' ? 'tool_use_id' : '';
}

function changeMessage(
  bytes: Buffer,
  element: JsonMember,
  { removed, ids }: Change,
  splices: Splice[],
): void {
  const content = memberAt(scanContainer(bytes, element.valueStart), 'content');
  const blocks = content === null ? null : scanContainer(bytes, content.valueStart);
  if (blocks === null) return;
  const gone = new Set([...removed].map((position) => blocks.members[position]));
  append(
    splices,
    removeMembers(blocks, (member) => gone.has(member)),
  );
  for (const [position, id] of ids) {
    const block = blocks.members[position];
    const fields = block === undefined ? null : scanContainer(bytes, block.valueStart);
    const member = memberAt(fields, 'tool_use_id') ?? memberAt(fields, 'id');
    if (member === null) continue;
    splices.push({ start: member.valueStart, end: member.end, text: JSON.stringify(id) });
  }
}

function addedMessages(original: OriginalBody, messages: readonly Message[]): readonly Message[] {
  return isDecoded(original) ? messages.slice(original.messageCount) : [];
}

function isDecoded(original: OriginalBody): original is DecodedBody {
  return 'messageCount' in original;
}

/** Messages in JSON, separated by commas; '' = none. */
function encodeAdded(added: readonly Message[]): Result<string, RequestFault> {
  if (added.length === 0) return success('');
  const arranged = arrangeTurns(added, 'none');
  if (!arranged.ok) return arranged;
  const { turns } = arranged.value;
  // They stand behind the client's own: no opening turn is wanted before the assistant's.
  const isOpened = added[0]?.role === 'assistant';
  const options = { takesPrefill: true, toolName };
  const encoded = encodeMessages(isOpened ? turns.slice(1) : turns, options, new Set());
  if (!encoded.ok) return encoded;
  return success(encoded.value.map((message) => JSON.stringify(message)).join(','));
}
