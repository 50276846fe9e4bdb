/**
 * The client's own body with what the gateway owns spliced in: everything else, fields that nobody
 * here has heard of included, leaves as it came, byte for byte.
 */
import { arrayAt, type JsonObject, objectAt, stringAt } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { type ChatParameters, noParameters } from '../../chat/request.ts';
import type { ThinkingLimits } from '../claude-thinking.ts';
import { traitsOf } from '../claude-traits.ts';
import { isScanned } from '../client-body.ts';
import type { EncodedCall, RequestFault, UpstreamCall } from '../dialect.ts';
import { FieldEdit } from '../field-edit.ts';
import { applySplices, scanJson } from '../json-spans.ts';
import { describeTools } from '../tool-descriptions.ts';
import { editMessages, isForeignThinking } from './edit-messages.ts';
import { editSystem } from './edit-system.ts';
import { editThinking, fitBudget } from './edit-thinking.ts';
import { encodeParameters } from './encode-parameters.ts';
import { encodeChoice } from './encode-tools.ts';
import { withoutRefusedThinking } from './refused-thinking.ts';

/** What the gateway writes itself, whatever a target's settings say. */
const ownedFields: ReadonlySet<string> = new Set(['model', 'messages', 'stream', 'tiergate']);

export function editBody(given: UpstreamCall): Result<EncodedCall, RequestFault> {
  const { original } = given.request;
  const fields = isScanned(original) ? original.fields : scanJson(original.bytes);
  if (fields === null) return fail({ param: null, message: 'the body is no JSON object' });
  const edit = new FieldEdit(original.bytes, fields);
  const dropped = new Set<string>();
  const limits = limitsOf(given);
  const call = withoutRefusedThinking(given, limits, dropped);
  const { owned, instruction } = encodeOwned(call, limits, dropped);
  edit.remove('tiergate');
  edit.setText('model', JSON.stringify(call.model));
  if (call.isStream !== call.request.isStream) edit.setText('stream', String(call.isStream));
  for (const [name, value] of [...Object.entries(owned), ...Object.entries(call.extraFields)]) {
    if (ownedFields.has(name) && !Object.hasOwn(owned, name)) continue;
    if (!setMerged(edit, name, value)) return fail(tooDeep);
  }
  if (call.ownedParameters.includes('response_format')) edit.remove('output_format');
  if (call.ownedParameters.includes('parallel_tool_calls')) setParallel(edit, call);
  editThinking(edit, { model: call.model, isThoughtLost: limits.isInToolLoop }, dropped);
  editLimits(edit, call, dropped);
  const system = editSystem(edit, call.system, instruction);
  const at = edit.member('messages');
  const place = at === null ? null : { bytes: original.bytes, member: at };
  const messages = editMessages(call, place, dropped);
  if (!messages.ok) return messages;
  const splices = [
    ...edit.splices(),
    ...system,
    ...messages.value,
    ...describeTools(edit, call.toolDescriptions),
  ];
  return success({ body: applySplices(original.bytes, splices), dropped: [...dropped] });
}

const tooDeep: RequestFault = { param: null, message: 'The request is nested too deeply.' };

/** False: the value cannot be written. A thinking setting is not mixed with another. */
function setMerged(edit: FieldEdit, name: string, value: unknown): boolean {
  if (name === 'thinking') edit.remove(name);
  return edit.merge(name, value);
}

/** The fields that the owned parameters make; a limit also where the client gave none. */
function encodeOwned(
  call: UpstreamCall,
  limits: ThinkingLimits,
  dropped: Set<string>,
): { readonly owned: JsonObject; readonly instruction: string | null } {
  const { ownedParameters, parameters, request } = call;
  const own = Object.fromEntries(ownedParameters.map((name) => [name, parameters[name]]));
  const { max_tokens } = parameters;
  const picked: ChatParameters = { ...noParameters, ...own, max_tokens };
  const encoded = encodeParameters({ ...call, parameters: picked }, limits, dropped);
  const isLimitOwned =
    ownedParameters.includes('max_tokens') ||
    ownedParameters.includes('reasoning_effort') ||
    !Object.hasOwn(request.original.json, 'max_tokens');
  if (isLimitOwned) return { owned: encoded.fields, instruction: encoded.instruction };
  dropped.delete('max_tokens');
  const { max_tokens: _, ...owned } = encoded.fields;
  return { owned, instruction: encoded.instruction };
}

