/** The official SDK, with its own retries off, against each upstream dialect and through a failover. */
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  modelNames,
  type ProviderName,
  type RunningGateway,
  startGateway,
} from '../support/running-gateway.ts';
import { dialects, failoverPairs, pixel } from '../support/sdk-samples.ts';

const weather: Anthropic.Tool = {
  name: 'get_weather',
  description: 'The weather of a city',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
};

type Messages = Anthropic.MessageParam[];

const base = { model: 'fast', max_tokens: 400 } as const;
const hello: Messages = [{ role: 'user', content: 'hello there' }];

function clientOf(gateway: RunningGateway, path = ''): Anthropic {
  return new Anthropic({ baseURL: gateway.origin + path, apiKey: 'any', maxRetries: 0 });
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function callsOf({ content }: Anthropic.Message): readonly Anthropic.ToolUseBlock[] {
  return content.filter((block) => block.type === 'tool_use');
}

describe.each(dialects)('the anthropic SDK with %s as the only target', (_dialect, name) => {
  let gateway: RunningGateway;
  let client: Anthropic;
  beforeAll(async () => {
    gateway = await startGateway({ tier: [name] });
    client = clientOf(gateway);
  });
  afterAll(() => gateway.close());

  it('plain', async () => {
    const { data, response } = await client.messages
      .create({
        ...base,
        system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
        messages: hello,
      })
      .withResponse();
    expect(textOf(data)).toContain('hello there');
    expect(data).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
    expect(data.id).toMatch(/^msg_/);
    expect(data.model).toBe(modelNames[name]);
    expect(data.usage.input_tokens).toBeGreaterThan(0);
    expect(data.usage.output_tokens).toBeGreaterThan(0);
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-tiergate-request-id'));
  });

  it.each(['/v1/tiers/fast', '/v1/tiers/fast/v1'])(
    'with the tier in the path: %s',
    async (path) => {
      const response = await gateway.post(`${path}/messages`, {
        model: 'claude-anything',
        max_tokens: 50,
        messages: hello,
      });
      expect(response.status).toBe(200);
      const sdk = clientOf(gateway, '/v1/tiers/fast');
      const answer = await sdk.messages.create({ ...base, model: 'claude-x', messages: hello });
      expect(textOf(answer)).toContain('hello there');
    },
  );

  it('streamed, with usage at the end', async () => {
    const stream = client.messages.stream({ ...base, messages: hello });
    const seen: string[] = [];
    stream.on('streamEvent', ({ type }) => seen.push(type));
    const texts: string[] = [];
    stream.on('text', (text) => texts.push(text));
    const answer = await stream.finalMessage();
    expect(texts.join('')).toBe(textOf(answer));
    expect(textOf(answer)).toContain('hello there');
    expect(answer.stop_reason).toBe('end_turn');
    expect(answer.model).toBe(modelNames[name]);
    expect(answer.usage.input_tokens).toBeGreaterThan(0);
    expect(answer.usage.output_tokens).toBeGreaterThan(1);
    expect(seen.filter((type) => type === 'message_start')).toHaveLength(1);
    expect(seen.at(-1)).toBe('message_stop');
  });

  it.each([false, true])('a tool call and back (stream %s)', async (isStream) => {
    const messages: Messages = [{ role: 'user', content: 'weather in Oslo, please' }];
    const call = await oneTurn(client, messages, isStream);
    expect(call.stop_reason).toBe('tool_use');
    expect(callsOf(call)).toMatchObject([{ name: 'get_weather', input: { city: 'Oslo' } }]);
    messages.push({ role: 'assistant', content: call.content }, resultsOf(call));
    const last = await oneTurn(client, messages, isStream);
    expect(last.stop_reason).toBe('end_turn');
    expect(textOf(last)).toContain('sunny, 0');
    expect((await gateway.rows('?limit=2')).every(({ outcome }) => outcome === 'served')).toBe(
      true,
    );
  });

  it('two calls in parallel and back, or one where that is asked for', async () => {
    const messages: Messages = [{ role: 'user', content: 'two cities in parallel' }];
    const call = await oneTurn(client, messages, true);
    expect(callsOf(call)).toHaveLength(2);
    expect(new Set(callsOf(call).map(({ id }) => id)).size).toBe(2);
    messages.push({ role: 'assistant', content: call.content }, resultsOf(call));
    expect((await oneTurn(client, messages, true)).stop_reason).toBe('end_turn');
    // These two cannot be told.
    if (name === 'p3' || name === 'p5') return;
    const single = await client.messages.create({
      ...base,
      messages: messages.slice(0, 1),
      tools: [weather],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    });
    expect(callsOf(single)).toHaveLength(1);
  });

  it('an image, and one among the results of a call', async () => {
    const image: Anthropic.ImageBlockParam = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: pixel },
    };
    const answer = await client.messages.create({
      ...base,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'what is this?' }, image] }],
    });
    expect(textOf(answer)).toContain('image/png');
    const shown = await client.messages.create({
      ...base,
      tools: [weather],
      tool_choice: { type: 'none' },
      messages: [
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'x' } }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [image] }],
        },
      ],
    });
    expect(shown.stop_reason).toBe('end_turn');
  });

  it('thinking, and its way back', async () => {
    const asked = {
      ...base,
      max_tokens: 4000,
      thinking: { type: 'enabled', budget_tokens: 1024 },
    } as const;
    const first = await client.messages.stream({ ...asked, messages: hello }).finalMessage();
    expect(textOf(first)).toContain('hello there');
    const thoughts = first.content.filter((block) => block.type === 'thinking');
    if (name !== 'p1') expect(thoughts[0]?.thinking).not.toBe('');
    const second = await client.messages.create({
      ...asked,
      messages: [
        ...hello,
        { role: 'assistant', content: first.content },
        { role: 'user', content: 'and again' },
      ],
    });
    expect(textOf(second)).toContain('and again');
  });

  it("errors are the SDK's own, with the right status", async () => {
    const asked = client.messages.create({ ...base, model: 'nope', messages: hello });
    const unknown = await asked.then(
      () => null,
      (error: unknown) => error,
    );
    expect(unknown).toBeInstanceOf(Anthropic.NotFoundError);
    expect(unknown).toMatchObject({ status: 404, type: 'not_found_error' });
    const { requestID, message } = unknown as InstanceType<typeof Anthropic.NotFoundError>;
    expect(message).toContain(`(request ${requestID})`);
    const bad = client.messages.create({
      ...base,
      messages: [{ role: 'user', content: 7 as never }],
    });
    await expect(bad).rejects.toBeInstanceOf(Anthropic.BadRequestError);
    await expect(bad).rejects.toMatchObject({ type: 'invalid_request_error' });
    await expect(bad).rejects.toThrow('messages[0].content');
  });
});

