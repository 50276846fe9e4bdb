/** A client's own generateContent body for a target of the same dialect: only what the gateway owns is changed. */
import { arrayAt, isJsonObject, type JsonObject, stringAt } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { type ChatParameters, noParameters } from '../../chat/request.ts';
import type { EncodedCall, RequestFault, UpstreamCall } from '../dialect.ts';
import { encodeJson, exactBody } from '../exact-json.ts';
import { withExtraFields } from '../extra-fields.ts';
import { encodeParameters } from './encode-parameters.ts';

export function editBody(call: UpstreamCall): Result<EncodedCall, RequestFault> {
  const dropped = new Set<string>();
  const body = new Map(Object.entries(exactBody(call.request.original)));
  // The URL names the model; what some clients repeat in the body is the tier's name.
  body.delete('model');
  const { generationConfig, instruction } = encodeOwned(call, dropped);
  mergeConfig(body, generationConfig);
  spliceSystem(body, call, instruction);
  describeTools(body, call.toolDescriptions);
  const text = encodeJson(withExtraFields(Object.fromEntries(body), call.extraFields));
  if (!text.ok) return fail({ message: `The request is ${text.fault}.`, param: null });
  return success({ body: text.value, dropped: [...dropped] });
}

function encodeOwned(call: UpstreamCall, dropped: Set<string>) {
  const { ownedParameters, parameters } = call;
  const owned = Object.fromEntries(ownedParameters.map((name) => [name, parameters[name]]));
  const picked: ChatParameters = { ...noParameters, ...owned };
  return encodeParameters({ ...call, parameters: picked }, false, dropped);
}

/** The service reads both spellings of a name; the client's own spelling must not stand beside ours. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function spellingIn(body: ReadonlyMap<string, unknown>, name: string): string {
  return body.has(name) ? name : body.has(snakeCase(name)) ? snakeCase(name) : name;
}

function mergeConfig(body: Map<string, unknown>, owned: JsonObject): void {
  const names = Object.keys(owned);
  if (names.length === 0) return;
  const field = spellingIn(body, 'generationConfig');
  const present = body.get(field);
  const config = new Map(Object.entries(isJsonObject(present) ? present : {}));
  for (const name of names) {
    config.delete(snakeCase(name));
    config.set(name, owned[name]);
  }
  body.set(field, Object.fromEntries(config));
}

/** The client's parts stay as they are. */
function spliceSystem(
  body: Map<string, unknown>,
  { system }: UpstreamCall,
  instruction: string | null,
): void {
  const before = textParts(system?.before ?? '');
  const after = [...textParts(system?.after ?? ''), ...textParts(instruction ?? '')];
  if (before.length + after.length === 0) return;
  const field = spellingIn(body, 'systemInstruction');
  const present = body.get(field);
  const own = typeof present === 'string' ? textParts(present) : arrayAt(present, 'parts');
  const rest = isJsonObject(present) ? present : {};
  body.set(field, { ...rest, parts: [...before, ...own, ...after] });
}

function textParts(text: string): readonly JsonObject[] {
  return text.trim() === '' ? [] : [{ text }];
}

function describeTools(
  body: Map<string, unknown>,
  overrides: UpstreamCall['toolDescriptions'],
): void {
  const tools = body.get('tools');
  if (!Array.isArray(tools) || Object.keys(overrides).length === 0) return;
  body.set(
    'tools',
    tools.map((tool: unknown) => {
      if (!isJsonObject(tool)) return tool;
      const field = spellingIn(new Map(Object.entries(tool)), 'functionDeclarations');
      if (!Array.isArray(tool[field])) return tool;
      const declared = arrayAt(tool, field).map((each) => describe(each, overrides));
      return { ...tool, [field]: declared };
    }),
  );
}

function describe(declaration: unknown, overrides: UpstreamCall['toolDescriptions']): unknown {
  const name = stringAt(declaration, 'name');
  if (!isJsonObject(declaration) || name === null || !Object.hasOwn(overrides, name)) {
    return declaration;
  }
  return { ...declaration, description: overrides[name] };
}