/** Whether the client's own conversation lets the model think where the gateway asks for it. */
function limitsOf(call: UpstreamCall): ThinkingLimits {
  const original = call.request.original.json;
  const choice = stringAt(original['tool_choice'], 'type');
  const messages = arrayAt(original, 'messages');
  // What the user says may come in several messages: they are one turn.
  const spoken = messages.findLastIndex((message) => stringAt(message, 'role') === 'assistant');
  const isAnswering = messages
    .slice(spoken + 1)
    .flatMap(blocksOf)
    .some((block) => stringAt(block, 'type') === 'tool_result');
  return {
    isForced: choice === 'any' || choice === 'tool',
    isInToolLoop: isAnswering && !beginsWithThought(messages, call),
    isPrefilled: stringAt(messages.at(-1), 'role') === 'assistant',
  };
}

/** Whether the turn whose calls are answered begins with thinking that the target is shown. */
function beginsWithThought(messages: readonly unknown[], call: UpstreamCall): boolean {
  const end = messages.findLastIndex((message) => stringAt(message, 'role') === 'assistant');
  const start = messages.findLastIndex(
    (message, index) => index < end && stringAt(message, 'role') !== 'assistant',
  );
  const blocks = messages.slice(start + 1, end + 1).flatMap(blocksOf);
  const first = blocks.find((block) => !isForeignThinking(block, call));
  return stringAt(first, 'type')?.endsWith('thinking') === true;
}

function blocksOf(message: unknown): readonly unknown[] {
  return arrayAt(message, 'content');
}

/** What the model is known to refuse gives way: a client names a tier and cannot know the model. */
function editLimits(edit: FieldEdit, call: UpstreamCall, dropped: Set<string>): void {
  const limit = Number(edit.text('max_tokens'));
  if (call.maxOutputTokens !== null && limit > call.maxOutputTokens) {
    edit.setText('max_tokens', String(call.maxOutputTokens));
    dropped.add('max_tokens');
    fitBudget(edit, call.maxOutputTokens, dropped);
  }
  editSampling(edit, call, dropped);
}

const samplingFields = ['temperature', 'top_p', 'top_k'] as const;

/** From this version of the API on no request holds them; older versions are what their model is. */
const versionWithoutSampling = '2026-10-21';

function editSampling(edit: FieldEdit, call: UpstreamCall, dropped: Set<string>): void {
  const { takesSampling, takesBothSamplings } = traitsOf(call.model);
  const isGone = (call.clientHeaders?.['anthropic-version'] ?? '') >= versionWithoutSampling;
  for (const name of samplingFields) {
    const value = edit.text(name);
    if (value === null) continue;
    // The client asked for the version, and what the target's settings say has no place in it.
    const isOurs = edit.member(name) === null;
    const isRefused = isOurs ? isGone : !takesSampling || call.isReasoningModel;
    if (!isRefused || (!isGone && call.ownedParameters.includes(name))) continue;
    edit.remove(name);
    if (name !== 'temperature' || Number(value) !== 1) dropped.add(name);
  }
  const hasBoth = ['temperature', 'top_p'].every((name) => (edit.text(name) ?? 'null') !== 'null');
  if (!hasBoth || takesBothSamplings) return;
  edit.remove('top_p');
  dropped.add('top_p');
}

function setParallel(edit: FieldEdit, call: UpstreamCall): void {
  const { parallel_tool_calls } = call.parameters;
  const { json } = call.request.original;
  const present = objectAt(json, 'tool_choice');
  if (present === null) {
    const choice = encodeChoice(null, parallel_tool_calls);
    if (choice === null || !Array.isArray(json['tools'])) return;
    edit.setText('tool_choice', JSON.stringify(choice));
    return;
  }
  if (stringAt(present, 'type') === 'none') return;
  const choice = { ...present, disable_parallel_tool_use: parallel_tool_calls === false };
  edit.setText('tool_choice', JSON.stringify(choice));
}
