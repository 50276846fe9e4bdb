/** Tools and the choice among them, as this dialect writes them. */
import type { JsonObject } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { unreachable } from '../../base/unreachable.ts';
import type { ToolChoice, ToolDefinition } from '../../chat/request.ts';
import type { RequestFault, UpstreamCall } from '../dialect.ts';
import { faultWithoutTools } from '../no-tools.ts';
import { objectSchemaWithProperties } from '../object-schema.ts';
import { isStrictSchema } from '../strict-schema.ts';
import { ownDescription } from '../tool-descriptions.ts';
import { encodeToolName, unwritableName } from '../tool-names.ts';
import type { ChatQuirks } from './chat-quirks.ts';

export type EncodedTools = {
  readonly tools?: readonly JsonObject[];
  readonly tool_choice?: unknown;
};

/** A tool of another dialect under a name that servers of this one take; null when there is none. */
export function toolName(name: string, quirks: ChatQuirks): string | null {
  const accepted = quirks.takesLongToolNames === true ? /^[\w-]+$/ : /^[\w-]{1,64}$/;
  return encodeToolName(name, { accepted, charactersMax: 64 });
}

/** The tools of a request of another dialect. */
export function encodeTools(
  { request, toolDescriptions }: UpstreamCall,
  quirks: ChatQuirks,
  dropped: Set<string>,
): Result<EncodedTools, RequestFault> {
  const { toolChoice } = request;
  if (request.tools.length === 0) {
    const fault = faultWithoutTools(toolChoice);
    return fault === null ? success({}) : fail(fault);
  }
  const tools: JsonObject[] = [];
  for (const tool of request.tools) {
    const name = toolName(tool.name, quirks);
    if (name === null) return fail(unwritableName(tool.name));
    const own = ownDescription(toolDescriptions, tool.name);
    tools.push({ type: 'function', function: { name, ...encodeTool(tool, own, dropped) } });
  }
  if (toolChoice === null) return success({ tools });
  const nameOf = (name: string): string => toolName(name, quirks) ?? name;
  return success({ tools, tool_choice: encodeToolChoice(toolChoice, nameOf) });
}

function encodeTool(
  tool: ToolDefinition,
  override: string | null,
  dropped: Set<string>,
): JsonObject {
  const description = override ?? tool.description;
  const parameters =
    tool.parameters === null ? null : objectSchemaWithProperties(tool.parameters, dropped);
  const isUnfit = tool.strict === true && parameters !== null && !isStrictSchema(parameters);
  if (isUnfit) dropped.add('strict');
  return {
    ...(description === null ? {} : { description }),
    ...(parameters === null ? {} : { parameters }),
    ...(tool.strict === null || isUnfit ? {} : { strict: tool.strict }),
  };
}

function encodeToolChoice(choice: ToolChoice, nameOf: (name: string) => string): unknown {
  switch (choice.mode) {
    case 'auto':
    case 'required':
    case 'none':
      return choice.mode;
    case 'tool':
      return namedFunction(nameOf(choice.name));
    case 'subset':
      return {
        type: 'allowed_tools',
        allowed_tools: {
          mode: choice.required ? 'required' : 'auto',
          tools: choice.names.map((name) => namedFunction(nameOf(name))),
        },
      };
    default:
      return unreachable(choice);
  }
}

function namedFunction(name: string): JsonObject {
  return { type: 'function', function: { name } };
}
