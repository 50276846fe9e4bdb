/** Reasoning that a service wants back with a conversation, on its way through clients of other dialects. */
import { describe, expect, it } from 'vitest';
import { ReplyCollector } from '../../../src/chat/reply.ts';
import type { StreamPart } from '../../../src/chat/stream-event.ts';
import { anthropicMessagesClient } from '../../../src/dialects/anthropic-messages/client.ts';
import type { ClientDialect, UpstreamDialect } from '../../../src/dialects/dialect.ts';
import { openaiResponsesClient } from '../../../src/dialects/openai-responses/client.ts';
import { boundProvider } from '../../support/bound-provider.ts';
import { callIn, type Json, sent, toolCall } from './upstream-calls.ts';

type Client = {
  readonly dialect: ClientDialect;
  /** The next request, with the answer's own items in it. */
  readonly next: (answer: Json, isCalled: boolean) => Json;
};

const clients: readonly Client[] = [
  {
    dialect: anthropicMessagesClient,
    next: ({ content }, isCalled) => ({
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content },
        {
          role: 'user',
          content: isCalled ? [{ type: 'tool_result', tool_use_id: 'c1', content: 'r' }] : 'go on',
        },
      ],
    }),
  },
  {
    dialect: openaiResponsesClient,
    next: ({ output }, isCalled) => ({
      input: [
        { role: 'user', content: 'q' },
        ...(output as readonly Json[]),
        isCalled
          ? { type: 'function_call_output', call_id: 'c1', output: 'r' }
          : { role: 'user', content: 'go on' },
      ],
    }),
  },
];

const serviceOf = (kind: string): UpstreamDialect => boundProvider({ kind }).dialect;

const messageOf = (place: string, text: string | null, calls: readonly Json[]): Json => ({
  role: 'assistant',
  ...(place === 'thinking'
    ? {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
          ...(text === null ? [] : [{ type: 'text', text }]),
        ],
      }
    : { content: text, [place]: 'hm' }),
  ...(calls.length === 0 ? {} : { tool_calls: calls }),
});

/** What a client is told of `parts`, whole. */
function told({ dialect }: Client, parts: readonly StreamPart[]): Json {
  const collector = new ReplyCollector();
  for (const { events } of parts) for (const event of events) collector.push(event);
  const fixed = { original: null, fallbackId: 'own', createdAtSeconds: 1, meta: null };
  return JSON.parse(dialect.encodeReply({ ...fixed, reply: collector.reply() }).toString());
}

function partsOf(
  service: UpstreamDialect,
  message: Json,
  isStream: boolean,
): readonly StreamPart[] {
  const head = { id: 'x', model: 'm' };
  if (!isStream) {
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return service.decodeReply(Buffer.from(JSON.stringify({ ...head, choices })));
  }
  const decoder = service.streamDecoder({ eventBytesMax: 1 << 16 });
  const event = (choice: Json) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, ...choice }] })}\n\n`;
  const bytes = `${event({ delta: message })}${event({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`;
  return [...decoder.push(Buffer.from(bytes)), ...decoder.end()];
}

/** The assistant's turn as `to` is sent it, after `from` had said `message`. */
function turnOf(
  client: Client,
  message: Json,
  { from, to, isStream = false }: { from: string; to: string; isStream?: boolean },
) {
  const answer = told(client, partsOf(serviceOf(from), message, isStream));
  const body = client.next(answer, message['tool_calls'] !== undefined);
  const overrides = { model: 'm', isReasoningModel: true };
  const request = sent(serviceOf(to), callIn(client.dialect, JSON.stringify(body), overrides));
  return { turn: request.at('messages.1') as Json, dropped: request.dropped };
}

describe.each(clients.map((client) => [client.dialect.name, client] as const))(
  'through a client of %s',
  (_name, client) => {
    const calls = [toolCall('c1', 'f', '{}')];

    it.each([false, true])(
      'DeepSeek gets its reasoning back with a tool call (stream: %s)',
      (isStream) => {
        const route = { from: 'deepseek', to: 'deepseek', isStream };
        const said = messageOf('reasoning_content', null, calls);
        const { turn, dropped } = turnOf(client, said, route);
        expect(turn).toMatchObject({ reasoning_content: 'hm', tool_calls: [{ id: 'c1' }] });
        expect(dropped).not.toContain('reasoning');
      },
    );

    it('and not in a plain turn, where older models of it refuse it', () => {
      const said = messageOf('reasoning_content', 'hi', []);
      const { turn, dropped } = turnOf(client, said, { from: 'deepseek', to: 'deepseek' });
      expect(turn).toEqual({ role: 'assistant', content: 'hi' });
      expect(dropped).toContain('reasoning');
    });

    it.each([false, true])(
      'Mistral gets its thinking back as it wrote it (stream: %s)',
      (isStream) => {
        const route = { from: 'mistral', to: 'mistral', isStream };
        for (const said of [messageOf('thinking', 'hi', []), messageOf('thinking', null, calls)]) {
          const { turn } = turnOf(client, said, route);
          expect(turn['content']).toEqual(said['content']);
        }
      },
    );

    it('nobody else is shown it, and nothing of anybody else comes back', () => {
      const said = messageOf('reasoning_content', null, calls);
      for (const [from, to] of [
        ['deepseek', 'mistral'],
        ['deepseek', 'xai'],
        ['xai', 'deepseek'],
        ['openai-compatible', 'deepseek'],
      ] as const) {
        const { turn, dropped } = turnOf(client, said, { from, to });
        expect(JSON.stringify(turn)).not.toContain('hm');
        expect(dropped).toContain('reasoning');
      }
    });
  },
);

it('a thought that a client changed is nobody’s', () => {
  const [client] = clients;
  if (client === undefined) throw new Error('no client');
  const said = messageOf('reasoning_content', null, [toolCall('c1', 'f', '{}')]);
  const answer = told(client, partsOf(serviceOf('deepseek'), said, false));
  const changed = JSON.parse(JSON.stringify(answer).replace('"hm"', '"hmm"'));
  const body = JSON.stringify(client.next(changed, true));
  const overrides = { model: 'm', isReasoningModel: true };
  const { at } = sent(serviceOf('deepseek'), callIn(client.dialect, body, overrides));
  expect(at('messages.1.reasoning_content')).toBe('');
});
