/** The official SDK's responses against each upstream dialect and through a failover. */
import OpenAI from 'openai';
import { zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  modelNames,
  type ProviderName,
  type RunningGateway,
  startGateway,
} from '../support/running-gateway.ts';
import { dialects, pixel } from '../support/sdk-samples.ts';

type Input = OpenAI.Responses.ResponseInput;
type Answer = OpenAI.Responses.Response;

const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a city',
  strict: false,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
};

function clientOf(gateway: RunningGateway, path = ''): OpenAI {
  return new OpenAI({ baseURL: `${gateway.origin}/v1${path}`, apiKey: 'any', maxRetries: 0 });
}

const base = { model: 'fast', store: false } as const;

describe.each(dialects)('openai responses with %s as the only target', (dialect: string, name) => {
  let gateway: RunningGateway;
  let client: OpenAI;
  beforeAll(async () => {
    gateway = await startGateway({ tier: [name] });
    client = clientOf(gateway);
  });
  afterAll(() => gateway.close());

  it('plain, with what was asked repeated in the answer', async () => {
    const answer = await client.responses.create({
      ...base,
      instructions: 'Be brief.',
      input: 'hello there',
      metadata: { team: 'a' },
    });
    expect(answer.output_text).toContain('hello there');
    expect(answer).toMatchObject({ status: 'completed', object: 'response', error: null });
    expect(answer.model).toBe(modelNames[name]);
    expect(answer.usage?.input_tokens).toBeGreaterThan(0);
    expect(answer.usage?.output_tokens).toBeGreaterThan(0);
    expect(answer._request_id).toBeTruthy();
    if (dialect === 'openai-responses') return;
    expect(answer).toMatchObject({ instructions: 'Be brief.', metadata: { team: 'a' } });
  });

  it('streamed, each event as the SDK types it', async () => {
    const stream = await client.responses.create({ ...base, input: 'hello there', stream: true });
    const types: string[] = [];
    let text = '';
    let last: Answer | null = null;
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (event.type === 'response.completed') last = event.response;
    }
    expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress']);
    expect(types.at(-1)).toBe('response.completed');
    expect(text).toContain('hello there');
    expect(last?.model).toBe(modelNames[name]);
    expect(last?.usage?.output_tokens).toBeGreaterThan(0);
  });

  it("streamed through the SDK's own accumulator", async () => {
    const stream = client.responses.stream({ ...base, input: 'hello there' });
    const deltas: string[] = [];
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    const answer = await stream.finalResponse();
    expect(deltas.join('')).toBe(answer.output_text);
    expect(answer.output_text).toContain('hello there');
  });

  it.each([false, true])(
    'a tool call and back, over several turns (stream %s)',
    async (isStream) => {
      const input: Input = [{ role: 'user', content: 'weather in Oslo, please' }];
      const call = await oneTurn(client, input, isStream);
      expect(callsOf(call)).toMatchObject([{ name: 'get_weather', status: 'completed' }]);
      expect(JSON.parse(callsOf(call)[0]?.arguments ?? '')).toEqual({ city: 'Oslo' });
      input.push(...said(call), ...resultsOf(call));
      const told = await oneTurn(client, input, isStream);
      expect(told.output_text).toContain('sunny, 0');
      input.push(...said(told), { role: 'user', content: 'hello there' });
      expect((await oneTurn(client, input, isStream)).status).toBe('completed');
      const rows = await gateway.rows('?limit=3');
      expect(rows.every(({ outcome }) => outcome === 'served')).toBe(true);
    },
  );

  it('two calls in parallel and back', async () => {
    const input: Input = [{ role: 'user', content: 'two cities in parallel' }];
    const call = await oneTurn(client, input, true);
    expect(callsOf(call)).toHaveLength(2);
    expect(new Set(callsOf(call).map(({ call_id }) => call_id)).size).toBe(2);
    input.push(...said(call), ...resultsOf(call));
    expect((await oneTurn(client, input, true)).status).toBe('completed');
  });

  it('an image, and one among the results of a call', async () => {
    const image = {
      type: 'input_image',
      detail: 'auto',
      image_url: `data:image/png;base64,${pixel}`,
    } as const;
    const answer = await client.responses.create({
      ...base,
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'what is this?' }, image] }],
    });
    expect(answer.output_text).toContain('image/png');
    const shown = await client.responses.create({
      ...base,
      tools: [weather],
      tool_choice: 'none',
      input: [
        { role: 'user', content: 'go' },
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: [image] },
      ],
    });
    expect(shown.status).toBe('completed');
  });

  it('structured output, parsed by the SDK', async () => {
    const Shape = z.object({ city: z.string(), degrees: z.number() });
    const text = { format: zodTextFormat(Shape, 'weather') };
    const answer = await client.responses.parse({ ...base, input: 'weather as JSON', text });
    expect(Shape.safeParse(answer.output_parsed).success).toBe(true);
    const streamed = await client.responses
      .stream({ ...base, input: 'weather as JSON', text })
      .finalResponse();
    expect(Shape.safeParse(streamed.output_parsed).success).toBe(true);
  });

  it('a tool whose arguments the SDK parses', async () => {
    const parameters = z.object({ city: z.string() });
    const tool = zodResponsesFunction({ name: 'get_weather', parameters });
    const answer = await client.responses.parse({
      ...base,
      input: 'weather in Oslo, please',
      tools: [tool],
      tool_choice: { type: 'function', name: 'get_weather' },
    });
    const [call] = answer.output.filter((item) => item.type === 'function_call');
    expect(call?.parsed_arguments).toEqual({ city: 'Oslo' });
  });

  it('reasoning, and its way back', async () => {
    const asked = { ...base, reasoning: { effort: 'medium', summary: 'auto' } } as const;
    const first = await client.responses
      .stream({ ...asked, input: 'hello there', include: ['reasoning.encrypted_content'] })
      .finalResponse();
    expect(first.output_text).toContain('hello there');
    const second = await client.responses.create({
      ...asked,
      input: [
        { role: 'user', content: 'hello there' },
        ...said(first),
        { role: 'user', content: 'and again' },
      ],
    });
    expect(second.output_text).toContain('and again');
  });

  it('through a tier in the path, whatever the model says', async () => {
    for (const path of ['/tiers/fast', '/tiers/fast/v1']) {
      const asked = { ...base, model: 'gpt-anything', input: 'hello there' };
      expect((await clientOf(gateway, path).responses.create(asked)).output_text).toContain(
        'hello',
      );
    }
  });

  it("errors are the SDK's own, with the right status", async () => {
    const unknown = client.responses.create({ ...base, model: 'nope', input: 'x' });
    await expect(unknown).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(unknown).rejects.toMatchObject({ code: 'model_not_found' });
    const bad = client.responses.create({
      ...base,
      input: [{ role: 'user', content: 7 as never }],
    });
    await expect(bad).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(bad).rejects.toMatchObject({ param: 'input[0].content' });
  });
});

