/** Tools and the choice among them, as this dialect writes them. */
import type { JsonObject } from '../../base/json.ts';
import { unreachable } from '../../base/unreachable.ts';
import type { ToolChoice, ToolDefinition } from '../../chat/request.ts';

/** `descriptions`: the variant's own wording, by tool name. */
export function encodeTools(
  tools: readonly ToolDefinition[],
  descriptions: { readonly [toolName: string]: string },
): readonly JsonObject[] {
  return tools.map((tool) => {
    const description = ownDescription(descriptions, tool.name) ?? tool.description;
    return {
      type: 'function',
      function: {
        name: tool.name,
        ...(description === null ? {} : { description }),
        ...(tool.parameters === null ? {} : { parameters: tool.parameters }),
        ...(tool.strict === null ? {} : { strict: tool.strict }),
      },
    };
  });
}

export function ownDescription(
  descriptions: { readonly [toolName: string]: string },
  name: string,
): string | null {
  return Object.hasOwn(descriptions, name) ? (descriptions[name] ?? null) : null;
}

export function encodeToolChoice(choice: ToolChoice): unknown {
  switch (choice.mode) {
    case 'auto':
    case 'required':
    case 'none':
      return choice.mode;
    case 'tool':
      return namedFunction(choice.name);
    case 'subset':
      return {
        type: 'allowed_tools',
        allowed_tools: {
          mode: choice.required ? 'required' : 'auto',
          tools: choice.names.map(namedFunction),
        },
      };
    default:
      return unreachable(choice);
  }
}

function namedFunction(name: string): JsonObject {
  return { type: 'function', function: { name } };
}
