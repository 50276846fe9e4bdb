/** Conversations as every dialect can hold them: what survives a way through any of them and back. */
import fc from 'fast-check';
import type {
  AssistantMessage,
  AssistantPart,
  ChatRequest,
  Message,
  ToolDefinition,
  ToolMessage,
  UserPart,
} from '../../src/chat/request.ts';
import { noParameters } from '../../src/chat/request.ts';

/** Words of every plane, with what JSON, SSE and XML-like marks are made of. No blank text: some dialects refuse it. */
const words = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    fc.constantFrom(
      'データ: 🌍',
      '<system>x</system>',
      'data: [DONE]\n\n',
      '{"a":"\\u0000"}',
      'مرحبا',
      '\u2028',
    ),
  )
  .map((text) => `${text.trim()}.`);

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image: UserPart = {
  type: 'image',
  source: { kind: 'base64', mediaType: 'image/png', data: pixel },
  detail: null,
};

const userParts = fc
  .tuple(words, fc.boolean())
  .map(([text, shows]): readonly UserPart[] => [{ type: 'text', text }, ...(shows ? [image] : [])]);

/** Numbers beyond 2^53 and other texts that a parser would change: opaque from end to end. */
const callArguments = fc.oneof(
  fc.constantFrom(
    '{}',
    '{"n":12345678901234567890}',
    '{"x":1.10,"y":-0.0}',
    '{"a":[],"b":{"c":null}}',
  ),
  fc
    .dictionary(fc.constantFrom('city', 'amount'), words, { maxKeys: 2 })
    .map((args) => JSON.stringify(args)),
);

const toolNames = ['look', 'count_all', 'send-mail'] as const;

/** A turn of the model, and what answers its calls. */
type Exchange = { readonly said: AssistantMessage; readonly results: readonly ToolMessage[] };

const exchange = fc
  .record({
    text: fc.option(words, { nil: null }),
    calls: fc.array(
      fc.record({
        name: fc.constantFrom(...toolNames),
        arguments: callArguments,
        result: words,
        isError: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
    after: words,
  })
  .map(({ text, calls, after }) => (id: (nth: number) => string): Exchange => {
    const parts: AssistantPart[] =
      text === null && calls.length > 0 ? [] : [{ type: 'text', text: text ?? after }];
    for (const [nth, { name, arguments: args }] of calls.entries()) {
      parts.push({ type: 'tool_call', id: id(nth), name, arguments: args });
    }
    const results = calls.map(
      ({ result, isError }, nth): ToolMessage => ({
        role: 'tool',
        toolCallId: id(nth),
        content: [{ type: 'text', text: result }],
        isError,
      }),
    );
    return { said: { role: 'assistant', content: parts }, results };
  });

const schema = {
  type: 'object',
  properties: { city: { type: 'string', description: 'where' }, amount: { type: 'integer' } },
  required: ['city'],
};

const tools: readonly ToolDefinition[] = toolNames.map((name) => ({
  name,
  description: `does ${name}`,
  parameters: schema,
  strict: null,
}));

const toolChoices = [
  null,
  { mode: 'auto' },
  { mode: 'required' },
  { mode: 'none' },
  { mode: 'tool', name: 'look' },
] as const;

/** A request as a client of `dialect`, which no target speaks, would have made it. */
export const conversations: fc.Arbitrary<ChatRequest> = fc
  .record({
    system: fc.option(words, { nil: null }),
    first: userParts,
    turns: fc.array(fc.tuple(exchange, userParts), { maxLength: 4 }),
    toolChoice: fc.constantFrom(...toolChoices),
    maxTokens: fc.integer({ min: 16, max: 8000 }),
    temperature: fc.option(fc.constantFrom(0, 0.5, 1), { nil: null }),
    stop: fc.option(fc.constantFrom(['HALT'], ['a', 'b']), { nil: null }),
    isStream: fc.boolean(),
  })
  .map((drawn): ChatRequest => {
    const messages: Message[] = [];
    if (drawn.system !== null) {
      messages.push({ role: 'system', content: [{ type: 'text', text: drawn.system }] });
    }
    messages.push({ role: 'user', name: null, content: drawn.first });
    for (const [at, [turn, next]] of drawn.turns.entries()) {
      const { said, results } = turn((nth) => `call_${at}_${nth}`);
      messages.push(said, ...results, { role: 'user', name: null, content: next });
    }
    return {
      model: 'tier',
      messages,
      tools,
      providerTools: [],
      toolChoice: drawn.toolChoice,
      parameters: {
        ...noParameters,
        max_tokens: drawn.maxTokens,
        temperature: drawn.temperature,
        stop: drawn.stop,
      },
      isStream: drawn.isStream,
      includeUsage: true,
      otherFields: [],
      original: { dialect: 'none', bytes: Buffer.from('{}'), json: {} },
    };
  });

/**
 * What a conversation says, whatever its dialect does with ids, blocks and turns: texts of a turn
 * joined, calls by their place, a failed result marked in whichever way.
 */
export function gist(request: ChatRequest) {
  const ids = new Map<string, string>();
  const place = (id: string): string => {
    const known = ids.get(id) ?? `call ${ids.size}`;
    ids.set(id, known);
    return known;
  };
  const said: string[] = [];
  for (const message of request.messages) {
    if (message.role === 'tool') {
      const text = message.content
        .map((part) => (part.type === 'text' ? part.text : part.type))
        .join('\n');
      const error = message.isError || text.startsWith('Error: ') ? 'failed ' : '';
      said.push(`${error}result of ${place(message.toolCallId)}: ${text.replace(/^Error: /, '')}`);
      continue;
    }
    for (const part of message.content) {
      if (part.type === 'text') said.push(`${message.role}: ${part.text}`);
      else if (part.type === 'tool_call')
        said.push(`${place(part.id)}: ${part.name} ${part.arguments}`);
      else said.push(`${message.role} shows ${JSON.stringify(part)}`);
    }
  }
  const { max_tokens, temperature, stop } = request.parameters;
  return {
    said,
    tools: request.tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    })),
    toolChoice: request.toolChoice,
    parameters: { max_tokens, temperature, stop },
  };
}
