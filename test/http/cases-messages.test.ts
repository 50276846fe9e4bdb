/** The front door of anthropic-messages: its cases of translation and streaming, end to end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { CaseGateway, hello } from '../support/case-gateway.ts';
import { readMessagesStream } from '../support/messages-stream.ts';

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

const hi = [{ role: 'user', content: 'hi' }];

function post(tier: string, over: JsonObject = {}, headers: Record<string, string> = {}) {
  const body = { model: tier, max_tokens: 50, messages: hi, ...over };
  return cases.gateway.post('/v1/messages', body, { headers });
}

/** A streamed request, read to its end, with its row; the stream is held to the grammar. */
async function stream(tier: string, over: JsonObject = {}) {
  const response = await post(tier, { stream: true, ...over });
  const read = readMessagesStream(await response.text());
  expect(read.faults).toEqual([]);
  return { response, read, row: await cases.rowOf(response) };
}

const textOf = (content: readonly JsonObject[]): string =>
  content.map((block) => block['text'] ?? '').join('');

describe('translation', () => {
  it('TR-05 a result that stands behind text goes to its call, and the text follows', async () => {
    const tier = await cases.tier(['p1'], { p1: hello.openai });
    const { read } = await stream(tier, {
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'and?' },
            { type: 'tool_result', tool_use_id: 'a', content: '1' },
          ],
        },
      ],
    });
    expect(textOf(read.content)).toBe('hello');
    const roles = cases.bodies('p1')[0].messages.map(({ role }: { role: string }) => role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'user']);
  });

  it('TR-04 a call without its result is refused by its name, and nobody is asked', async () => {
    for (const name of ['p1', 'p3'] as const) {
      const tier = await cases.tier([name]);
      const response = await post(tier, {
        messages: [
          { role: 'user', content: 'q' },
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'call-7', name: 'f', input: {} }],
          },
          { role: 'user', content: 'go' },
        ],
      });
      expect(response.status).toBe(400);
      expect(JSON.stringify(await response.json())).toContain('call-7');
      expect(cases.calls(name)).toBe(0);
    }
  });

  it('everything at once is taken by each vendor, and what was left out is named', async () => {
    const over = {
      max_tokens: 3000,
      system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
      thinking: { type: 'enabled', budget_tokens: 1500 },
      metadata: { user_id: `user_${'x'.repeat(150)}` },
      tools: [
        {
          name: 'mcp__a-server__look_up',
          description: 'd',
          input_schema: { type: 'object', properties: { a: { type: 'integer' } } },
          cache_control: { type: 'ephemeral' },
        },
      ],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      service_tier: 'standard_only',
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    };
    for (const name of ['p1', 'p2', 'p3'] as const) {
      const tier = await cases.tier([name]);
      const { response } = await stream(tier, over);
      expect(cases.received(name).map(({ complaint }) => complaint)).toEqual([null]);
      const dropped = response.headers.get('x-tiergate-dropped')?.split(',') ?? [];
      if (name === 'p2') expect(dropped).toEqual([]);
      else expect(dropped).toEqual(expect.arrayContaining(['cache_control']));
    }
  });

  it('TR-13 thinking goes to the model that made it, and to no other', async () => {
    const tier = await cases.tier(['p2', 'p2b'], {
      p2: [{ status: 529 }, { status: 529 }, { status: 529 }],
      p2b: hello.anthropic,
    });
    const thinking = { type: 'thinking', thinking: 't', signature: 'S-A' };
    const messages = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: [thinking, { type: 'text', text: 'a' }] },
      { role: 'user', content: 'go' },
    ];
    const { read } = await stream(tier, { messages });
    expect(textOf(read.content)).toBe('hello');
    expect(cases.bodies('p2')[0].messages).toEqual(messages);
    expect(cases.bodies('p2b')[0].messages).toEqual([
      messages[0],
      { role: 'assistant', content: [{ type: 'text', text: 'a' }] },
      messages[2],
    ]);
  });

  it('TR-13 thinking in a tool loop is turned off for the model that did not do it', async () => {
    const tier = await cases.tier(['p2', 'p2b'], { p2: [{ status: 401 }], p2b: hello.anthropic });
    const { response } = await stream(tier, {
      max_tokens: 4000,
      thinking: { type: 'enabled', budget_tokens: 2000 },
      messages: [
        { role: 'user', content: 'q' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 't', signature: 'S-A' },
            { type: 'tool_use', id: 'a', name: 'f', input: {} },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '1' }] },
      ],
    });
    expect(cases.bodies('p2')[0].thinking).toMatchObject({ type: 'enabled' });
    expect(cases.bodies('p2b')[0]).not.toHaveProperty('thinking');
    expect(cases.received('p2b')[0]?.complaint).toBeNull();
    expect(response.headers.get('x-tiergate-dropped')).toBe('thinking');
  });

  it('R71 thoughts of another vendor are shown, and known when they come back', async () => {
    const tier = await cases.tier(['p3', 'p2'], { p2: hello.anthropic });
    const asked = { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2000 } };
    const { read } = await stream(tier, asked);
    const [thought] = read.content;
    expect(thought).toMatchObject({ type: 'thinking', thinking: expect.stringMatching(/./) });
    cases.control.fault('p3', 'auth');
    await stream(tier, {
      ...asked,
      messages: [...hi, { role: 'assistant', content: read.content }, ...hi],
    });
    const sent = JSON.stringify(cases.bodies('p2')[0].messages);
    expect(sent).not.toContain('thinking');
    expect(sent).toContain(JSON.stringify(textOf(read.content)));
  });

  it('a field that nobody here knows arrives as it left, the headers of the dialect with it', async () => {
    const tier = await cases.tier(['p2'], { p2: hello.anthropic });
    const body = `{"model":"${tier}","max_tokens":50,"stream":true,"brand_new":{"n":1.0},"messages":[{"role":"user","content":"hi"}],"tiergate":{"tags":{"a":"b"}}}`;
    const response = await cases.gateway.post('/v1/messages?beta=true', body, {
      headers: { 'anthropic-beta': 'new-2026-11-01', 'anthropic-version': '2026-10-21' },
    });
    expect(readMessagesStream(await response.text()).faults).toEqual([]);
    const [received] = cases.received('p2');
    expect(received?.body.toString()).toBe(
      body
        .replace(`"${tier}"`, `"${cases.modelOf('p2')}"`)
        .replace(',"tiergate":{"tags":{"a":"b"}}', ''),
    );
    expect(received?.headers).toMatchObject({
      'anthropic-beta': 'new-2026-11-01',
      'anthropic-version': '2026-10-21',
    });
    expect(await cases.rowOf(response)).toMatchObject({ client_protocol: 'anthropic-messages' });
  });

  it('what another vendor cannot carry is passed over or refused, and what only tunes is named', async () => {
    const tier = await cases.tier(['p1', 'p2'], { p1: hello.openai, p2: hello.anthropic });
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
    await stream(tier, { tools });
    expect(cases.calls('p1')).toBe(0);
    const alone = await cases.tier(['p1'], { p1: hello.openai });
    const refused = await post(alone, { tools });
    expect(refused.status).toBe(400);
    const { error } = (await refused.json()) as { error: JsonObject };
    expect(error).toMatchObject({ type: 'invalid_request_error' });
    const { response } = await stream(alone, {
      top_k: 5,
      cache_control: { type: 'ephemeral' },
      speed: 'fast',
    });
    expect(response.headers.get('x-tiergate-dropped')?.split(',').sort()).toEqual([
      'cache_control',
      'speed',
      'top_k',
    ]);
  });
});

