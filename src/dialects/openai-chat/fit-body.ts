/**
 * A body as one service takes it: fields under its own names, without those that it refuses. Works on
 * the bytes, so that whatever it does not concern leaves as it came.
 */
import { arrayAt, objectAt, parseJson, stringAt } from '../../base/json.ts';
import { plainName } from '../client-body.ts';
import type { EncodedCall, UpstreamCall } from '../dialect.ts';
import { FieldEdit } from '../field-edit.ts';
import {
  applySplices,
  memberAt,
  type Splice,
  scanContainer,
  scanJson,
  stringIn,
} from '../json-spans.ts';
import { nearestEffort } from '../nearest-effort.ts';
import { isThinkingOpen, openEffort } from '../thinking-budget.ts';
import type { ChatQuirks } from './chat-quirks.ts';
import { outputLimitFields } from './encode-parameters.ts';
import { fitMessages } from './fit-messages.ts';
import { dialectName } from './wire.ts';

/** What of the quirks shows in bodies; the rest decides which requests may be asked at all. */
const bodyQuirks = [
  'outputLimit',
  'renamedFields',
  'onlyFields',
  'refusedFields',
  'effortFields',
  'serviceTiers',
  'takesStreamOptions',
  'toolChoice',
  'messages',
] as const satisfies readonly (keyof ChatQuirks)[];

/** False: `fitBody` would change nothing, and a large body need not be read again. */
export function needsFitting(call: UpstreamCall, quirks: ChatQuirks): boolean {
  const effort = isThinkingOpen(call, dialectName) ? openEffort : call.parameters.reasoning_effort;
  const isForeignEffort = effort !== null && call.efforts?.includes(effort) === false;
  return isForeignEffort || bodyQuirks.some((name) => quirks[name] !== undefined);
}

/** What was set for the target on purpose is not taken out again. */
function isSetOnPurpose(call: UpstreamCall, field: string): boolean {
  return (
    Object.hasOwn(call.extraFields, field) || call.ownedParameters.some((name) => name === field)
  );
}

export function fitBody(encoded: EncodedCall, call: UpstreamCall, quirks: ChatQuirks): EncodedCall {
  const bytes = Buffer.from(encoded.body);
  const fields = scanJson(bytes);
  if (fields === null) return encoded;
  const edit = new FieldEdit(bytes, fields);
  const dropped = new Set(encoded.dropped);
  fitEffort(edit, call, quirks, dropped);
  fitTools(edit, quirks);
  renameFields(edit, quirks, dropped);
  refuseFields(edit, call, quirks, dropped);
  const splices: Splice[] = [...edit.splices()];
  if (quirks.messages?.prefillMark !== undefined) dropped.delete('prefill');
  const messages = edit.member('messages');
  if (messages !== null && quirks.messages !== undefined) {
    const { isReasoningModel } = call;
    const place = { bytes, valueStart: messages.valueStart };
    splices.push(...fitMessages(place, quirks.messages, { isReasoningModel, dropped }));
  }
  return { body: applySplices(bytes, splices), dropped: [...dropped] };
}

function fitEffort(
  edit: FieldEdit,
  call: UpstreamCall,
  quirks: ChatQuirks,
  dropped: Set<string>,
): void {
  const field = 'reasoning_effort';
  const wanted = wordIn(edit, field);
  if (wanted === null) return;
  const fields = quirks.effortFields;
  if (fields !== undefined && Object.hasOwn(fields, wanted)) {
    edit.remove(field);
    for (const [name, value] of Object.entries(fields[wanted] ?? {})) edit.set(name, value);
    return;
  }
  if (isSetOnPurpose(call, field)) return;
  const known = call.efforts ?? null;
  const effort = known === null ? wanted : nearestEffort(wanted, known);
  if (effort === wanted) return;
  edit.set(field, effort ?? undefined);
  dropped.add(field);
}

function wordIn(edit: FieldEdit, field: string): string | null {
  return stringIn(edit.bytes, edit.member(field));
}

/** A list of tools that is empty is refused by many, and says nothing. */
function fitTools(edit: FieldEdit, { toolChoice }: ChatQuirks): void {
  const tools = edit.member('tools');
  const elements = tools === null ? null : scanContainer(edit.bytes, tools.valueStart);
  if (elements === null) return;
  const given = edit.text('tool_choice');
  const parsed = given === null ? null : parseJson(given);
  const choice = parsed?.ok ? parsed.value : null;
  const isUseless = toolChoice === 'ignored' && choice === 'none';
  if (elements.members.length === 0 || isUseless) {
    edit.remove('tools');
    edit.remove('tool_choice');
    return;
  }
  if (toolChoice === undefined || stringAt(choice, 'type') !== 'allowed_tools') return;
  const subset = objectAt(choice, 'allowed_tools');
  const names = arrayAt(subset, 'tools').map((tool) =>
    stringAt(objectAt(tool, 'function'), 'name'),
  );
  const kept = elements.members
    .filter((element) => names.includes(nameOfTool(edit.bytes, element.valueStart)))
    .map((element) => edit.bytes.toString('utf8', element.start, element.end));
  edit.setText('tools', `[${kept.join(',')}]`);
  edit.set('tool_choice', stringAt(subset, 'mode') === 'required' ? 'required' : 'auto');
}

function nameOfTool(bytes: Buffer, openAt: number): string | null {
  const definition = memberAt(scanContainer(bytes, openAt), 'function');
  if (definition === null) return null;
  return stringIn(bytes, memberAt(scanContainer(bytes, definition.valueStart), 'name'));
}

function renameFields(edit: FieldEdit, quirks: ChatQuirks, dropped: Set<string>): void {
  const { outputLimit } = quirks;
  const limits =
    outputLimit === undefined ? [] : outputLimitFields.map((name) => [name, outputLimit]);
  for (const [field = '', own = ''] of [...Object.entries(quirks.renamedFields ?? {}), ...limits]) {
    const text = edit.text(field);
    if (text === null || field === own) continue;
    if (edit.text(own) === null) edit.setText(own, text);
    else dropped.add(field);
    edit.remove(field);
  }
}

function refuseFields(
  edit: FieldEdit,
  call: UpstreamCall,
  quirks: ChatQuirks,
  dropped: Set<string>,
): void {
  if (quirks.takesStreamOptions === false) edit.remove('stream_options');
  const tier = wordIn(edit, 'service_tier');
  const isOtherTier = tier !== null && quirks.serviceTiers?.includes(tier) === false;
  for (const field of edit.names()) {
    const isTaken = takesField(quirks, field) && !(field === 'service_tier' && isOtherTier);
    if (isTaken || isSetOnPurpose(call, field)) continue;
    if (edit.text(field) !== 'null') dropped.add(plainName(field));
    edit.remove(field);
  }
}

/** Whether a request with this top-level field is served, and the field heeded. */
export function takesField(quirks: ChatQuirks, field: string): boolean {
  const { onlyFields, refusedFields = [] } = quirks;
  return !refusedFields.includes(field) && (onlyFields?.includes(field) ?? true);
}
