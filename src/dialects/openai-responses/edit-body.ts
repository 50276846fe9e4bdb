/**
 * The client's own body with what the gateway owns spliced in: everything else, fields that nobody
 * here has heard of included, leaves as it came, byte for byte.
 */
import { append } from '../../base/append.ts';
import { arrayAt, type JsonObject, parseJson, property } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { noParameters } from '../../chat/request.ts';
import { isScanned } from '../client-body.ts';
import type { EncodedCall, RequestFault, UpstreamCall } from '../dialect.ts';
import { FieldEdit } from '../field-edit.ts';
import { applySplices, type Splice, scanJson } from '../json-spans.ts';
import { outputLimit } from '../output-limit.ts';
import { describeTools } from '../tool-descriptions.ts';
import { editInput } from './edit-input.ts';
import { editInstructions } from './edit-instructions.ts';
import { encodeParameters, fittingEffort } from './encode-parameters.ts';

/** What the gateway writes itself, whatever a target's settings say. */
const ownedFields: ReadonlySet<string> = new Set(['model', 'input', 'stream', 'tiergate']);

export function editBody(call: UpstreamCall): Result<EncodedCall, RequestFault> {
  const { original } = call.request;
  const fields = isScanned(original) ? original.fields : scanJson(original.bytes);
  if (fields === null) return fail({ param: null, message: 'the body is no JSON object' });
  const edit = new FieldEdit(original.bytes, fields);
  const dropped = new Set<string>();
  edit.remove('tiergate');
  edit.set('model', call.model);
  if (call.isStream !== call.request.isStream) edit.set('stream', call.isStream);
  if (!call.isStream && call.request.isStream) edit.remove('stream_options');
  for (const [name, value] of Object.entries(ownFields(call, dropped))) {
    if (!edit.merge(name, value)) return fail(tooDeep);
  }
  for (const [name, value] of Object.entries(call.extraFields)) {
    if (!ownedFields.has(name) && !edit.merge(name, value)) return fail(tooDeep);
  }
  fitModel(edit, call, dropped);
  const isKept = isKeptByAccount(edit, call);
  if (!isKept) keepNothing(edit, call);
  const splices: Splice[] = [];
  append(splices, editInstructions(edit, call));
  const input = editInput(edit, { call, isKept, dropped });
  if (!input.ok) return input;
  append(splices, input.value);
  append(splices, describeTools(edit, call.toolDescriptions));
  const body = applySplices(original.bytes, [...edit.splices(), ...splices]);
  return success({ body, dropped: [...dropped] });
}

const tooDeep: RequestFault = { param: null, message: 'The request is nested too deeply.' };

/** The fields that the owned parameters make. Whether a summary is wanted was the client's to say. */
function ownFields(call: UpstreamCall, dropped: Set<string>): JsonObject {
  const { ownedParameters, parameters } = call;
  const { json } = call.request.original;
  const own = Object.fromEntries(ownedParameters.map((name) => [name, parameters[name]]));
  const encoded = encodeParameters({ ...call, parameters: { ...noParameters, ...own } }, dropped);
  const { reasoning, include, parallel_tool_calls, ...fields } = encoded;
  const effort = property(reasoning, 'effort');
  return {
    ...fields,
    ...(effort === undefined ? {} : { reasoning: { effort } }),
    ...(Array.isArray(include) ? { include: [...arrayAt(json, 'include'), ...include] } : {}),
    ...(parallel_tool_calls === undefined || arrayAt(json, 'tools').length === 0
      ? {}
      : { parallel_tool_calls }),
  };
}

/** A client names a tier and cannot know what its model refuses. */
function fitModel(edit: FieldEdit, call: UpstreamCall, dropped: Set<string>): void {
  const { parameters, ownedParameters } = call;
  const limit = outputLimit(call, dropped);
  if (limit !== parameters.max_tokens && !ownedParameters.includes('max_tokens')) {
    edit.set('max_output_tokens', limit);
  }
  for (const name of call.isReasoningModel ? (['temperature', 'top_p'] as const) : []) {
    const value = parameters[name];
    if (value === null || ownedParameters.includes(name)) continue;
    edit.remove(name);
    if (value !== 1) dropped.add(name);
  }
  const wanted = parameters.reasoning_effort;
  const effort = wanted === null ? null : nearestFor(wanted, call);
  if (wanted !== effort) {
    if (effort === null) edit.remove('reasoning');
    else edit.merge('reasoning', { effort });
    if (effort !== null || wanted !== 'none') dropped.add('reasoning_effort');
  }
  const included = includedIn(edit);
  if (call.efforts?.length !== 0 || !included.includes(encryptedReasoning)) return;
  const left = included.filter((each) => each !== encryptedReasoning);
  edit.set('include', left.length === 0 ? undefined : left);
  dropped.add('include');
}

/** Where nothing is known of the model the client may know it. */
function nearestFor(wanted: string, call: UpstreamCall): string | null {
  return (call.efforts ?? null) === null ? wanted : fittingEffort(wanted, call);
}

/** Whether the request lives on what one account keeps: then its ids mean something there. */
function isKeptByAccount(edit: FieldEdit, { request }: UpstreamCall): boolean {
  return request.accountState?.isBound === true || edit.text('store') === 'true';
}

const encryptedReasoning = 'reasoning.encrypted_content';

/** What is asked for beside the answer, as it now stands. */
function includedIn(edit: FieldEdit): readonly unknown[] {
  const text = edit.text('include');
  const parsed = text === null ? null : parseJson(text);
  return parsed?.ok === true && Array.isArray(parsed.value) ? parsed.value : [];
}

/**
 * Any target may serve the next turn, so that nothing is to be kept at this one. A client that did not
 * say so counts on its reasoning being there by its id: it is given what it can send back instead.
 */
function keepNothing(edit: FieldEdit, call: UpstreamCall): void {
  if (edit.text('store') === 'false') return;
  edit.set('store', false);
  if (!call.isReasoningModel) return;
  const included = includedIn(edit);
  if (included.includes(encryptedReasoning)) return;
  edit.set('include', [...included, encryptedReasoning]);
}
