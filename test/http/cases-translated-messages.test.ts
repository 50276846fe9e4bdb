/** Turns, parameters, images, usage and finish reasons across vendors: the cases of translation, end to end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CaseGateway, hello } from '../support/case-gateway.ts';
import { startTcp } from '../support/loopback-server.ts';

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

type Block = { type: string; text?: string };
type Message = { role: string; content: string | Block[] };

function textsOf(message: Message | undefined): string {
  const content = message?.content ?? '';
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join(' ');
}

describe('turns', () => {
  it('TR-06 neighbours of one role become one turn, systems go where they belong', async () => {
    const tier = await cases.tier(['p2'], { p2: hello.anthropic });
    await cases.stream(tier, {
      messages: [
        { role: 'system', content: 's1' },
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
        { role: 'system', content: 's2' },
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: 'd' },
        { role: 'user', content: 'e' },
      ],
    });
    const [body] = cases.bodies('p2');
    expect(JSON.stringify(body.system)).toContain('s1');
    expect(JSON.stringify(body)).toContain('s2');
    expect(body.messages.map(({ role }: Message) => role)).toEqual(['user', 'assistant', 'user']);
    expect(textsOf(body.messages[0])).toMatch(/a.*b.*s2/s);
    expect(textsOf(body.messages[1])).toMatch(/c.*d/s);
    expect(textsOf(body.messages[2])).toContain('e');
  });

  it('TR-07 no empty text goes out, and no turn is left empty', async () => {
    const tier = await cases.tier(['p2'], { p2: hello.anthropic });
    const { row } = await cases.stream(tier, {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'hi' },
          ],
        },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: '' },
        { role: 'assistant', content: ' \n' },
        { role: 'user', content: 'go' },
      ],
    });
    expect(row['outcome']).toBe('served');
    const [body] = cases.bodies('p2');
    const blocks: Block[] = body.messages.flatMap(({ content }: Message) => content);
    expect(blocks.filter(({ type, text }) => type === 'text' && text?.trim() === '')).toEqual([]);
    expect(blocks.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['tool_use', 'tool_result']),
    );
    expect(body.messages.every(({ content }: Message) => content.length > 0)).toBe(true);
  });

  it('TR-14 reasoning of an earlier turn does not become text for another vendor', async () => {
    const tier = await cases.tier(['p2'], { p2: hello.anthropic });
    await cases.stream(tier, {
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: 'the answer', reasoning_content: 'SECRET-CHAIN' },
        { role: 'user', content: 'go' },
      ],
    });
    const sent = JSON.stringify(cases.bodies('p2'));
    expect(sent).not.toContain('SECRET-CHAIN');
    expect(sent).toContain('the answer');
  });

  it('TR-20 a data URL becomes an image block', async () => {
    const tier = await cases.tier(['p2'], { p2: hello.anthropic });
    await cases.stream(tier, {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'text', text: '?' },
          ],
        },
      ],
    });
    expect(cases.bodies('p2')[0].messages[0].content).toContainEqual({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
    });
  });

  it('TR-21 an image by link goes to a target that takes links; the gateway fetches nothing', async () => {
    let fetches = 0;
    const host = await startTcp(() => {
      fetches += 1;
    });
    const url = `${host.origin}/a.png`;
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
    const tier = await cases.tier(['p3', 'p1'], { p3: hello.gemini, p1: hello.openai });
    const { stream, row } = await cases.stream(tier, { messages });
    expect(stream.text).toBe('hello');
    expect(cases.calls('p3')).toBe(0);
    expect(cases.calls('p1')).toBe(1);
    expect(row['skipped']).toEqual([{ target: cases.targetOf('p3'), reason: 'ability:images' }]);
    const alone = await cases.tier(['p3'], { p3: hello.gemini });
    const refused = await cases.post(alone, { messages });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(await refused.json())).toContain('images');
    await host.close();
    expect(fetches).toBe(0);
  });
});

describe('parameters', () => {
  it('TR-08 the required max_tokens is the ceiling of the model, never a hidden 4096', async () => {
    const tier = await cases.tier(['p2'], { p2: hello.anthropic });
    await cases.stream(tier);
    expect(cases.bodies('p2')[0].max_tokens).toBe(64_000);
    const set = await cases.tier(
      ['p2'],
      { p2: hello.anthropic },
      { targets: { p2: { params: { max_tokens: 8192 } } } },
    );
    await cases.stream(set);
    expect(cases.bodies('p2')[0].max_tokens).toBe(8192);
  });

  it('TR-09 max_completion_tokens keeps its meaning under every name', async () => {
    const tier = await cases.tier(['p2', 'p3'], { p2: [{ status: 503 }], p3: hello.gemini });
    await cases.stream(tier, { max_completion_tokens: 77 });
    expect(cases.bodies('p2')[0].max_tokens).toBe(77);
    expect(cases.bodies('p3')[0].generationConfig.maxOutputTokens).toBe(77);
    const both = await cases.tier(['p2'], { p2: hello.anthropic });
    await cases.stream(both, { max_completion_tokens: 90, max_tokens: 60 });
    expect(cases.bodies('p2')[0].max_tokens).toBe(60);
  });

  it('TR-10 a schema keeps its meaning without the keywords that a vendor refuses', async () => {
    const tier = await cases.tier(['p3'], { p3: hello.gemini });
    const { row } = await cases.stream(tier, {
      tools: [
        {
          type: 'function',
          function: {
            name: 'f',
            parameters: {
              $schema: 'x',
              type: 'object',
              additionalProperties: false,
              properties: {
                a: { type: ['string', 'null'], const: 'k' },
                additionalProperties: { type: 'string' },
              },
            },
          },
        },
      ],
    });
    expect(row['outcome']).toBe('served');
    const [declaration] = cases.bodies('p3')[0].tools[0].functionDeclarations;
    const schema = declaration.parameters ?? declaration.parametersJsonSchema;
    const { properties, ...top } = schema;
    expect(Object.keys(top)).not.toEqual(expect.arrayContaining(['$schema']));
    expect(top.additionalProperties).toBeUndefined();
    expect(Object.keys(properties)).toEqual(['a', 'additionalProperties']);
    expect(properties.a).toEqual({ type: 'string', nullable: true, enum: ['k'] });
    expect(properties.additionalProperties).toEqual({ type: 'string' });
  });

  it('FO-04 the next vendor gets what it knows; the rest is named in x-tiergate-dropped', async () => {
    const tier = await cases.tier(['p1', 'p2'], { p1: [{ status: 503 }], p2: hello.anthropic });
    const { response, stream, row } = await cases.stream(tier, {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ],
      reasoning_effort: 'none',
      response_format: { type: 'json_object' },
      logit_bias: { 1: 1 },
      seed: 7,
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      tool_choice: 'auto',
      temperature: 1.7,
      stop: ['a', 'b', 'c', 'd', 'e'],
    });
    expect(stream.text).toBe('hello');
    const [body] = cases.bodies('p2');
    expect(body.tools).toHaveLength(1);
    expect(body.tool_choice).toEqual({ type: 'auto' });
    expect(body.system[0].text).toBe('Be brief.');
    expect(body.system[1].text).toContain('JSON');
    for (const name of ['logit_bias', 'response_format', 'reasoning_effort']) {
      expect(body).not.toHaveProperty(name);
    }
    expect(body).not.toHaveProperty('seed');
    if (body.temperature !== undefined) expect(body.temperature).toBeLessThanOrEqual(1);
    expect(body.stop_sequences).toEqual(['a', 'b', 'c', 'd', 'e']);
    const dropped = response.headers.get('x-tiergate-dropped')?.split(',') ?? [];
    expect(dropped).toEqual(
      expect.arrayContaining(['logit_bias', 'seed', 'response_format', 'temperature']),
    );
    expect(row['dropped']).toEqual(dropped);
    expect(cases.received('p2')[0]?.complaint).toBeNull();
  });
});

describe('what comes back', () => {
  it.each([
    ['TR-15', ['T:Quail', 'FIN:MAX_TOKENS'], 'length'],
    ['TR-17', ['T:some', 'FIN:SAFETY'], 'content_filter'],
  ])('%s a finish reason keeps its meaning and is no fault', async (_id, sse, reason) => {
    const tier = await cases.tier(['p3', 'p1'], { p3: [{ sse }], p1: hello.openai });
    const { stream, row } = await cases.stream(tier, { max_tokens: 20 });
    expect(stream.finishReasons).toEqual([reason]);
    expect(cases.calls('p1')).toBe(0);
    expect(row).toMatchObject({ outcome: 'served', provider: 'p3' });
    expect(row.attempts[0]).toMatchObject({ error_class: null, breaker_after: 'closed' });
  });

  it('TR-18 cached tokens are part of the prompt, once, and the row says the same', async () => {
    const start =
      'RAW:event: message_start\\ndata: {"type":"message_start","message":{"usage":{"input_tokens":27,"cache_read_input_tokens":10,"output_tokens":1}}}\\n\\n';
    const end =
      'RAW:event: message_delta\\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":27,"cache_read_input_tokens":10,"output_tokens":15}}\\n\\n';
    const tier = await cases.tier(['p2'], { p2: [{ sse: [start, 'T:hello', end, 'DONE'] }] });
    const { stream, row } = await cases.stream(tier, { stream_options: { include_usage: true } });
    const usage = stream.events.map((event) => event.usage).findLast((one) => one != null);
    expect(usage).toMatchObject({
      prompt_tokens: 37,
      completion_tokens: 15,
      prompt_tokens_details: { cached_tokens: 10 },
    });
    expect(row).toMatchObject({ input_tokens: 37, output_tokens: 15, cached_tokens: 10 });
  });
});
