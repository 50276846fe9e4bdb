/** The rules that generateContent holds contents and parts to. */
import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import { base64Bytes, faultInEach, firstFault, type VendorFault } from '../vendor.ts';
import { refusal } from './gemini-faults.ts';
import { unknownName } from './gemini-schema-rules.ts';
import { isGemini3, isThoughtSignature } from './gemini-signature.ts';
import {
  field,
  fieldArray,
  fieldObject,
  fieldString,
  nameSet,
  unknownField,
} from './proto-fields.ts';

const dataFields = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
] as const;
const partFields = nameSet(
  `${dataFields.join(' ')} thought thoughtSignature videoMetadata mediaResolution partMetadata`,
);
const contentFields = nameSet('role parts');
const namePattern = /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/;

/** The first complaint about `contents`, or null. */
export function contentsFault(contents: unknown, model: string): VendorFault | null {
  if (!Array.isArray(contents) || contents.length === 0) {
    return refusal('* GenerateContentRequest.contents: contents is not specified\n');
  }
  return firstFault([
    () => faultInEach(contents, (content, index) => contentFault(content, index, model)),
    () => turnOrderFault(contents),
    () => (isGemini3(model) ? signatureFault(contents) : null),
  ]);
}

function contentFault(content: unknown, index: number, model: string): VendorFault | null {
  const at = `contents[${index}]`;
  if (!isJsonObject(content)) return refusal(`Invalid value at '${at}': expected an object.`);
  const unknown = unknownField(content, contentFields);
  if (unknown !== null) return unknownName(unknown, at);
  const role = field(content, 'role');
  if (role !== undefined && !['user', 'model', 'function'].includes(String(role))) {
    return refusal('Please use a valid role: user, model.');
  }
  const parts = fieldArray(content, 'parts');
  if (parts.length === 0) {
    return refusal(`* GenerateContentRequest.${at}.parts: contents.parts must not be empty.\n`);
  }
  return faultInEach(parts, (part, nth) =>
    partFault(part, { at: `${at}.parts[${nth}]`, role, model }),
  );
}

type PartSpot = { readonly at: string; readonly role: unknown; readonly model: string };

function partFault(part: unknown, { at, role, model }: PartSpot): VendorFault | null {
  if (!isJsonObject(part)) return refusal(`Invalid value at '${at}': expected an object.`);
  const unknown = unknownField(part, partFields);
  if (unknown !== null) return unknownName(unknown, at);
  const present = dataFields.filter((name) => field(part, name) !== undefined);
  if (present.length > 1) {
    return refusal(
      `Invalid value at '${at}' (oneof), oneof field 'data' is already set. Cannot set '${present[1]}'`,
    );
  }
  if (present.length === 0) {
    return refusal(
      `* GenerateContentRequest.${at}.data: required oneof field 'data' must have one initialized field\n`,
    );
  }
  const signature = field(part, 'thoughtSignature');
  if (signature !== undefined && !isThoughtSignature(String(signature), model)) {
    return refusal(`Corrupted thought signature at '${at}.thought_signature'.`);
  }
  const text = field(part, 'text');
  if (text !== undefined) {
    if (typeof text !== 'string') return refusal(`Invalid value at '${at}.text' (TYPE_STRING).`);
    if (text !== '' || signature !== undefined) return null;
    return refusal(`* GenerateContentRequest.${at}.text: must not be empty\n`);
  }
  return (
    mediaFault(part, at) ??
    functionFault(fieldObject(part, 'functionCall'), {
      at: `${at}.function_call`,
      payload: 'args',
      isMisplaced: role !== 'model',
    }) ??
    functionFault(fieldObject(part, 'functionResponse'), {
      at: `${at}.function_response`,
      payload: 'response',
      isMisplaced: role === 'model',
    })
  );
}

