/**
 * The client's own body with what the gateway owns spliced in: everything else, fields that nobody
 * here has heard of included, leaves as it came, byte for byte.
 */
import { fail, type Result, success } from '../../base/result.ts';
import { isScanned } from '../client-body.ts';
import type { EncodedCall, RequestFault, UpstreamCall } from '../dialect.ts';
import { FieldEdit } from '../field-edit.ts';
import {
  applySplices,
  memberAt,
  type Splice,
  scanContainer,
  scanJson,
  stringIn,
} from '../json-spans.ts';
import { outputLimit } from '../output-limit.ts';
import { ownDescription } from '../tool-descriptions.ts';
import type { ChatQuirks } from './chat-quirks.ts';
import { editMessages } from './edit-messages.ts';
import { fieldOf, outputLimitFields, refusedSampling, wireValueOf } from './encode-parameters.ts';

/** What the gateway writes itself, whatever a target's settings say. */
const ownedFields: ReadonlySet<string> = new Set(['model', 'messages', 'stream', 'tiergate']);

export function editBody(
  call: UpstreamCall,
  quirks: ChatQuirks,
): Result<EncodedCall, RequestFault> {
  const { original } = call.request;
  const fields = isScanned(original) ? original.fields : scanJson(original.bytes);
  if (fields === null) return fail({ param: null, message: 'the body is no JSON object' });
  const edit = new FieldEdit(original.bytes, fields);
  for (const [name, value] of Object.entries(call.extraFields)) {
    if (!ownedFields.has(name)) edit.set(name, value);
  }
  const dropped = new Set<string>();
  editParameters(edit, call, quirks, dropped);
  edit.set('model', call.model);
  edit.remove('tiergate');
  if (call.isStream !== call.request.isStream) edit.set('stream', call.isStream);
  if (call.isStream) editStreamOptions(edit);
  else if (call.request.isStream) edit.remove('stream_options');
  const echoed = quirks.messages?.echo?.place ?? null;
  const messages = editMessages(call, edit.placeOf('messages'), echoed);
  if (!messages.ok) return messages;
  const splices = [...messages.value, ...editTools(call, edit.placeOf('tools'))];
  const body = applySplices(original.bytes, [...edit.splices(), ...splices]);
  return success({ body, dropped: [...dropped] });
}

/** What the model refuses is left out, or gives way. */
function editParameters(
  edit: FieldEdit,
  call: UpstreamCall,
  quirks: ChatQuirks,
  dropped: Set<string>,
): void {
  const { parameters, ownedParameters, isReasoningModel } = call;
  for (const name of ownedParameters) {
    if (name === 'max_tokens') continue;
    edit.set(fieldOf(name, isReasoningModel), wireValueOf(name, parameters));
  }
  editOutputLimit(edit, call, dropped);
  if (!isReasoningModel) return;
  // Models that take no stop sequences refuse those that stop nothing, too.
  if (wireValueOf('stop', parameters) === undefined) edit.remove('stop');
  for (const [name, accepted] of refusedSampling(quirks)) {
    const value = parameters[name];
    if (value === null || value === accepted || ownedParameters.includes(name)) continue;
    edit.remove(name);
    dropped.add(name);
  }
}

/** One limit goes out, under the name the model takes; of two the smaller holds. */
function editOutputLimit(edit: FieldEdit, call: UpstreamCall, dropped: Set<string>): void {
  const [older, newer] = outputLimitFields;
  const limit = outputLimit(call, dropped);
  if (call.ownedParameters.includes('max_tokens')) {
    const wanted = call.isReasoningModel || edit.member(newer) !== null ? newer : older;
    for (const name of outputLimitFields) edit.remove(name);
    if (limit !== null) edit.set(wanted, limit);
    return;
  }
  if (edit.member(older) !== null && edit.member(newer) !== null) {
    edit.remove(call.isReasoningModel ? older : newer);
    if (limit !== null) edit.set(call.isReasoningModel ? newer : older, limit);
  } else if (edit.member(older) !== null && call.isReasoningModel) {
    edit.setText(newer, edit.text(older) ?? 'null');
    edit.remove(older);
  }
  if (limit === null || limit === call.parameters.max_tokens) return;
  for (const name of outputLimitFields) if (edit.text(name) !== null) edit.set(name, limit);
}

/** Usage is always asked for: the gateway counts, and keeps it from a client that did not ask. */
function editStreamOptions(edit: FieldEdit): void {
  const member = edit.member('stream_options');
  const options = member === null ? null : scanContainer(edit.bytes, member.valueStart);
  if (member === null || options === null) {
    edit.setText('stream_options', '{"include_usage":true}');
    return;
  }
  const kept = options.members
    .filter((option) => option.key !== 'include_usage')
    .map((option) => edit.bytes.toString('utf8', option.start, option.end));
  edit.setText('stream_options', `{${[...kept, '"include_usage":true'].join(',')}}`);
}

function editTools(
  call: UpstreamCall,
  at: { readonly bytes: Buffer; readonly valueStart: number } | null,
): readonly Splice[] {
  if (at === null || Object.keys(call.toolDescriptions).length === 0) return [];
  const splices: Splice[] = [];
  for (const element of scanContainer(at.bytes, at.valueStart)?.members ?? []) {
    const wrapper = scanContainer(at.bytes, element.valueStart);
    const definition = memberAt(wrapper, 'function');
    const fields = definition === null ? null : scanContainer(at.bytes, definition.valueStart);
    const nameMember = memberAt(fields, 'name');
    const name = stringIn(at.bytes, nameMember);
    if (fields === null || nameMember === null || name === null) continue;
    const description = ownDescription(call.toolDescriptions, name);
    if (description === null) continue;
    const text = JSON.stringify(description);
    const present = memberAt(fields, 'description');
    if (present !== null) splices.push({ start: present.valueStart, end: present.end, text });
    else
      splices.push({ start: nameMember.end, end: nameMember.end, text: `,"description":${text}` });
  }
  return splices;
}
