/**
 * A client's own generateContent body with what the gateway owns spliced in: everything else, fields
 * that nobody here has heard of included, leaves as it came, byte for byte.
 */
import { append } from '../../base/append.ts';
import { isJsonObject, type JsonObject, objectAt } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { type ChatParameters, noParameters } from '../../chat/request.ts';
import { isScanned } from '../client-body.ts';
import type { EncodedCall, RequestFault, UpstreamCall } from '../dialect.ts';
import { FieldEdit } from '../field-edit.ts';
import { applySplices, type Splice, scanContainer, scanJson } from '../json-spans.ts';
import { outputLimit } from '../output-limit.ts';
import { editContents } from './edit-contents.ts';
import { describeTools } from './edit-tools.ts';
import { encodeParameters } from './encode-parameters.ts';
import { fittingBudget, takesFormatWithTools, thinkingControlOf } from './model-family.ts';
import { elementTexts } from './part-bytes.ts';
import { fieldAt, snakeCase } from './proto-names.ts';

/** What the gateway writes itself, or the path says, whatever a target's settings say. */
const ownedFields: ReadonlySet<string> = new Set(['model', 'contents', 'tiergate']);

export function editBody(call: UpstreamCall): Result<EncodedCall, RequestFault> {
  const { original } = call.request;
  const fields = isScanned(original) ? original.fields : scanJson(original.bytes);
  if (fields === null) return fail({ param: null, message: 'the body is no JSON object' });
  const edit = new FieldEdit(original.bytes, fields);
  const dropped = new Set<string>();
  // The URL names the model; what some clients repeat in the body is the tier's name.
  edit.remove('model');
  edit.remove('tiergate');
  const splices: Splice[] = [];
  for (const [name, value] of Object.entries(call.extraFields)) {
    if (ownedFields.has(name) || name === 'generationConfig') continue;
    append(splices, mergeField(edit, name, value));
  }
  const { changes, instruction } = configChanges(call, dropped);
  append(splices, mergeMembers(edit, 'generationConfig', changes));
  editSystem(edit, call, instruction);
  const tools = edit.member('tools');
  if (tools !== null) append(splices, describeTools(edit.bytes, tools, call.toolDescriptions));
  const contents = edit.member('contents');
  if (contents !== null) {
    const edited = editContents(call, edit.bytes, contents);
    if (!edited.ok) return edited;
    append(splices, edited.value);
  }
  const body = applySplices(original.bytes, [...edit.splices(), ...splices]);
  return success({ body, dropped: [...dropped] });
}

/** Undefined takes a field out. Names are in camelCase. */
type Changes = ReadonlyMap<string, unknown>;

/** Where a parameter of ours stands in a generation config. */
const configFields: { readonly [name in keyof ChatParameters]?: readonly string[] } = {
  max_tokens: ['maxOutputTokens'],
  temperature: ['temperature'],
  top_p: ['topP'],
  top_k: ['topK'],
  stop: ['stopSequences'],
  seed: ['seed'],
  presence_penalty: ['presencePenalty'],
  frequency_penalty: ['frequencyPenalty'],
  logprobs: ['responseLogprobs'],
  top_logprobs: ['logprobs'],
  n: ['candidateCount'],
  reasoning_effort: ['thinkingConfig'],
  response_format: [
    'responseMimeType',
    'responseSchema',
    'responseJsonSchema',
    '_responseJsonSchema',
  ],
};

/** `instruction`: a format that can only be asked for in words; null = none. */
type ConfigEdit = { readonly changes: Changes; readonly instruction: string | null };

function configChanges(call: UpstreamCall, dropped: Set<string>): ConfigEdit {
  const { parameters, request } = call;
  const present = objectAt(request.original.json, 'generationConfig') ?? {};
  const thinking = fieldAt(present, 'thinkingConfig');
  const owned = [...call.ownedParameters, ...unfitting(call, thinking)];
  const changes = new Map<string, unknown>();
  for (const name of owned) {
    for (const field of configFields[name] ?? []) changes.set(field, undefined);
  }
  // The client may ask for the one and the target set the other: they are written as they are.
  const { logprobs, top_logprobs, ...picked } = Object.fromEntries(
    owned.map((name) => [name, parameters[name]]),
  );
  const encoded = encodeParameters(
    { ...call, parameters: { ...noParameters, ...picked } },
    request.tools.length > 0,
    dropped,
  );
  if (logprobs !== undefined) changes.set('responseLogprobs', logprobs ?? undefined);
  if (top_logprobs !== undefined) changes.set('logprobs', top_logprobs ?? undefined);
  for (const [name, value] of Object.entries(encoded.generationConfig)) changes.set(name, value);
  const told = changes.get('thinkingConfig');
  if (told !== undefined) changes.set('thinkingConfig', withClientsView(told, thinking));
  const { generationConfig: extra } = call.extraFields as { readonly generationConfig?: unknown };
  if (isJsonObject(extra))
    for (const [name, value] of Object.entries(extra)) changes.set(name, value);
  return { changes, instruction: encoded.instruction };
}