describe('streams', () => {
  it('ST-09 a silent restart shows one message_start, and blocks numbered from 0', async () => {
    const tier = await cases.tier(['p1', 'p2'], {
      p1: [{ sse: ['ROLE', 'T:one ', 'T:two ', 'CUT'] }],
      p2: [{ sse: ['ROLE', 'T:fresh', 'FIN:end_turn', 'DONE'] }],
    });
    const { read, row } = await stream(tier);
    expect(read.events.filter(({ type }) => type === 'message_start')).toHaveLength(1);
    expect(read.content).toEqual([{ type: 'text', text: 'fresh' }]);
    expect(row).toMatchObject({ recovery: 'restarted', provider: 'p2' });
  });

  it('ST-02 a stream that breaks after its content ends in an error event', async () => {
    const tier = await cases.tier(
      ['p1'],
      { p1: [{ sse: ['ROLE', 'REP:40:T:word ', 'CUT'] }] },
      { policies: { stream: { on_interrupt: 'fail_forward' } } },
    );
    const { read, row } = await stream(tier);
    expect(read.stopReason).toBeNull();
    expect(textOf(read.content)).toBe('word '.repeat(40));
    expect(read.error).toMatchObject({
      type: 'api_error',
      tiergate: { class: 'stream_interrupted', regenerate: true },
    });
    expect(row).toMatchObject({ outcome: 'failed' });
  });

  it('TR-02 pieces of two calls that come mixed are told one block after the other', async () => {
    const tier = await cases.tier(['p1'], {
      p1: [
        {
          sse: [
            'ROLE',
            'T:so',
            'TOOL:0:call_a:f:{"x":',
            'TOOL:1:call_b:g:{"y":',
            'TOOL:0:call_a::1}',
            'TOOL:1:call_b::2}',
            'FIN:tool_calls',
            'DONE',
          ],
        },
      ],
    });
    const { read } = await stream(tier);
    expect(read.content).toEqual([
      { type: 'text', text: 'so' },
      { type: 'tool_use', id: 'call_a', name: 'f', input: '{"x":1}' },
      { type: 'tool_use', id: 'call_b', name: 'g', input: '{"y":2}' },
    ]);
    expect(read.stopReason).toBe('tool_use');
  });

  it('a body asks for the meta object, whole and streamed', async () => {
    const tier = await cases.tier(['p2']);
    const tiergate = { meta: 'body' };
    const whole = (await (await post(tier, { tiergate })).json()) as JsonObject;
    expect(whole['tiergate']).toMatchObject({ tier, served_by: cases.targetOf('p2') });
    const { read } = await stream(tier, { tiergate });
    expect(read.events.at(-1)).toMatchObject({
      type: 'message_stop',
      tiergate: { tier, served_by: cases.targetOf('p2') },
    });
  });
});