describe('failures of every target', () => {
  it.each([
    ['rate_limit', Anthropic.RateLimitError, 429, 'rate_limit_error'],
    ['overload', Anthropic.InternalServerError, 502, 'api_error'],
    ['context_length', Anthropic.BadRequestError, 400, 'invalid_request_error'],
  ] as const)('%s is the exception of its status', async (fault, exception, status, type) => {
    const gateway = await startGateway({ tier: ['p2'], policies: { retry: { attempts: 1 } } });
    gateway.simulation.control.fault('p2', fault);
    const error = await clientOf(gateway)
      .messages.create({ ...base, messages: hello })
      .then(
        () => null,
        (thrown: unknown) => thrown,
      )
      .finally(() => gateway.close());
    expect(error).toBeInstanceOf(exception);
    expect(error).toMatchObject({
      status,
      type,
      error: {
        type: 'error',
        error: { type, tiergate: { attempts: [{ status: expect.any(Number) }] } },
      },
    });
    if (fault === 'context_length') expect(String(error)).toContain('prompt is too long: ');
  });
});

describe('a failover in the middle of a conversation with tool results', () => {
  it.each(failoverPairs)('R70 R71 begun on %s, ended on %s', async (first, second) => {
    const gateway = await startGateway({ tier: [first, second] });
    try {
      const client = clientOf(gateway);
      const messages: Messages = [{ role: 'user', content: 'two cities in parallel' }];
      const call = await oneTurn(client, messages, true);
      expect(callsOf(call)).toHaveLength(2);
      messages.push({ role: 'assistant', content: call.content }, resultsOf(call));
      gateway.simulation.control.fault(first, 'auth');
      for (const isStream of [true, false]) {
        const last = await oneTurn(client, messages, isStream);
        expect(last.stop_reason).toBe('end_turn');
        expect(last.model).toBe(modelNames[second]);
        const [row] = await gateway.rows('?limit=1');
        expect(row).toMatchObject({ outcome: 'served', provider: second, failed_over: true });
      }
    } finally {
      await gateway.close();
    }
  });

  it('R71 thinking of one vendor in a tool loop that another one ends', async () => {
    for (const [first, second] of [
      ['p2', 'p3'],
      ['p3', 'p2'],
    ] as const satisfies readonly (readonly [ProviderName, ProviderName])[]) {
      const gateway = await startGateway({ tier: [first, second] });
      try {
        const client = clientOf(gateway);
        const asked = {
          model: 'fast',
          max_tokens: 4000,
          tools: [weather],
          thinking: { type: 'enabled' as const, budget_tokens: 1024 },
        };
        const messages: Messages = [{ role: 'user', content: 'weather in Oslo' }];
        const call = await client.messages.stream({ ...asked, messages }).finalMessage();
        expect(call.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use']);
        messages.push({ role: 'assistant', content: call.content }, resultsOf(call));
        gateway.simulation.control.fault(first, 'auth');
        const last = await client.messages.create({ ...asked, messages });
        expect(last).toMatchObject({ stop_reason: 'end_turn', model: modelNames[second] });
      } finally {
        await gateway.close();
      }
    }
  });
});

describe('the tiers as models', () => {
  it('are listed and found, and an unknown one is a NotFoundError', async () => {
    const gateway = await startGateway();
    try {
      const client = clientOf(gateway);
      const names: string[] = [];
      for await (const model of client.models.list()) names.push(model.id);
      expect(names).toEqual(['fast', 'solo']);
      const model = await client.models.retrieve('fast');
      expect(model).toMatchObject({ type: 'model', id: 'fast', display_name: 'fast' });
      expect(Number.isNaN(Date.parse(model.created_at))).toBe(false);
      const unknown = client.models.retrieve('nope');
      await expect(unknown).rejects.toBeInstanceOf(Anthropic.NotFoundError);
      await expect(unknown).rejects.toMatchObject({ type: 'not_found_error' });
    } finally {
      await gateway.close();
    }
  });
});

function oneTurn(
  client: Anthropic,
  messages: Messages,
  isStream: boolean,
): Promise<Anthropic.Message> {
  const body = { ...base, system: 'Be brief.', messages, tools: [weather] };
  return isStream ? client.messages.stream(body).finalMessage() : client.messages.create(body);
}

function resultsOf(message: Anthropic.Message): Anthropic.MessageParam {
  return {
    role: 'user',
    content: callsOf(message).map(({ id }, index) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: `sunny, ${index}`,
    })),
  };
}
