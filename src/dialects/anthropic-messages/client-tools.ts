/** Tools and the choice among them, from a client's body. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { ToolChoice, ToolDefinition } from '../../chat/request.ts';
import type { FirstFault } from '../first-fault.ts';
import { noteUnknown } from '../unknown-fields.ts';
import { type BlockReading, cacheMark } from './client-media.ts';
import { dialectName } from './wire.ts';

const knownToolFields: ReadonlySet<string> = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
]);

/** A tool that the service itself runs or defines is kept as it is, for this dialect alone. */
export function readTools(value: unknown, reading: BlockReading): readonly ToolDefinition[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    reading.faults.reportType('tools', 'an array', value);
    return [];
  }
  const tools: ToolDefinition[] = [];
  for (const [index, tool] of value.entries()) {
    if (!isJsonObject(tool)) {
      reading.faults.reportType(`tools[${index}]`, 'an object', tool);
      continue;
    }
    const type = tool['type'] ?? 'custom';
    if (typeof type !== 'string') {
      reading.faults.reportType(`tools[${index}].type`, 'a string', type);
    } else if (type !== 'custom') {
      reading.opaqueParts.push({ dialect: dialectName, kind: type, raw: tool });
    } else {
      const read = readTool(tool, index, reading);
      if (read !== null) tools.push(read);
    }
  }
  return tools;
}

function readTool(tool: JsonObject, index: number, reading: BlockReading): ToolDefinition | null {
  const { faults, notes } = reading;
  const place = `tools[${index}]`;
  const { name, description = null, input_schema: schema, strict = null } = tool;
  if (typeof name !== 'string' || name === '') {
    faults.reportType(`${place}.name`, 'a non-empty string', name);
    return null;
  }
  if (description !== null && typeof description !== 'string') {
    faults.reportType(`${place}.description`, 'a string', description);
    return null;
  }
  if (!isJsonObject(schema)) {
    faults.reportType(`${place}.input_schema`, 'an object (a JSON Schema)', schema);
    return null;
  }
  if (strict !== null && typeof strict !== 'boolean') {
    faults.reportType(`${place}.strict`, 'true or false', strict);
    return null;
  }
  noteUnknown(tool, knownToolFields, notes, 'tools.');
  return { name, description, parameters: schema, strict, ...cacheMark(tool, reading) };
}

export type ReadChoice = {
  readonly choice: ToolChoice | null;
  /** False: one call at a time. Null: not said. */
  readonly isParallel: boolean | null;
};

export function readToolChoice(value: unknown, faults: FirstFault): ReadChoice {
  if (value === undefined || value === null) return { choice: null, isParallel: null };
  if (!isJsonObject(value)) {
    faults.reportType('tool_choice', 'an object', value);
    return { choice: null, isParallel: null };
  }
  const single = value['disable_parallel_tool_use'] ?? null;
  if (single !== null && typeof single !== 'boolean') {
    faults.reportType('tool_choice.disable_parallel_tool_use', 'true or false', single);
  }
  return { choice: readMode(value, faults), isParallel: single === true ? false : null };
}

function readMode(value: JsonObject, faults: FirstFault): ToolChoice | null {
  const { type, name } = value;
  switch (type) {
    case 'auto':
    case 'none':
      return { mode: type };
    case 'any':
      return { mode: 'required' };
    case 'tool':
      if (typeof name === 'string') return { mode: 'tool', name };
      faults.reportType('tool_choice.name', 'a string', name);
      return null;
    default:
      if (typeof type !== 'string') faults.reportType('tool_choice.type', 'a string', type);
      else faults.report('tool_choice.type', 'tool_choice.type must be auto, any, tool or none');
      return null;
  }
}
