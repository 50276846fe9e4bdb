/** The official SDK, with its own retries off, against each upstream dialect and through a failover. */
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelNames, type RunningGateway, startGateway } from '../support/running-gateway.ts';
import { dialects, failoverPairs, pixel } from '../support/sdk-samples.ts';

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    },
  },
} as const;

const pixelUrl = `data:image/png;base64,${pixel}`;

function clientOf(gateway: RunningGateway): OpenAI {
  return new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'any', maxRetries: 0 });
}

type Messages = OpenAI.Chat.ChatCompletionMessageParam[];

describe.each(dialects)('the openai SDK with %s as the only target', (_dialect, name) => {
  let gateway: RunningGateway;
  let client: OpenAI;
  beforeAll(async () => {
    gateway = await startGateway({ tier: [name] });
    client = clientOf(gateway);
  });
  afterAll(() => gateway.close());

  it('plain', async () => {
    const answer = await client.chat.completions.create({
      model: 'fast',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello there' },
      ],
    });
    expect(answer.choices[0]?.message.content).toContain('hello there');
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    expect(answer.model).toBe(modelNames[name]);
    expect(answer.usage?.prompt_tokens).toBeGreaterThan(0);
  });

  it('streamed, with usage at the end', async () => {
    const stream = await client.chat.completions.create({
      model: 'fast',
      messages: [{ role: 'user', content: 'hello there' }],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let usage: OpenAI.CompletionUsage | null | undefined = null;
    const ids = new Set<string>();
    const finishes: string[] = [];
    for await (const chunk of stream) {
      ids.add(chunk.id);
      text += chunk.choices[0]?.delta.content ?? '';
      const finish = chunk.choices[0]?.finish_reason;
      if (finish != null) finishes.push(finish);
      usage = chunk.usage ?? usage;
    }
    expect(text).toContain('hello there');
    expect(finishes).toEqual(['stop']);
    expect(ids.size).toBe(1);
    expect(usage?.completion_tokens).toBeGreaterThan(0);
  });

  it.each([false, true])('a tool call and back (stream %s)', async (isStream) => {
    const messages: Messages = [{ role: 'user', content: 'weather in Oslo, please' }];
    const call = await oneTurn(client, messages, isStream);
    expect(call.finish).toBe('tool_calls');
    expect(call.message.tool_calls?.[0]).toMatchObject({
      type: 'function',
      function: { name: 'get_weather' },
    });
    messages.push(call.message, ...resultsOf(call.message));
    const last = await oneTurn(client, messages, isStream);
    expect(last.finish).toBe('stop');
    expect(String(last.message.content)).not.toBe('');
    expect((await gateway.rows('?limit=2')).every(({ outcome }) => outcome === 'served')).toBe(
      true,
    );
  });

  it('two calls in parallel and back', async () => {
    const messages: Messages = [{ role: 'user', content: 'two cities in parallel' }];
    const call = await oneTurn(client, messages, true);
    expect(call.message.tool_calls).toHaveLength(2);
    expect(new Set(call.message.tool_calls?.map(({ id }) => id)).size).toBe(2);
    messages.push(call.message, ...resultsOf(call.message));
    expect((await oneTurn(client, messages, true)).finish).toBe('stop');
  });

  it('an image', async () => {
    const answer = await client.chat.completions.create({
      model: 'fast',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what is this?' },
            { type: 'image_url', image_url: { url: pixelUrl } },
          ],
        },
      ],
    });
    expect(answer.choices[0]?.message.content).toContain('image/png');
  });

  it("an unknown tier is the SDK's own NotFoundError", async () => {
    const asked = client.chat.completions.create({
      model: 'nope',
      messages: [{ role: 'user', content: 'x' }],
    });
    await expect(asked).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });
});

describe('a failover in the middle of a conversation with tool results', () => {
  it.each(failoverPairs)('R70 R71 begun on %s, ended on %s', async (first, second) => {
    const gateway = await startGateway({ tier: [first, second] });
    try {
      const client = clientOf(gateway);
      const messages: Messages = [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'two cities in parallel' },
      ];
      const call = await oneTurn(client, messages, true);
      expect(call.message.tool_calls).toHaveLength(2);
      messages.push(call.message, ...resultsOf(call.message));
      gateway.simulation.control.fault(first, 'auth');
      for (const isStream of [true, false]) {
        const last = await oneTurn(client, messages, isStream);
        expect(last.finish).toBe('stop');
        const [row] = await gateway.rows('?limit=1');
        expect(row).toMatchObject({ outcome: 'served', provider: second, failed_over: true });
      }
    } finally {
      await gateway.close();
    }
  });
});

type Turn = { readonly message: OpenAI.Chat.ChatCompletionMessage; readonly finish: string | null };

async function oneTurn(client: OpenAI, messages: Messages, isStream: boolean): Promise<Turn> {
  const body = { model: 'fast', messages, tools: [weather] };
  const answer = isStream
    ? await client.chat.completions.stream(body).finalChatCompletion()
    : await client.chat.completions.create(body);
  const [choice] = answer.choices;
  if (choice === undefined) throw new Error('no choice');
  return { message: choice.message, finish: choice.finish_reason };
}

function resultsOf(message: OpenAI.Chat.ChatCompletionMessage): Messages {
  return (message.tool_calls ?? []).map(({ id }, index) => ({
    role: 'tool',
    tool_call_id: id,
    content: `sunny, ${index}`,
  }));
}
