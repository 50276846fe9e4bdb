/** Tool definitions and the choice among them. */
import type { JsonObject } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { ToolChoice, ToolDefinition } from '../../chat/request.ts';
import type { RequestFault, UpstreamCall } from '../dialect.ts';
import { faultWithoutTools } from '../no-tools.ts';
import { objectSchema } from '../object-schema.ts';
import { isWithinSubset } from '../schema-subset.ts';
import { ownDescription } from '../tool-descriptions.ts';
import { encodeToolName, unwritableName } from '../tool-names.ts';
import type { WireTool, WireToolChoice } from './wire.ts';

export function toolName(name: string): string | null {
  return encodeToolName(name, { accepted: /^[a-zA-Z0-9_-]{1,128}$/, charactersMax: 128 });
}

export type EncodedTools = {
  readonly tools?: readonly WireTool[];
  readonly tool_choice?: WireToolChoice;
};

const noParameters: JsonObject = { type: 'object', properties: {} };

export function encodeTools(
  call: UpstreamCall,
  takesStrict: boolean,
  dropped: Set<string>,
): Result<EncodedTools, RequestFault> {
  const { toolChoice } = call.request;
  const offered = offeredTools(call.request.tools, toolChoice);
  if (offered.length === 0) {
    const fault = faultWithoutTools(toolChoice);
    return fault === null ? success({}) : fail(fault);
  }
  const tools: WireTool[] = [];
  for (const tool of offered) {
    const name = toolName(tool.name);
    if (name === null) return fail(unwritableName(tool.name));
    const schema = tool.parameters === null ? noParameters : objectSchema(tool.parameters, dropped);
    const isStrict = tool.strict === true && takesStrict && isWithinSubset(schema);
    if (tool.strict === true && !isStrict) dropped.add('strict');
    const description = ownDescription(call.toolDescriptions, tool.name) ?? tool.description;
    tools.push({
      name,
      ...(description === null ? {} : { description }),
      input_schema: schema,
      ...(isStrict ? { strict: true } : {}),
    });
  }
  const choice = encodeChoice(toolChoice, call.parameters.parallel_tool_calls);
  return success({ tools, ...(choice === null ? {} : { tool_choice: choice }) });
}

/** A choice among some tools is made by offering only those. */
function offeredTools(
  tools: readonly ToolDefinition[],
  choice: ToolChoice | null,
): readonly ToolDefinition[] {
  if (choice?.mode !== 'subset') return tools;
  return tools.filter((tool) => choice.names.includes(tool.name));
}

/** Null = the service's default, which is to choose freely and to call several at once. */
export function encodeChoice(
  choice: ToolChoice | null,
  isParallel: boolean | null,
): WireToolChoice | null {
  const single = isParallel === false ? ({ disable_parallel_tool_use: true } as const) : {};
  switch (choice?.mode) {
    case undefined:
      return isParallel === false ? { type: 'auto', ...single } : null;
    case 'auto':
      return { type: 'auto', ...single };
    case 'none':
      return { type: 'none' };
    case 'required':
      return { type: 'any', ...single };
    case 'tool':
      return { type: 'tool', name: toolName(choice.name) ?? choice.name, ...single };
    case 'subset':
      return { type: choice.required ? 'any' : 'auto', ...single };
  }
}
