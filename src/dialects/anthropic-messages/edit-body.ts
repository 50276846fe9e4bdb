/** A client's own Messages body for a target of the same dialect: only what the gateway owns is changed. */
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { type ChatParameters, noParameters } from '../../chat/request.ts';
import type { EncodedCall, RequestFault, UpstreamCall } from '../dialect.ts';
import { encodeJson, exactBody } from '../exact-json.ts';
import { withExtraFields } from '../extra-fields.ts';
import { encodeParameters, type ThinkingLimits } from './encode-parameters.ts';
import { encodeChoice } from './encode-tools.ts';

/** Fields of ours that hold several settings: merged into the client's. */
const mergedFields: readonly string[] = ['output_config', 'metadata'];

export function editBody(call: UpstreamCall): Result<EncodedCall, RequestFault> {
  const original = exactBody(call.request.original);
  const dropped = new Set<string>();
  const body = new Map(Object.entries(original));
  body.set('model', call.model);
  if (call.isStream) body.set('stream', true);
  else if (body.get('stream') === true) body.set('stream', false);
  const { fields, instruction } = encodeOwned(call, dropped);
  for (const [name, value] of Object.entries(fields)) {
    const present = body.get(name);
    const isMerged = mergedFields.includes(name) && isJsonObject(present) && isJsonObject(value);
    body.set(name, isMerged ? { ...present, ...value } : value);
  }
  const system = splicedSystem(original['system'], call, instruction);
  if (system !== null) body.set('system', system);
  if (call.ownedParameters.includes('parallel_tool_calls')) setParallel(body, call);
  const tools = body.get('tools');
  if (Array.isArray(tools)) body.set('tools', describedTools(tools, call.toolDescriptions));
  const text = encodeJson(withExtraFields(Object.fromEntries(body), call.extraFields));
  if (!text.ok) return fail({ message: `The request is ${text.fault}.`, param: null });
  return success({ body: text.value, dropped: [...dropped] });
}

/** The fields that the owned parameters make; a limit also where the client gave none. */
function encodeOwned(
  call: UpstreamCall,
  dropped: Set<string>,
): { readonly fields: JsonObject; readonly instruction: string | null } {
  const { ownedParameters, parameters, request } = call;
  const owned = Object.fromEntries(ownedParameters.map((name) => [name, parameters[name]]));
  const { max_tokens } = parameters;
  const picked: ChatParameters = { ...noParameters, ...owned, max_tokens };
  const limits = limitsOf(request.original.json);
  const encoded = encodeParameters({ ...call, parameters: picked }, limits, dropped);
  const isLimitOwned =
    ownedParameters.includes('max_tokens') ||
    ownedParameters.includes('reasoning_effort') ||
    !Object.hasOwn(request.original.json, 'max_tokens');
  if (isLimitOwned) return encoded;
  dropped.delete('max_tokens');
  const { max_tokens: _, ...fields } = encoded.fields;
  return { fields, instruction: encoded.instruction };
}

/** Whether the client's own conversation lets the model think where the gateway asks for it. */
function limitsOf(original: JsonObject): ThinkingLimits {
  const choice = stringAt(original['tool_choice'], 'type');
  const messages = arrayAt(original, 'messages');
  const [before, last] = [messages.at(-2), messages.at(-1)];
  const isThought = blockTypes(before).some((type) => type.endsWith('thinking'));
  return {
    isForced: choice === 'any' || choice === 'tool',
    isInToolLoop: blockTypes(last).includes('tool_result') && !isThought,
    isPrefilled: stringAt(last, 'role') === 'assistant',
  };
}

function blockTypes(message: unknown): readonly string[] {
  return arrayAt(message, 'content').map((block) => stringAt(block, 'type') ?? '');
}

/** The client's blocks stay as they are, with their cache marks. Null = nothing to change. */
function splicedSystem(
  system: unknown,
  call: UpstreamCall,
  instruction: string | null,
): readonly unknown[] | null {
  const before = textBlocks(call.system?.before ?? null);
  const after = [...textBlocks(call.system?.after ?? null), ...textBlocks(instruction)];
  if (before.length + after.length === 0) return null;
  const own = typeof system === 'string' ? textBlocks(system) : Array.isArray(system) ? system : [];
  return [...before, ...own, ...after];
}

function textBlocks(text: string | null): readonly JsonObject[] {
  return text === null || text.trim() === '' ? [] : [{ type: 'text', text }];
}

function setParallel(body: Map<string, unknown>, call: UpstreamCall): void {
  const { parallel_tool_calls } = call.parameters;
  const present = objectAt(call.request.original.json, 'tool_choice');
  if (present === null) {
    const choice = encodeChoice(null, parallel_tool_calls);
    if (choice !== null && Array.isArray(body.get('tools'))) body.set('tool_choice', choice);
    return;
  }
  if (stringAt(present, 'type') === 'none') return;
  body.set('tool_choice', { ...present, disable_parallel_tool_use: parallel_tool_calls === false });
}

function describedTools(
  tools: readonly unknown[],
  overrides: UpstreamCall['toolDescriptions'],
): readonly unknown[] {
  return tools.map((tool) => {
    const name = stringAt(tool, 'name');
    if (!isJsonObject(tool) || name === null || !Object.hasOwn(overrides, name)) return tool;
    return { ...tool, description: overrides[name] };
  });
}