describe('failures of every target', () => {
  it.each([
    ['rate_limit', OpenAI.RateLimitError, 429, 'rate_limit_exceeded'],
    ['overload', OpenAI.InternalServerError, 502, 'upstream_failed'],
    ['context_length', OpenAI.BadRequestError, 400, 'context_length_exceeded'],
  ] as const)('%s is the exception of its status', async (fault, exception, status, code) => {
    const gateway = await startGateway({ tier: ['p2'], policies: { retry: { attempts: 1 } } });
    gateway.simulation.control.fault('p2', fault);
    const error = await clientOf(gateway)
      .responses.create({ ...base, input: 'x' })
      .then(
        () => null,
        (thrown: unknown) => thrown,
      )
      .finally(() => gateway.close());
    expect(error).toBeInstanceOf(exception);
    expect(error).toMatchObject({
      status,
      code,
      error: { code, tiergate: { attempts: [{ status: expect.any(Number) }] } },
    });
    if (fault === 'context_length') expect(String(error)).toContain('maximum context length is');
  });
});

describe('a stream that breaks after the client has seen some of it', () => {
  it.each(dialects)(
    "from %s is the SDK's APIError, with its code, in both its helpers",
    async (_, name) => {
      const gateway = await startGateway({
        tier: [name],
        policies: { stream: { on_interrupt: 'fail_forward', hold_tokens: 1 } },
      });
      try {
        const client = clientOf(gateway);
        const input = 'one two three four five six seven eight nine ten eleven twelve';
        for (const read of [readEvents, readHelper]) {
          gateway.simulation.control.fault(name, 'cut', { afterTokens: 8 });
          const { text, error } = await read(client, { ...base, input });
          expect(text).not.toBe('');
          expect(error).toBeInstanceOf(OpenAI.APIError);
          expect(error).toMatchObject({ code: 'stream_interrupted', type: 'server_error' });
          expect(String(error)).toMatch(/\(request [0-9a-f-]{36}\)/);
        }
      } finally {
        await gateway.close();
      }
    },
  );
});

