/** Function declarations and the choice among them. */
import type { JsonObject } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { ToolChoice, ToolDefinition } from '../../chat/request.ts';
import type { RequestFault, UpstreamCall } from '../dialect.ts';
import { faultWithoutTools } from '../no-tools.ts';
import { objectSchema } from '../object-schema.ts';
import { encodeToolName, unwritableName } from '../tool-names.ts';
import { parameterSchema } from './function-schema.ts';
import type { WireDeclaration } from './wire.ts';

export function toolName(name: string): string | null {
  return encodeToolName(name, { accepted: /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/, charactersMax: 64 });
}

export type EncodedTools = {
  readonly tools?: readonly [{ readonly functionDeclarations: readonly WireDeclaration[] }];
  readonly toolConfig?: { readonly functionCallingConfig: JsonObject };
};

export function encodeTools(
  call: UpstreamCall,
  dropped: Set<string>,
): Result<EncodedTools, RequestFault> {
  const { tools, toolChoice } = call.request;
  const offered = offeredTools(tools, toolChoice);
  if (offered.length === 0) {
    const fault = faultWithoutTools(toolChoice);
    return fault === null ? success({}) : fail(fault);
  }
  const functionDeclarations: WireDeclaration[] = [];
  for (const tool of offered) {
    const name = toolName(tool.name);
    if (name === null) return fail(unwritableName(tool.name));
    if (tool.strict === true) dropped.add('strict');
    const description = describe(tool, call.toolDescriptions);
    const schema = tool.parameters === null ? null : objectSchema(tool.parameters, dropped);
    functionDeclarations.push({ name, description, ...parameterSchema(schema) });
  }
  if (call.parameters.parallel_tool_calls === false) dropped.add('parallel_tool_calls');
  const config = encodeChoice(toolChoice);
  return success({
    tools: [{ functionDeclarations }],
    ...(config === null ? {} : { toolConfig: { functionCallingConfig: config } }),
  });
}

/** The service takes names beside a forced choice only; a free choice among some is made by offering those. */
function offeredTools(
  tools: readonly ToolDefinition[],
  choice: ToolChoice | null,
): readonly ToolDefinition[] {
  if (choice?.mode !== 'subset' || choice.required) return tools;
  return tools.filter((tool) => choice.names.includes(tool.name));
}

function describe(tool: ToolDefinition, overrides: UpstreamCall['toolDescriptions']): string {
  const own = tool.description ?? '';
  return Object.hasOwn(overrides, tool.name) ? (overrides[tool.name] ?? own) : own;
}

/** Null = the service's default, which is to choose freely. */
function encodeChoice(choice: ToolChoice | null): JsonObject | null {
  switch (choice?.mode) {
    case undefined:
      return null;
    case 'auto':
      return { mode: 'AUTO' };
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [toolName(choice.name) ?? choice.name] };
    case 'subset': {
      if (!choice.required) return { mode: 'AUTO' };
      const allowedFunctionNames = choice.names.map((name) => toolName(name) ?? name);
      return { mode: 'ANY', allowedFunctionNames };
    }
  }
}
