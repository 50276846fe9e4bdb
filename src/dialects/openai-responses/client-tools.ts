/** Tools and the choice among them, from a client's body. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { ToolChoice, ToolDefinition } from '../../chat/request.ts';
import type { FirstFault } from '../first-fault.ts';
import { isStrictSchema } from '../strict-schema.ts';
import { TypedFields } from '../typed-fields.ts';
import { noteUnknown } from '../unknown-fields.ts';
import { keepOpaque, type PartReading } from './client-media.ts';

/** A tool that is no function (custom, one that the provider runs) is kept as it is, for this dialect alone. */
export function readTools(value: unknown, reading: PartReading): readonly ToolDefinition[] {
  const { faults } = reading;
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    faults.reportType('tools', 'an array', value);
    return [];
  }
  const tools: ToolDefinition[] = [];
  for (const [index, tool] of value.entries()) {
    const place = `tools[${index}]`;
    if (!isJsonObject(tool)) faults.reportType(place, 'an object', tool);
    else if (typeof tool['type'] !== 'string') {
      faults.reportType(`${place}.type`, 'a string', tool['type']);
    } else if (tool['type'] !== 'function') keepOpaque(tool['type'], tool, reading);
    else {
      noteUnknown(tool, knownToolFields, reading.notes, 'tools.');
      const read = readFunction(tool, place, faults);
      if (read !== null) tools.push(read);
    }
  }
  return tools;
}

const knownToolFields: ReadonlySet<string> = new Set([
  'type',
  'name',
  'description',
  'parameters',
  'strict',
]);

function readFunction(tool: JsonObject, place: string, faults: FirstFault): ToolDefinition | null {
  const fields = new TypedFields(tool, faults, `${place}.`);
  const { name } = tool;
  if (typeof name !== 'string' || name === '') {
    faults.reportType(`${place}.name`, 'a non-empty string', name);
    return null;
  }
  const parameters = fields.object('parameters');
  const strict = fields.boolean('strict');
  return {
    name,
    description: fields.string('description'),
    parameters,
    // The service's default, which it takes back for a schema that does not fit it.
    strict: strict ?? (parameters !== null && isStrictSchema(parameters) ? true : null),
  };
}

/** A choice of a type not known here is kept as it is, for this dialect alone. */
export function readToolChoice(value: unknown, reading: PartReading): ToolChoice | null {
  const { faults } = reading;
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') {
    if (value === 'auto' || value === 'none' || value === 'required') return { mode: value };
    faults.report('tool_choice', 'tool_choice must be none, auto, required or an object');
    return null;
  }
  if (!isJsonObject(value)) {
    faults.reportType('tool_choice', 'a string or an object', value);
    return null;
  }
  const { type, name } = value;
  switch (type) {
    case 'allowed_tools':
      return readSubset(value, faults);
    case 'function':
    case 'custom':
      if (typeof name === 'string') return { mode: 'tool', name };
      faults.reportType('tool_choice.name', 'a string', name);
      return null;
    default:
      if (typeof type !== 'string') faults.reportType('tool_choice.type', 'a string', type);
      else keepOpaque('tool_choice', value, reading);
      return null;
  }
}

function readSubset(value: JsonObject, faults: FirstFault): ToolChoice | null {
  const { tools, mode } = value;
  if (!Array.isArray(tools)) {
    faults.reportType('tool_choice.tools', 'an array', tools);
    return null;
  }
  const names = tools.flatMap((tool) =>
    isJsonObject(tool) && typeof tool['name'] === 'string' ? tool['name'] : [],
  );
  return { mode: 'subset', required: mode === 'required', names };
}
