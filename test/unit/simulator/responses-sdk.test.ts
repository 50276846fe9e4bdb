/** The official openai SDK's responses against the simulated ones: what it sends is taken, what it gets is understood. */
import OpenAI, { APIError } from 'openai';
import type {
  Response,
  ResponseFunctionToolCall,
  ResponseInput,
} from 'openai/resources/responses/responses';
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

const model = 'gpt-4.1';
const input = 'What is the weather in Paris?';
const tools: OpenAI.Responses.FunctionTool[] = [
  {
    type: 'function',
    name: 'get_weather',
    strict: true,
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
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

function callsOf({ output }: Response): readonly ResponseFunctionToolCall[] {
  return output.filter((item) => item.type === 'function_call');
}

describe('the openai SDK', () => {
  it('gets a plain answer with usage and a request id', async () => {
    const answer = await client.responses.create({ model, input, instructions: 'Be brief.' });
    expect(answer.output_text).toContain('simulated answer from OpenAI (gpt-4.1)');
    expect(answer).toMatchObject({ object: 'response', status: 'completed', model });
    expect(answer.usage?.total_tokens).toBeGreaterThan(10);
    expect(answer._request_id).toMatch(/^req_/);
  });

  it('reads a stream in the full grammar, numbered without gaps', async () => {
    const stream = client.responses.stream({ model, input });
    const types: string[] = [];
    const numbers: number[] = [];
    let text = '';
    for await (const event of stream) {
      types.push(event.type);
      if ('sequence_number' in event) numbers.push(event.sequence_number);
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    const final = await stream.finalResponse();
    expect(final.output_text).toBe(text);
    expect(text).toContain('weather in Paris?');
    expect(numbers).toEqual(numbers.map((_, index) => index));
    const once = types.filter((type) => type !== 'response.output_text.delta');
    expect(once).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  it.each([false, true])('goes through a tool round trip, streamed: %s', async (isStreamed) => {
    const asked: ResponseInput = [{ role: 'user', content: 'Do Paris and Rome in parallel' }];
    const body = { model, tools, store: false };
    const first = isStreamed
      ? await client.responses.stream({ ...body, input: asked }).finalResponse()
      : await client.responses.create({ ...body, input: asked });
    const calls = callsOf(first);
    expect(calls.map((call) => JSON.parse(call.arguments))).toEqual([
      { city: 'Rome' },
      { city: 'Rome' },
    ]);
    expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(2);
    const second = await client.responses.create({
      ...body,
      input: [
        ...asked,
        ...calls,
        ...calls.map(({ call_id }) => ({
          type: 'function_call_output' as const,
          call_id,
          output: 'sunny',
        })),
      ],
    });
    expect(second.output_text).toContain('The tool get_weather returned: sunny');
  });

  it('is shown a summary of what was thought, and sends back what is sealed', async () => {
    const asked: ResponseInput = [{ role: 'user', content: 'hello' }];
    const thinking = {
      model: 'gpt-5',
      store: false,
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    } as const;
    const first = await client.responses
      .stream({ ...thinking, include: [...thinking.include], input: asked })
      .finalResponse();
    const [thought] = first.output;
    expect(thought).toMatchObject({ type: 'reasoning', summary: [{ type: 'summary_text' }] });
    expect(first.usage?.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
    const again = {
      ...thinking,
      include: [...thinking.include],
      input: [...asked, ...first.output, { role: 'user', content: 'and again' }] as ResponseInput,
    };
    expect((await client.responses.create(again)).output_text).toContain('and again');
    const changed = again.input.map((item) =>
      'encrypted_content' in item ? { ...item, encrypted_content: 'gAAAAother' } : item,
    );
    expect(await failure(client.responses.create({ ...again, input: changed }))).toMatchObject({
      status: 400,
      code: 'invalid_encrypted_content',
    });
  });

  it('sends an image and gets it described', async () => {
    const image_url = `data:image/png;base64,${Buffer.alloc(68).toString('base64')}`;
    const answer = await client.responses.create({
      model,
      input: [{ role: 'user', content: [{ type: 'input_image', image_url, detail: 'auto' }] }],
    });
    expect(answer.output_text).toContain('I see 1 image: image/png, 68 bytes.');
  });

  it('gets JSON of its schema', async () => {
    const [tool] = tools;
    const answer = await client.responses.create({
      model,
      input,
      text: {
        format: {
          type: 'json_schema',
          name: 'place',
          strict: true,
          schema: tool?.parameters ?? {},
        },
      },
    });
    expect(JSON.parse(answer.output_text)).toEqual({ city: 'Paris' });
  });

  it('is told when the limit cut an answer', async () => {
    const asked = { model, input: 'tell me in 200 words', max_output_tokens: 16 };
    const cut = {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    };
    expect(await client.responses.create(asked)).toMatchObject(cut);
    const types: string[] = [];
    const stream = await client.responses.create({ ...asked, stream: true });
    for await (const event of stream) types.push(event.type);
    expect(types.at(-1)).toBe('response.incomplete');
  });

  it('understands refusals and faults', async () => {
    const asked = () => failure(client.responses.create({ model, input }));
    expect(
      await failure(client.responses.create({ model, input, max_output_tokens: 5 })),
    ).toMatchObject({ status: 400, code: 'integer_below_min_value', param: 'max_output_tokens' });
    expect(await failure(client.responses.create({ model: 'claude-x', input }))).toMatchObject({
      status: 400,
      code: 'model_not_found',
    });
    upstream.control.fault('p1', 'overload');
    expect(await asked()).toMatchObject({ status: 503, code: 'server_is_overloaded' });
    upstream.control.clear();
    upstream.control.fault('p1', 'not_found');
    expect(await asked()).toMatchObject({ status: 400, code: 'model_not_found' });
    upstream.control.clear();
    upstream.control.fault('p1', 'refuse');
    expect(await asked()).toMatchObject({ status: undefined });
  });

  it('sees a stream that fails as failed', async () => {
    upstream.control.fault('p1', 'stream_error', { afterTokens: 3 });
    const stream = await client.responses.create({ model, input, stream: true });
    const seen: string[] = [];
    const read = async () => {
      for await (const event of stream) seen.push(event.type);
    };
    expect(String(await failure(read()))).toContain('server had an error');
    expect(seen).toContain('response.output_text.delta');
  });

  it('numbers the events of a stream that fails without a gap', async () => {
    upstream.control.fault('p1', 'stream_error', { afterTokens: 3 });
    const raw = await client.responses.create({ model, input, stream: true }).asResponse();
    const numbers = (await raw.text()).matchAll(/"sequence_number":(\d+)/g);
    const told = [...numbers].map(([, number]) => Number(number));
    expect(told.length).toBeGreaterThan(5);
    expect(told).toEqual(told.map((_, index) => index));
  });
});
