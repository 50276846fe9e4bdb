/** The official openai SDK against the simulated one: what it sends is taken, what it gets is understood. */
import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type SimulatedUpstream,
  startSimulatedUpstream,
} from '../../support/simulated-upstream.ts';

let upstream: SimulatedUpstream;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startSimulatedUpstream();
  client = new OpenAI({ baseURL: upstream.url('p1'), apiKey: 'sk-test', maxRetries: 0 });
});
beforeEach(() => upstream.control.clear());
afterAll(() => upstream.close());

const model = 'gpt-4o';
const messages = [{ role: 'user', content: 'What is the weather in Paris?' }] as const;
const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];

async function failure(request: Promise<unknown>): Promise<APIError> {
  const error = await request.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof APIError)) throw new Error('expected an APIError');
  return error;
}

describe('the openai SDK', () => {
  it('gets a plain answer with usage and a request id', async () => {
    const answer = await client.chat.completions.create({ model, messages: [...messages] });
    expect(answer.choices[0]?.message.content).toContain('simulated answer from OpenAI (gpt-4o)');
    expect(answer.usage?.total_tokens).toBeGreaterThan(10);
    expect(answer._request_id).toMatch(/^req_/);
  });

  it('reads a stream to its end, with usage', async () => {
    const stream = client.chat.completions.stream({
      model,
      messages: [...messages],
      stream_options: { include_usage: true },
    });
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]).toMatchObject({ finish_reason: 'stop' });
    expect(final.choices[0]?.message.content).toContain('weather in Paris?');
    expect(final.usage?.completion_tokens).toBeGreaterThan(10);
  });

  it('reads two choices apart', async () => {
    const final = await client.chat.completions
      .stream({ model, messages: [...messages], n: 2 })
      .finalChatCompletion();
    expect(final.choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, 'stop'],
      [1, 'stop'],
    ]);
  });

  it.each([false, true])('goes through a tool round trip, streamed: %s', async (isStreamed) => {
    const body = {
      model,
      tools,
      messages: [{ role: 'user' as const, content: 'Do Paris and Rome in parallel' }],
    };
    const first = isStreamed
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body);
    const message = first.choices[0]?.message;
    const calls = message?.tool_calls ?? [];
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    expect(
      calls.map((call) => call.type === 'function' && JSON.parse(call.function.arguments)),
    ).toEqual([{ city: 'Rome' }, { city: 'Rome' }]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    const { content = null, tool_calls = [] } = message ?? {};
    const second = await client.chat.completions.create({
      ...body,
      messages: [
        ...body.messages,
        { role: 'assistant', content, tool_calls },
        ...calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'sunny' })),
      ],
    });
    expect(second.choices[0]?.message.content).toContain('The tool get_weather returned: sunny');
  });

  it('sends an image and gets it described', async () => {
    const url = `data:image/png;base64,${Buffer.alloc(68).toString('base64')}`;
    const answer = await client.chat.completions.create({
      model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url } },
            { type: 'text', text: '?' },
          ],
        },
      ],
    });
    expect(answer.choices[0]?.message.content).toContain('I see 1 image: image/png, 68 bytes.');
  });

  it('gets JSON of its schema', async () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    const answer = await client.chat.completions.create({
      model,
      messages: [...messages],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'place', strict: true, schema },
      },
    });
    expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ city: 'Paris' });
  });

  it('gets stops and limits as the vendor tells them', async () => {
    const stopped = await client.chat.completions.create({
      model,
      messages: [...messages],
      stop: ['answer'],
    });
    expect(stopped.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'This is a simulated ' },
    });
    const cut = await client.chat.completions.create({
      model,
      messages: [...messages],
      max_tokens: 2,
    });
    expect(cut.choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { content: 'This is ' },
    });
    const named = await client.chat.completions.create({
      model,
      messages: [...messages],
      tools,
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
    });
    expect(named.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { tool_calls: [{}] },
    });
  });

  it('lists models', async () => {
    const names = (await client.models.list()).data.map(({ id }) => id);
    expect(names).toContain('gpt-5.1');
    expect((await client.models.retrieve('gpt-5.1')).id).toBe('gpt-5.1');
    expect(await failure(client.models.retrieve('nope'))).toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });

  it('understands refusals and faults', async () => {
    const asked = () => failure(client.chat.completions.create({ model, messages: [...messages] }));
    expect(await failure(client.chat.completions.create({ model, messages: [] }))).toMatchObject({
      status: 400,
      code: 'empty_array',
      param: 'messages',
    });
    upstream.control.fault('p1', 'overload');
    expect(await asked()).toMatchObject({ status: 503, code: 'server_is_overloaded' });
    upstream.control.fault('p1', 'refuse');
    expect(await asked()).toMatchObject({ status: undefined });
  });

  it('sees a stream that fails as failed', async () => {
    upstream.control.fault('p1', 'stream_error', { afterTokens: 3 });
    const stream = client.chat.completions.stream({ model, messages: [...messages] });
    expect((await failure(stream.finalChatCompletion())).message).toContain('server had an error');
  });

  it('leaves, and that is seen', async () => {
    upstream.script('p1', [{ sse: ['ROLE', { repeat: 200, steps: ['T:x ', 'SLEEP:20'] }] }]);
    const stream = await client.chat.completions.create({
      model,
      messages: [...messages],
      stream: true,
    });
    let events = 0;
    for await (const _ of stream) {
      events += 1;
      if (events === 3) break;
    }
    await upstream.until(() => upstream.requests('p1').at(-1)?.end === 'peer_closed');
    const record = upstream.requests('p1').at(-1);
    expect(record?.peerClosedMs).toBeGreaterThanOrEqual(record?.startedMs ?? 0);
    expect(upstream.control.openRequests('p1')).toBe(0);
  });
});