function mediaFault(part: JsonObject, at: string): VendorFault | null {
  const inline = fieldObject(part, 'inlineData');
  if (inline !== null) {
    const data = fieldString(inline, 'data');
    if (data === null || base64Bytes(data) === null) {
      return refusal(
        `Invalid value at '${at}.inline_data.data' (TYPE_BYTES), Base64 decoding failed.`,
      );
    }
    if (!/^[\w.+-]+\/[\w.+-]+$/.test(fieldString(inline, 'mimeType') ?? '')) {
      return refusal(`* ${at}.inline_data.mime_type: mime type is not specified\n`);
    }
  }
  const file = fieldObject(part, 'fileData');
  if (file === null || fieldString(file, 'fileUri') !== null) return null;
  return refusal(`* ${at}.file_data.file_uri: file uri is not specified\n`);
}

type FunctionSpot = {
  readonly at: string;
  readonly payload: 'args' | 'response';
  readonly isMisplaced: boolean;
};

function functionFault(called: JsonObject | null, spot: FunctionSpot): VendorFault | null {
  if (called === null) return null;
  if (spot.isMisplaced) return refusal(`Part at '${spot.at}' is not valid for this role.`);
  const name = fieldString(called, 'name') ?? '';
  if (!namePattern.test(name)) {
    return refusal(
      `* GenerateContentRequest.${spot.at}.name: Name cannot be empty or hold other than letters, digits, _ . : -\n`,
    );
  }
  const value = field(called, spot.payload);
  const isMissing = value === undefined && spot.payload === 'response';
  if (!isMissing && (value === undefined || isJsonObject(value))) return null;
  return refusal(
    `Invalid value at '${spot.at}.${spot.payload}' (type.googleapis.com/google.protobuf.Struct).`,
  );
}

type MergedTurn = { role: string; parts: unknown[]; at: number };

function mergedContents(contents: readonly unknown[]): readonly MergedTurn[] {
  const turns: MergedTurn[] = [];
  for (const [at, content] of contents.entries()) {
    const role = fieldString(content, 'role') === 'model' ? 'model' : 'user';
    const parts = fieldArray(content, 'parts');
    const last = turns.at(-1);
    if (last !== undefined && last.role === role) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts], at });
  }
  return turns;
}

function countOf(turn: MergedTurn | undefined, name: string): number {
  return turn?.parts.filter((part) => field(part, name) !== undefined).length ?? 0;
}

/** Calls follow a user turn; as many results as calls follow them at once. */
function turnOrderFault(contents: readonly unknown[]): VendorFault | null {
  const turns = mergedContents(contents);
  return faultInEach(turns, (turn, index) => {
    const calls = countOf(turn, 'functionCall');
    if (calls > 0 && index === 0) {
      return refusal(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      );
    }
    if (calls > 0 && calls !== countOf(turns[index + 1], 'functionResponse')) {
      return refusal(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      );
    }
    const results = countOf(turn, 'functionResponse');
    if (results > 0 && countOf(turns[index - 1], 'functionCall') === 0) {
      return refusal(
        'Please ensure that function response turn comes immediately after a function call turn.',
      );
    }
    return null;
  });
}

/** In the current turn (since the user last spoke) each step's first call carries its signature. */
function signatureFault(contents: readonly unknown[]): VendorFault | null {
  const turns = mergedContents(contents);
  const start = turns.findLastIndex(
    (turn) => turn.role === 'user' && countOf(turn, 'functionResponse') === 0,
  );
  return faultInEach(turns.slice(start + 1), (turn) => {
    const first = turn.parts.find((part) => field(part, 'functionCall') !== undefined);
    if (first === undefined || turn.role !== 'model') return null;
    if (fieldString(first, 'thoughtSignature') !== null) return null;
    const name = fieldString(field(first, 'functionCall'), 'name') ?? '';
    return refusal(
      `Function call is missing a thought_signature in functionCall parts. Additional data, function call \`default_api:${name}\` , position ${turn.at + 1}.`,
    );
  });
}