describe('refusals', () => {
  it.each(['/v1/messages', '/v1/tiers/nope/messages', '/v1/tiers/nope/v1/messages'])(
    'an unknown tier at %s is 404 in the dialect, with the known names',
    async (path) => {
      const body = { model: 'nope', max_tokens: 5, messages: hi };
      const response = await cases.gateway.post(path, body);
      expect(response.status).toBe(404);
      expect(response.headers.get('x-should-retry')).toBe('false');
      expect(response.headers.get('request-id')).toBe(
        response.headers.get('x-tiergate-request-id'),
      );
      const { type, error } = (await response.json()) as { type: string; error: JsonObject };
      expect([type, error['type']]).toEqual(['error', 'not_found_error']);
      expect(error['message']).toContain('fast');
      expect(error['tiergate']).toMatchObject({ class: 'unknown_tier', attempts: [] });
    },
  );

  it('a body that is no request is 400 with the place of the fault', async () => {
    const response = await post('fast', { messages: [{ role: 'user', content: [{}] }] });
    expect(response.status).toBe(400);
    expect(JSON.stringify(await response.json())).toContain('messages[0].content[0].type');
    const fault = await cases.gateway.post('/v1/messages', '{"model":');
    expect(fault.status).toBe(400);
    expect(await fault.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('another method is refused in the dialect', async () => {
    const response = await fetch(`${cases.gateway.origin}/v1/messages`);
    expect(response.status).toBe(405);
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'api_error' } });
  });
});
