/** Tools and the choice among them, from a client's body. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { ProviderTool, ToolChoice, ToolDefinition } from '../../chat/request.ts';
import { noteUnknown } from '../unknown-fields.ts';
import type { ClientFields } from './client-fields.ts';
import type { PartReading } from './client-media.ts';
import { fromSubset } from './client-schema.ts';
import { camelCase } from './proto-names.ts';
import { dialectName } from './wire.ts';

const knownDeclarationFields: ReadonlySet<string> = new Set([
  'name',
  'description',
  'parameters',
  'parametersJsonSchema',
  'parameters_json_schema',
]);

const knownCallingFields: ReadonlySet<string> = new Set([
  'mode',
  'allowedFunctionNames',
  'allowed_function_names',
]);

/** A tool that the service itself runs is kept as it is, for this dialect alone. */
export function readTools(
  body: ClientFields,
  { opaqueParts, notes }: PartReading,
): readonly ToolDefinition[] {
  const tools: ToolDefinition[] = [];
  for (const tool of body.objects('tools')) {
    for (const declaration of tool.objects('functionDeclarations')) {
      noteUnknown(declaration.json, knownDeclarationFields, notes, 'tools.');
      const read = readDeclaration(declaration);
      if (read !== null) tools.push(read);
    }
    for (const [name, value] of Object.entries(tool.json)) {
      const kind = camelCase(name);
      if (kind === 'functionDeclarations' || value === undefined || value === null) continue;
      opaqueParts.push({ dialect: dialectName, kind, raw: { [name]: value } });
    }
  }
  return tools;
}

/** Null when a fault was reported. */
function readDeclaration(declaration: ClientFields): ToolDefinition | null {
  const name = declaration.string('name');
  if (name === null || name === '') return declaration.refuse('name', 'a non-empty string');
  const own = declaration.object('parameters');
  const plain = declaration.object('parametersJsonSchema');
  return {
    name,
    description: declaration.string('description'),
    parameters: plain ?? (own === null ? null : fromSubset(own)),
    strict: null,
  };
}

const knownChoiceFields: ReadonlySet<string> = new Set([
  'functionCallingConfig',
  'function_calling_config',
]);

export function readToolChoice(body: ClientFields, reading: PartReading): ToolChoice | null {
  const config = body.fieldsOf('toolConfig');
  if (config.othersThan(knownChoiceFields).length > 0) reading.notes.add('toolConfig');
  const calling = config.fieldsOf('functionCallingConfig');
  noteUnknown(calling.json, knownCallingFields, reading.notes, 'functionCallingConfig.');
  const mode = calling.string('mode');
  const names = calling.strings('allowedFunctionNames') ?? [];
  switch (mode) {
    case null:
    case '':
    case 'MODE_UNSPECIFIED':
      return null;
    case 'NONE':
      return { mode: 'none' };
    case 'ANY':
      return requiredAmong(names);
    case 'AUTO':
    // That calls keep to their schema is asked for; others do so by themselves, or when told per tool.
    case 'VALIDATED':
      return names.length === 0 ? { mode: 'auto' } : { mode: 'subset', required: false, names };
    default:
      bind('functionCallingConfig', calling.json, reading.opaqueParts);
      return null;
  }
}

function requiredAmong(names: readonly string[]): ToolChoice {
  const [only] = names;
  if (only === undefined) return { mode: 'required' };
  return names.length === 1
    ? { mode: 'tool', name: only }
    : { mode: 'subset', required: true, names };
}

/** What another dialect cannot carry and may not leave out. */
export function bind(kind: string, value: unknown, opaqueParts: ProviderTool[]): void {
  const raw: JsonObject = isJsonObject(value) ? value : { [kind]: value };
  opaqueParts.push({ dialect: dialectName, kind, raw });
}
