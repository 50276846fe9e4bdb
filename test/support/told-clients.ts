/** What a client of each dialect is told of an answer, read by the strict rules of that dialect. */
import { readChatChunks, readChatReply } from './chat-answers.ts';
import { type ReadAnswer, readGeminiReply, readGeminiStream } from './gemini-answers.ts';
import type { GroundedText } from './gemini-grounding.ts';
import { readMessage, readMessagesStream } from './messages-stream.ts';
import { responseFaults } from './responses-object.ts';
import { readResponsesStream } from './responses-stream.ts';
import { readUrlCitation } from './url-citations.ts';

type Json = { readonly [key: string]: unknown };

export type Told = {
  /** With a refusal's words. */
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
  readonly citations: readonly GroundedText[];
  readonly finish: string;
  /** All of each kind, with what was cached or thought; null = not told. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
};

export type ToldReader = {
  /** Throws at the first breach of the grammar. */
  readonly stream: (raw: string) => Told;
  readonly whole: (raw: string) => Told;
};

export const toldReaders: { readonly [clientDialect: string]: ToldReader } = {
  'openai-chat': {
    stream: (raw) => fromChat(readChatChunks(raw)),
    whole: (raw) => fromChat(readChatReply(raw)),
  },
  'anthropic-messages': {
    stream: (raw) => {
      const { faults, content, stopReason, usage } = readMessagesStream(raw);
      if (faults.length > 0) throw new Error(faults.join('; '));
      return fromMessage(content, stopReason, usage);
    },
    whole: (raw) => {
      const { content, stopReason, usage } = readMessage(raw);
      return fromMessage(content, stopReason, usage);
    },
  },
  'openai-responses': {
    stream: (raw) => {
      const { faults, response } = readResponsesStream(raw);
      if (faults.length > 0 || response === null) throw new Error(faults.join('; '));
      return fromResponse(response);
    },
    whole: (raw) => {
      const response: Json = JSON.parse(raw);
      const faults = responseFaults(response);
      if (faults.length > 0) throw new Error(faults.join('; '));
      return fromResponse(response);
    },
  },
  gemini: {
    stream: (raw) => fromGemini(readGeminiStream(raw)),
    whole: (raw) => fromGemini(readGeminiReply(raw)),
  },
};

function fromChat({
  text,
  refusal,
  calls,
  finishReasons,
  usage,
  citations,
}: ReturnType<typeof readChatReply>): Told {
  return {
    citations: citations.map(({ url, of }) => ({ source: url, of })),
    text: text + refusal,
    calls: calls.map((call) => ({ name: call.name, args: argumentsOf(call.arguments) })),
    finish: finishReasons[0] ?? '',
    inputTokens: numberAt(usage, 'prompt_tokens'),
    outputTokens: numberAt(usage, 'completion_tokens'),
  };
}

function fromMessage(content: readonly Json[], stopReason: string | null, usage: Json): Told {
  const cached = ['cache_creation_input_tokens', 'cache_read_input_tokens'].map(
    (name) => numberAt(usage, name) ?? 0,
  );
  return {
    citations: content.flatMap((block) =>
      ((block['citations'] ?? []) as readonly Json[]).map((citation) => ({
        source: String(citation['url'] ?? citation['source'] ?? citation['document_title']),
        of: String(block['text']),
      })),
    ),
    text: content.map((block) => (block['type'] === 'text' ? block['text'] : '')).join(''),
    calls: content
      .filter((block) => block['type'] === 'tool_use')
      .map(({ name, input }) => ({
        name: String(name),
        args: typeof input === 'string' ? argumentsOf(input) : input,
      })),
    finish: stopReason ?? '',
    inputTokens: cached.reduce((sum, tokens) => sum + tokens, numberAt(usage, 'input_tokens') ?? 0),
    outputTokens: numberAt(usage, 'output_tokens'),
  };
}

function fromResponse(response: Json): Told {
  const output = response['output'] as readonly Json[];
  const parts = output.flatMap((item) =>
    item['type'] === 'message' ? (item['content'] as readonly Json[]) : [],
  );
  const usage = response['usage'] as Json | null;
  return {
    citations: parts.flatMap((part) =>
      ((part['annotations'] ?? []) as readonly Json[]).map((annotation) => {
        const { url, of } = readUrlCitation(annotation, String(part['text']));
        return { source: url, of };
      }),
    ),
    text: parts.map((part) => part['text'] ?? part['refusal'] ?? '').join(''),
    calls: output
      .filter((item) => item['type'] === 'function_call')
      .map((item) => ({
        name: String(item['name']),
        args: argumentsOf(String(item['arguments'])),
      })),
    finish: String(response['status']),
    inputTokens: numberAt(usage, 'input_tokens'),
    outputTokens: numberAt(usage, 'output_tokens'),
  };
}

function fromGemini({ text, calls, citations, finishReasons, usage }: ReadAnswer): Told {
  const answered = numberAt(usage, 'candidatesTokenCount');
  return {
    text,
    citations,
    calls: calls.map(({ name, args }) => ({ name, args })),
    finish: finishReasons[0] ?? '',
    inputTokens: numberAt(usage, 'promptTokenCount'),
    outputTokens:
      answered === null ? null : answered + (numberAt(usage, 'thoughtsTokenCount') ?? 0),
  };
}

function numberAt(value: Json | null, name: string): number | null {
  const found = value?.[name];
  return typeof found === 'number' ? found : null;
}

/** As text where they are no JSON. */
function argumentsOf(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return text;
  }
}
