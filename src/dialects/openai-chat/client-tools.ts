/** Tools and the choice among them, from a client's body. */
import { isJsonObject } from '../../base/json.ts';
import type { ProviderTool, ToolChoice, ToolDefinition } from '../../chat/request.ts';
import type { FirstFault } from '../first-fault.ts';
import { noteUnknown } from '../unknown-fields.ts';
import { dialectName } from './wire.ts';

export type ReadTools = {
  readonly tools: readonly ToolDefinition[];
  readonly providerTools: readonly ProviderTool[];
};

/** A tool that is no function (custom, or one not known here) is kept as it is, for this dialect alone. */
export function readTools(value: unknown, faults: FirstFault, notes: Set<string>): ReadTools {
  if (value === undefined || value === null) return { tools: [], providerTools: [] };
  if (!Array.isArray(value)) {
    faults.reportType('tools', 'an array', value);
    return { tools: [], providerTools: [] };
  }
  const tools: ToolDefinition[] = [];
  const providerTools: ProviderTool[] = [];
  for (const [index, tool] of value.entries()) {
    if (!isJsonObject(tool)) {
      faults.reportType(`tools[${index}]`, 'an object', tool);
      continue;
    }
    const type = tool['type'] ?? 'function';
    if (type === 'function') {
      noteUnknown(tool, knownToolFields, notes, 'tools.');
      const read = readFunction(tool['function'], index, faults, notes);
      if (read !== null) tools.push(read);
    } else if (typeof type === 'string') {
      providerTools.push({ dialect: dialectName, kind: type, raw: tool });
    } else faults.reportType(`tools[${index}].type`, 'a string', type);
  }
  return { tools, providerTools };
}

const knownToolFields: ReadonlySet<string> = new Set(['type', 'function']);
const knownFunctionFields: ReadonlySet<string> = new Set([
  'name',
  'description',
  'parameters',
  'strict',
]);

function readFunction(
  value: unknown,
  index: number,
  faults: FirstFault,
  notes: Set<string>,
): ToolDefinition | null {
  const param = `tools[${index}].function`;
  if (!isJsonObject(value)) {
    faults.reportType(param, 'an object', value);
    return null;
  }
  noteUnknown(value, knownFunctionFields, notes, 'tools.');
  const { name, description, parameters, strict } = value;
  if (typeof name !== 'string' || name === '') {
    faults.reportType(`${param}.name`, 'a non-empty string', name);
    return null;
  }
  if (!isNothing(description) && typeof description !== 'string') {
    faults.reportType(`${param}.description`, 'a string', description);
  }
  if (!isNothing(parameters) && !isJsonObject(parameters)) {
    faults.reportType(`${param}.parameters`, 'an object (a JSON Schema)', parameters);
  }
  if (!isNothing(strict) && typeof strict !== 'boolean') {
    faults.reportType(`${param}.strict`, 'true or false', strict);
  }
  return {
    name,
    description: typeof description === 'string' ? description : null,
    parameters: isJsonObject(parameters) ? parameters : null,
    strict: typeof strict === 'boolean' ? strict : null,
  };
}

export const knownChoices: readonly string[] = ['allowed_tools', 'function', 'custom'];

/** Null also for a choice of a type not known here. */
export function readToolChoice(value: unknown, faults: FirstFault): ToolChoice | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return readChoiceWord(value, faults);
  if (!isJsonObject(value)) {
    faults.reportType('tool_choice', 'a string or an object', value);
    return null;
  }
  const type = value['type'];
  if (type === 'allowed_tools') return readSubset(value['allowed_tools'], faults);
  if (type === 'function' || type === 'custom') {
    const named = value[type];
    const name = isJsonObject(named) ? named['name'] : undefined;
    if (typeof name === 'string') return { mode: 'tool', name };
    faults.reportType(`tool_choice.${type}.name`, 'a string', name);
    return null;
  }
  if (typeof type !== 'string') faults.reportType('tool_choice.type', 'a string', type);
  return null;
}

function readChoiceWord(word: string, faults: FirstFault): ToolChoice | null {
  switch (word) {
    case 'auto':
    case 'none':
    case 'required':
      return { mode: word };
    // What some compatible servers call it.
    case 'any':
      return { mode: 'required' };
    default:
      faults.report('tool_choice', 'tool_choice must be none, auto, required or an object');
      return null;
  }
}

function readSubset(value: unknown, faults: FirstFault): ToolChoice | null {
  const param = 'tool_choice.allowed_tools';
  if (!isJsonObject(value)) {
    faults.reportType(param, 'an object', value);
    return null;
  }
  const listed = value['tools'];
  if (!Array.isArray(listed)) {
    faults.reportType(`${param}.tools`, 'an array', listed);
    return null;
  }
  const names: string[] = [];
  for (const [index, tool] of listed.entries()) {
    const name = nameOf(tool);
    if (name !== null) names.push(name);
    else faults.report(`${param}.tools[${index}]`, `${param}.tools[${index}] names no function`);
  }
  return { mode: 'subset', required: value['mode'] === 'required', names };
}

function nameOf(tool: unknown): string | null {
  if (!isJsonObject(tool)) return null;
  const named: unknown = tool['function'] ?? tool['custom'] ?? tool;
  const name = isJsonObject(named) ? named['name'] : undefined;
  return typeof name === 'string' ? name : null;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}