type Broken = { readonly text: string; readonly error: unknown };
type Asked = { readonly model: string; readonly store: false; readonly input: string };

async function readEvents(client: OpenAI, asked: Asked): Promise<Broken> {
  let text = '';
  try {
    for await (const event of await client.responses.create({ ...asked, stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    return { text, error: null };
  } catch (error) {
    return { text, error };
  }
}

async function readHelper(client: OpenAI, asked: Asked): Promise<Broken> {
  let text = '';
  const stream = client.responses.stream(asked);
  stream.on('response.output_text.delta', ({ delta }) => {
    text += delta;
  });
  return stream.finalResponse().then(
    () => ({ text, error: null }),
    (error: unknown) => ({ text, error }),
  );
}

describe('a failover in the middle of a conversation with tool results', () => {
  const names = dialects.map(([, name]) => name);
  const pairs = names.flatMap((first) =>
    names.filter((second) => second !== first).map((second) => [first, second] as const),
  );
  it.each(pairs)('R70 R71 begun on %s, ended on %s', async (first, second) => {
    const gateway = await startGateway({ tier: [first, second] });
    try {
      const client = clientOf(gateway);
      const input: Input = [{ role: 'user', content: 'two cities in parallel' }];
      const call = await oneTurn(client, input, true);
      expect(callsOf(call)).toHaveLength(2);
      input.push(...said(call), ...resultsOf(call));
      gateway.simulation.control.fault(first, 'auth');
      for (const isStream of [true, false]) {
        const last = await oneTurn(client, input, isStream);
        expect(last).toMatchObject({ status: 'completed', model: modelNames[second] });
        const [row] = await gateway.rows('?limit=1');
        expect(row).toMatchObject({ outcome: 'served', provider: second, failed_over: true });
      }
    } finally {
      await gateway.close();
    }
  });

  const others = ['p1', 'p2b', 'p3', 'p4'] as const;
  it.each(others)(
    'R71 TR-13 a thought goes back to its model, signed, and not to %s',
    async (other) => {
      const gateway = await startGateway({ tier: ['p2', other] });
      try {
        const client = clientOf(gateway);
        const asked = { ...base, tools: [weather], reasoning: { effort: 'medium' as const } };
        const input: Input = [{ role: 'user', content: 'weather in Oslo' }];
        const call = await client.responses.stream({ ...asked, input }).finalResponse();
        expect(call.output.map(({ type }) => type)).toEqual(['reasoning', 'function_call']);
        input.push(...said(call), ...resultsOf(call));
        await client.responses.create({ ...asked, input });
        const back = sentTo(gateway, 'p2').at(-1);
        expect(back).toMatch(/"type":"thinking","thinking":".+","signature":"c2lt/);
        gateway.simulation.control.fault('p2', 'auth');
        const last = await client.responses.create({ ...asked, input });
        expect(last).toMatchObject({ status: 'completed', model: modelNames[other] });
        expect(sentTo(gateway, other).at(-1)).not.toMatch(/tgr_|c2lt/);
      } finally {
        await gateway.close();
      }
    },
  );
});

function sentTo(gateway: RunningGateway, name: ProviderName): readonly string[] {
  return gateway.simulation.control.requests(name).map(({ body }) => body.toString());
}

function oneTurn(client: OpenAI, input: Input, isStream: boolean): Promise<Answer> {
  const body = { ...base, instructions: 'Be brief.', input, tools: [weather] };
  return isStream ? client.responses.stream(body).finalResponse() : client.responses.create(body);
}

/** The output goes back as it came. */
function said(answer: Answer): Input {
  return answer.output as Input;
}

function callsOf({ output }: Answer): readonly OpenAI.Responses.ResponseFunctionToolCall[] {
  return output.filter((item) => item.type === 'function_call');
}

function resultsOf(answer: Answer): Input {
  return callsOf(answer).map(({ call_id }, index) => ({
    type: 'function_call_output',
    call_id,
    output: `sunny, ${index}`,
  }));
}
