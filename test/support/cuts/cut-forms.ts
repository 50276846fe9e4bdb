/** How clients of every dialect ask for a stream, and read it strictly. */
import type { JsonObject } from '../../../src/base/json.ts';
import type { ClientDialect } from '../../../src/dialects/dialect.ts';
import { clientDialects } from '../../../src/dialects/registry.ts';
import { readGeminiArray, readGeminiStream } from '../gemini-answers.ts';
import { readMessagesStream } from '../messages-stream.ts';
import { readResponsesStream } from '../responses-stream.ts';
import { readChatStream } from '../running-gateway.ts';

export type ReadCall = { readonly name: string; readonly arguments: string };

export type Heard = {
  readonly text: string;
  readonly calls: readonly ReadCall[];
  /** It ended as streams of the dialect end; neither with an error nor just so. */
  readonly isComplete: boolean;
  readonly hasError: boolean;
  /** Ids under which the answer goes. */
  readonly ids: readonly string[];
};

export type CutForm = {
  readonly name: string;
  readonly dialect: ClientDialect;
  readonly body: JsonObject;
  /** Throws where the stream breaks its form. */
  readonly hear: (raw: string) => Promise<Heard> | Heard;
};

type Readers = { readonly [dialect: string]: readonly Omit<CutForm, 'dialect'>[] };

const tool = {
  name: 'look_up',
  parameters: { type: 'object', properties: { word: { type: 'string' } } },
};
const messages = [{ role: 'user', content: 'Tell the story.' }];
const contents = [{ role: 'user', parts: [{ text: 'Tell the story.' }] }];
const declared = [{ functionDeclarations: [{ ...tool, description: 'Looks a word up' }] }];

const readers: Readers = {
  'openai-chat': [
    {
      name: 'openai-chat',
      body: {
        model: 'fast',
        stream: true,
        messages,
        tools: [{ type: 'function', function: tool }],
      },
      hear: hearChat,
    },
  ],
  'openai-responses': [
    {
      name: 'openai-responses',
      body: {
        model: 'fast',
        stream: true,
        input: messages,
        tools: [{ type: 'function', ...tool }],
      },
      hear: hearResponse,
    },
  ],
  'anthropic-messages': [
    {
      name: 'anthropic-messages',
      body: {
        model: 'fast',
        stream: true,
        max_tokens: 50_000,
        messages,
        tools: [{ name: tool.name, input_schema: tool.parameters }],
      },
      hear: hearMessage,
    },
  ],
  gemini: [
    {
      name: 'gemini',
      body: { contents, tools: declared },
      hear: (raw) => heardOf(readGeminiStream(raw)),
    },
    {
      name: 'gemini array',
      body: { contents, tools: declared },
      hear: (raw) => heardOf(readGeminiArray(raw)),
    },
  ],
};

/** Every registered dialect: one without a reader here is a fault. */
export const cutForms: readonly CutForm[] = [...clientDialects.values()].flatMap((dialect) => {
  const forms = readers[dialect.name];
  if (forms === undefined) throw new Error(`no strict reader of ${dialect.name} for the cut fuzz`);
  return forms.map((form) => ({
    ...form,
    dialect: streamed(dialect, form.name.endsWith('array')),
  }));
});

function streamed(dialect: ClientDialect, isArray: boolean): ClientDialect {
  const query = () => (isArray ? undefined : 'sse');
  return dialect.pathCalls?.dialectFor('fast:streamGenerateContent', query) ?? dialect;
}

async function hearChat(raw: string): Promise<Heard> {
  const read = await readChatStream(new Response(raw));
  const calls = new Map<number, { name: string; arguments: string }>();
  let roles = 0;
  for (const choice of read.events.flatMap((event) => event.choices ?? [])) {
    if (choice.delta?.role !== undefined) roles += 1;
    for (const { index, function: called } of choice.delta?.tool_calls ?? []) {
      const call = calls.get(index) ?? { name: '', arguments: '' };
      if (called?.name !== undefined && call.name !== '') throw new Error('a call begins twice');
      call.name += called?.name ?? '';
      call.arguments += called?.arguments ?? '';
      calls.set(index, call);
    }
  }
  if (roles > 1) throw new Error('more than one role');
  if (read.error !== null && read.isDone) throw new Error('[DONE] after an error');
  return {
    text: read.text,
    calls: [...calls.values()],
    isComplete: read.isDone && read.error === null && read.finishReasons.length === 1,
    hasError: read.error !== null,
    ids: [...new Set(read.events.flatMap(({ id }) => id ?? []))],
  };
}

function hearMessage(raw: string): Heard {
  const read = readMessagesStream(raw);
  if (read.error === null && read.faults.length > 0) throw new Error(read.faults.join('; '));
  const calls = read.content
    .filter((block) => block['type'] === 'tool_use')
    .map((block) => ({ name: String(block['name']), arguments: textOf(block['input']) }));
  return {
    text: read.content.map((block) => String(block['text'] ?? '')).join(''),
    calls,
    isComplete: read.error === null && read.stopReason !== null,
    hasError: read.error !== null,
    ids: [],
  };
}

function hearResponse(raw: string): Heard {
  const read = readResponsesStream(raw);
  if (read.error === null && read.faults.length > 0) throw new Error(read.faults.join('; '));
  const items = read.output as readonly JsonObject[];
  const parts = items.flatMap((item) => (item['content'] ?? []) as readonly JsonObject[]);
  return {
    text: parts.map((part) => String(part['text'] ?? '')).join(''),
    calls: items
      .filter((item) => item['type'] === 'function_call')
      .map((item) => ({ name: String(item['name']), arguments: String(item['arguments']) })),
    isComplete: read.error === null && read.response?.['status'] === 'completed',
    hasError: read.error !== null,
    ids: [],
  };
}

function heardOf(read: ReturnType<typeof readGeminiStream>): Heard {
  return {
    text: read.text,
    calls: read.calls.map(({ name, args }) => ({ name, arguments: JSON.stringify(args) })),
    isComplete: read.error === null && read.finishReasons.length === 1,
    hasError: read.error !== null,
    ids: read.ids,
  };
}

function textOf(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}
