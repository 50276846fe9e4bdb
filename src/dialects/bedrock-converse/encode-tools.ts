/** Tool definitions and the choice among them. */
import type { JsonObject } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { ToolChoice, ToolDefinition } from '../../chat/request.ts';
import type { RequestFault, UpstreamCall } from '../dialect.ts';
import { objectSchema } from '../object-schema.ts';
import { isWithinSubset } from '../schema-subset.ts';
import { encodeToolName, unwritableName } from '../tool-names.ts';
import type { Turn } from '../turns.ts';
import { cachePoints } from './cache-points.ts';
import type { ModelTraits } from './model-traits.ts';
import type { WireCachePoint, WireTool } from './wire.ts';

export function toolName(name: string): string | null {
  return encodeToolName(name, { accepted: /^[a-zA-Z0-9_-]{1,64}$/, charactersMax: 64 });
}

export type EncodedTools = {
  readonly toolConfig?: {
    readonly tools: readonly (WireTool | WireCachePoint)[];
    readonly toolChoice?: JsonObject;
  };
};

/**
 * A conversation with calls in it is refused without a list of tools: then the tools stand there though
 * none may be called, and where none is offered those that were called.
 */
export function encodeTools(
  call: UpstreamCall,
  turns: readonly Turn[],
  traits: ModelTraits,
  dropped: Set<string>,
): Result<EncodedTools, RequestFault> {
  const { toolChoice } = call.request;
  const called = calledNames(turns);
  const offered = offeredTools(call.request.tools, toolChoice);
  const isNone = toolChoice?.mode === 'none' || offered.length === 0;
  if (isForcing(toolChoice) && (offered.length === 0 || !traits.takesForcedChoice)) {
    return fail(unforceable(offered.length === 0));
  }
  if (isNone && called.size === 0) return success({});
  if (isNone) dropped.add('tool_choice');
  if (call.parameters.parallel_tool_calls === false) dropped.add('parallel_tool_calls');
  const tools = encodeDefinitions(call, offered, traits, dropped);
  if (!tools.ok) return tools;
  if (tools.value.length === 0)
    return success({ toolConfig: { tools: [...called].map(calledTool) } });
  const choice = isNone ? null : encodeChoice(toolChoice);
  const toolConfig = { tools: tools.value, ...(choice === null ? {} : { toolChoice: choice }) };
  return success({ toolConfig });
}

function calledNames(turns: readonly Turn[]): ReadonlySet<string> {
  const names = turns.flatMap((turn) =>
    turn.role === 'assistant' ? turn.calls.map(({ name }) => toolName(name) ?? name) : [],
  );
  return new Set(names);
}

function calledTool(name: string): WireTool {
  return { toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } } };
}

/** A choice among some tools is made by offering only those. */
function offeredTools(
  tools: readonly ToolDefinition[],
  choice: ToolChoice | null,
): readonly ToolDefinition[] {
  if (choice?.mode !== 'subset') return tools;
  return tools.filter((tool) => choice.names.includes(tool.name));
}

function isForcing(choice: ToolChoice | null): boolean {
  return (
    choice?.mode === 'required' ||
    choice?.mode === 'tool' ||
    (choice?.mode === 'subset' && choice.required)
  );
}

function unforceable(isNoneOffered: boolean): RequestFault {
  const message = isNoneOffered
    ? 'A tool must be called, but none is offered.'
    : "This target's model cannot be told that it must call a tool.";
  return { message, param: 'tool_choice' };
}

const noParameters: JsonObject = { type: 'object', properties: {} };

function encodeDefinitions(
  call: UpstreamCall,
  offered: readonly ToolDefinition[],
  traits: ModelTraits,
  dropped: Set<string>,
): Result<readonly (WireTool | WireCachePoint)[], RequestFault> {
  const tools: (WireTool | WireCachePoint)[] = [];
  for (const tool of offered) {
    const name = toolName(tool.name);
    if (name === null) return fail(unwritableName(tool.name));
    const schema = tool.parameters === null ? noParameters : objectSchema(tool.parameters, dropped);
    const isStrict = tool.strict === true && traits.takesOutputSchema && isWithinSubset(schema);
    if (tool.strict === true && !isStrict) dropped.add('strict');
    const description = describe(tool, call.toolDescriptions) ?? '';
    tools.push({
      toolSpec: {
        name,
        ...(description.trim() === '' ? {} : { description }),
        inputSchema: { json: schema },
        ...(isStrict ? { strict: true } : {}),
      },
    });
    tools.push(...cachePoints(tool, { traits, dropped }, true));
  }
  return success(tools);
}

function describe(
  tool: ToolDefinition,
  overrides: UpstreamCall['toolDescriptions'],
): string | null {
  return Object.hasOwn(overrides, tool.name) ? (overrides[tool.name] ?? null) : tool.description;
}

/** Null = the service's default, which is to choose freely. */
function encodeChoice(choice: ToolChoice | null): JsonObject | null {
  switch (choice?.mode) {
    case undefined:
    case 'none':
      return null;
    case 'auto':
      return { auto: {} };
    case 'required':
      return { any: {} };
    case 'tool':
      return { tool: { name: toolName(choice.name) ?? choice.name } };
    case 'subset':
      return choice.required ? { any: {} } : { auto: {} };
  }
}