/** What of the client's own settings the model would refuse: a client names a tier and cannot know its model. */
function unfitting(call: UpstreamCall, thinking: unknown): readonly (keyof ChatParameters)[] {
  const isLimited = outputLimit(call, new Set()) === call.parameters.max_tokens;
  const isThinkable = !isJsonObject(thinking) || fitsThinking(thinking, call.model);
  const format = call.parameters.response_format?.type ?? 'text';
  const isPlain = format === 'text' || call.request.tools.length === 0;
  const isFormattable = isPlain || takesFormatWithTools(call.model);
  return [
    ...(isLimited ? [] : ['max_tokens' as const]),
    ...(isThinkable ? [] : ['reasoning_effort' as const]),
    ...(isFormattable ? [] : ['response_format' as const]),
  ];
}

/** A level is refused by models that take budgets; those that take levels take any budget but none at all. */
function fitsThinking(thinking: JsonObject, model: string): boolean {
  const control = thinkingControlOf(model);
  const told = fieldAt(thinking, 'thinkingBudget');
  const budget = told === undefined ? -1 : Number(told);
  switch (control.kind) {
    case 'none':
      return true;
    case 'level':
      return budget !== 0;
    case 'budget': {
      const isOpen = budget < 0 || fittingBudget(budget, control) === budget;
      return isOpen && fieldAt(thinking, 'thinkingLevel') === undefined;
    }
  }
}

/** Whether thoughts are shown is the client's to say, who is read by people who may not want them. */
function withClientsView(told: unknown, thinking: unknown): JsonObject {
  const { includeThoughts: _, ...rest } = isJsonObject(told) ? told : {};
  const wanted = isJsonObject(thinking) ? fieldAt(thinking, 'includeThoughts') : undefined;
  return wanted === undefined ? rest : { includeThoughts: wanted, ...rest };
}

/** Of an object in both, the fields of both, those of `value` above. */
function mergeField(edit: FieldEdit, name: string, value: unknown): readonly Splice[] {
  if (isJsonObject(value)) return mergeMembers(edit, name, new Map(Object.entries(value)));
  edit.setText(spellingOf(edit, name), JSON.stringify(value));
  return [];
}

function mergeMembers(edit: FieldEdit, name: string, changes: Changes): readonly Splice[] {
  if (changes.size === 0) return [];
  const spelled = spellingOf(edit, name);
  const member = edit.member(spelled);
  const fields = member === null ? null : scanContainer(edit.bytes, member.valueStart);
  if (fields === null) {
    const said = Object.fromEntries([...changes].filter(([, value]) => value !== undefined));
    if (Object.keys(said).length > 0) edit.setText(spelled, JSON.stringify(said));
    return [];
  }
  const inner = new FieldEdit(edit.bytes, fields);
  for (const [field, value] of changes) {
    inner.remove(snakeCase(field));
    if (value === undefined) inner.remove(field);
    else inner.setText(field, JSON.stringify(value));
  }
  return inner.splices();
}

/** The client's own spelling: ours must not stand beside it. */
function spellingOf(edit: FieldEdit, name: string): string {
  const other = snakeCase(name);
  return edit.member(name) === null && edit.member(other) !== null ? other : name;
}

/** The variant's words around the client's parts, which stay as they are. */
function editSystem(edit: FieldEdit, { system }: UpstreamCall, instruction: string | null): void {
  const before = partTexts(system?.before ?? '');
  const after = [...partTexts(system?.after ?? ''), ...partTexts(instruction ?? '')];
  if (before.length + after.length === 0) return;
  const name = spellingOf(edit, 'systemInstruction');
  const bytes = Buffer.from(edit.text(name) ?? 'null');
  const fields = scanJson(bytes);
  if (fields === null) {
    const own = bytes[0] === quote ? [`{"text":${bytes.toString('utf8')}}`] : [];
    edit.setText(name, `{"parts":[${[...before, ...own, ...after].join(',')}]}`);
    return;
  }
  const inner = new FieldEdit(bytes, fields);
  const parts = inner.member('parts');
  const own = parts === null ? [] : elementTexts(bytes, parts.valueStart);
  inner.setText('parts', `[${[...before, ...own, ...after].join(',')}]`);
  edit.setText(name, applySplices(bytes, inner.splices()).toString('utf8'));
}

const quote = 0x22;

function partTexts(text: string): readonly string[] {
  return text.trim() === '' ? [] : [JSON.stringify({ text })];
}
