/** Tools and the choice among them: flat here, and strict unless it is said otherwise. */
import type { JsonObject } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { ToolChoice, ToolDefinition } from '../../chat/request.ts';
import type { RequestFault, UpstreamCall } from '../dialect.ts';
import { faultWithoutTools } from '../no-tools.ts';
import { objectSchemaWithProperties } from '../object-schema.ts';
import { isStrictSchema } from '../strict-schema.ts';
import { ownDescription } from '../tool-descriptions.ts';
import { encodeToolName, unwritableName } from '../tool-names.ts';
import type { WireTool, WireToolChoice } from './wire.ts';

export type EncodedTools = {
  readonly tools?: readonly WireTool[];
  readonly tool_choice?: WireToolChoice;
};

/** Null when the name cannot be written. */
export function toolName(name: string): string | null {
  return encodeToolName(name, { accepted: /^[a-zA-Z0-9_-]{1,64}$/, charactersMax: 64 });
}

export function encodeTools(
  { request, toolDescriptions }: UpstreamCall,
  dropped: Set<string>,
): Result<EncodedTools, RequestFault> {
  const { toolChoice } = request;
  if (request.tools.length === 0) {
    const fault = faultWithoutTools(toolChoice);
    return fault === null ? success({}) : fail(fault);
  }
  const tools: WireTool[] = [];
  for (const tool of request.tools) {
    const written = encodeTool(tool, ownDescription(toolDescriptions, tool.name), dropped);
    if (written === null) return fail(unwritableName(tool.name));
    tools.push(written);
  }
  return success({
    tools,
    ...(toolChoice === null ? {} : { tool_choice: encodeChoice(toolChoice) }),
  });
}

const noParameters: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

function encodeTool(
  tool: ToolDefinition,
  override: string | null,
  dropped: Set<string>,
): WireTool | null {
  const name = toolName(tool.name);
  if (name === null) return null;
  const description = override ?? tool.description;
  const parameters =
    tool.parameters === null ? noParameters : objectSchemaWithProperties(tool.parameters, dropped);
  const strict = tool.strict === true && isStrictSchema(parameters);
  if (tool.strict === true && !strict) dropped.add('strict');
  return {
    type: 'function',
    name,
    ...(description === null ? {} : { description }),
    parameters,
    strict,
  };
}

function encodeChoice(choice: ToolChoice): WireToolChoice {
  switch (choice.mode) {
    case 'auto':
    case 'required':
    case 'none':
      return choice.mode;
    case 'tool':
      return named(choice.name);
    case 'subset':
      return {
        type: 'allowed_tools',
        mode: choice.required ? 'required' : 'auto',
        tools: choice.names.map(named),
      };
  }
}

function named(name: string): { readonly type: 'function'; readonly name: string } {
  return { type: 'function', name: toolName(name) ?? name };
}
