/** One conversation of any size, as a client of each dialect sends it. */
import type { JsonObject } from '../../src/base/json.ts';

export type Conversation = {
  readonly prompt: string;
  /** How often the model calls a tool, is answered, and is asked on. */
  readonly exchanges: number;
  /** The JSON text of every call's arguments. */
  readonly arguments: string;
  readonly tools: number;
  readonly schema: JsonObject;
};

/** The words by which each part is known again, in their order. */
export function marksOf({ exchanges }: Conversation): readonly string[] {
  return Array.from({ length: exchanges }, (_, nth) =>
    ['says', 'tells', 'asks'].map((word) => `${word}-${nth}-`),
  ).flat();
}

export function toolName(nth: number): string {
  return `tool_${nth}_x`;
}

/** Arguments that are an object on the wire are put in as they are spelled. */
const spelled = '"@arguments"';

export const largeBodies: { readonly [clientDialect: string]: (of: Conversation) => string } = {
  'openai-chat': (of) =>
    JSON.stringify({
      model: 'tier',
      tools: each(of.tools, (nth) => ({
        type: 'function',
        function: { name: toolName(nth), parameters: of.schema },
      })),
      messages: [
        { role: 'user', content: of.prompt },
        ...each(of.exchanges, (nth) => [
          {
            role: 'assistant',
            content: `says-${nth}-`,
            tool_calls: [
              {
                id: `call_${nth}`,
                type: 'function',
                function: { name: toolName(0), arguments: of.arguments },
              },
            ],
          },
          { role: 'tool', tool_call_id: `call_${nth}`, content: `tells-${nth}-` },
          { role: 'user', content: `asks-${nth}-` },
        ]).flat(),
      ],
    }),
  'openai-responses': (of) =>
    JSON.stringify({
      model: 'tier',
      tools: each(of.tools, (nth) => ({
        type: 'function',
        name: toolName(nth),
        parameters: of.schema,
        strict: false,
      })),
      input: [
        { role: 'user', content: of.prompt },
        ...each(of.exchanges, (nth) => [
          { role: 'assistant', content: `says-${nth}-` },
          {
            type: 'function_call',
            call_id: `call_${nth}`,
            name: toolName(0),
            arguments: of.arguments,
          },
          { type: 'function_call_output', call_id: `call_${nth}`, output: `tells-${nth}-` },
          { role: 'user', content: `asks-${nth}-` },
        ]).flat(),
      ],
    }),
  'anthropic-messages': (of) =>
    JSON.stringify({
      model: 'tier',
      max_tokens: 1000,
      tools: each(of.tools, (nth) => ({ name: toolName(nth), input_schema: of.schema })),
      messages: [
        { role: 'user', content: of.prompt },
        ...each(of.exchanges, (nth) => [
          {
            role: 'assistant',
            content: [
              { type: 'text', text: `says-${nth}-` },
              { type: 'tool_use', id: `call_${nth}`, name: toolName(0), input: '@arguments' },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: `call_${nth}`, content: `tells-${nth}-` },
              { type: 'text', text: `asks-${nth}-` },
            ],
          },
        ]).flat(),
      ],
    }).replaceAll(spelled, () => of.arguments),
  gemini: (of) =>
    JSON.stringify({
      tools: [
        {
          functionDeclarations: each(of.tools, (nth) => ({
            name: toolName(nth),
            description: 'd',
            parametersJsonSchema: of.schema,
          })),
        },
      ],
      contents: [
        { role: 'user', parts: [{ text: of.prompt }] },
        ...each(of.exchanges, (nth) => [
          {
            role: 'model',
            parts: [
              { text: `says-${nth}-` },
              { functionCall: { id: `call_${nth}`, name: toolName(0), args: '@arguments' } },
            ],
          },
          {
            role: 'user',
            parts: [
              {
                functionResponse: {
                  id: `call_${nth}`,
                  name: toolName(0),
                  response: { output: `tells-${nth}-` },
                },
              },
              { text: `asks-${nth}-` },
            ],
          },
        ]).flat(),
      ],
    }).replaceAll(spelled, () => of.arguments),
};

function each<Item>(count: number, make: (nth: number) => Item): readonly Item[] {
  return Array.from({ length: count }, (_, nth) => make(nth));
}
