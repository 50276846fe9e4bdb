import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { type RunningGateway, startGateway } from '../support/running-gateway.ts';
import {
  type StrictKind,
  type StrictServer,
  startStrictServer,
  strictJudges,
} from '../support/strict-chat-server.ts';

/** The models that the tiers ask, and what else the entry of the provider needs. */
const models: { readonly [kind in StrictKind]: string } = {
  'azure-openai': 'gpt-5.1',
  deepseek: 'deepseek-v4-pro',
  groq: 'openai/gpt-oss-120b',
  mistral: 'mistral-large-latest',
  ollama: 'llama3.2',
  openrouter: 'anthropic/claude-haiku-4.5',
  together: 'meta/llama',
  vllm: 'in-house',
  xai: 'grok-4.5',
};
const kinds = Object.keys(strictJudges) as StrictKind[];

const servers = new Map<StrictKind, StrictServer>();
let gateway: RunningGateway;

function server(kind: StrictKind): StrictServer {
  const found = servers.get(kind);
  if (found === undefined) throw new Error(`no server for ${kind}`);
  return found;
}

function entryOf(kind: StrictKind): JsonObject {
  const { origin } = server(kind);
  const own = kind === 'azure-openai' ? { deployments: { 'gpt-5.1': 'prod' } } : {};
  return { kind, base_url: `${origin}/v1`, api_keys: ['env:STRICT_KEY'], ...own };
}

beforeAll(async () => {
  for (const kind of kinds) servers.set(kind, await startStrictServer(kind));
  const tiers = kinds.map((kind) => [kind, { targets: [{ provider: kind, model: models[kind] }] }]);
  gateway = await startGateway({
    environment: { STRICT_KEY: 'SECRET-1' },
    document: {
      providers: Object.fromEntries(kinds.map((kind) => [kind, entryOf(kind)])),
      tiers: {
        ...Object.fromEntries(tiers),
        either: {
          targets: [
            { provider: 'groq', model: models.groq },
            { provider: 'vllm', model: models.vllm },
          ],
        },
      },
    },
  });
});

afterAll(async () => {
  await gateway.close();
  for (const each of servers.values()) await each.close();
});

const tool = {
  type: 'function',
  function: { name: 'f', description: 'd', parameters: { type: 'object', properties: {} } },
};
const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });

/** What clients of three protocols send, with whatever they may carry along. */
const chats: { readonly [name: string]: JsonObject } = {
  'with the fields of the first vendor': {
    messages: [
      { role: 'developer', content: 'be brief' },
      { role: 'user', name: 'ann', content: 'hi' },
    ],
    max_completion_tokens: 50,
    seed: 7,
    user: 'u1',
    store: false,
    metadata: { a: 'b' },
    verbosity: 'low',
    service_tier: 'default',
    reasoning_effort: 'minimal',
    presence_penalty: 0.5,
    logit_bias: { '50256': -100 },
    prompt_cache_key: 'k',
    temperature: 0.2,
  },
  'in a tool loop that others began': {
    messages: [
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: 'a thought',
        reasoning_content: 'of somebody',
        refusal: null,
        annotations: [],
        audio: null,
      },
      { role: 'user', content: 'go on' },
      {
        role: 'assistant',
        content: null,
        refusal: null,
        tool_calls: [call('call_0001'), call('toolu_bdrk_01L9pX1Wp4FAEq9TT2Z6UAe7')],
      },
      { role: 'tool', tool_call_id: 'call_0001', content: 'r1' },
      { role: 'tool', tool_call_id: 'toolu_bdrk_01L9pX1Wp4FAEq9TT2Z6UAe7', content: 'r2' },
    ],
    tools: [tool],
    tool_choice: 'auto',
    parallel_tool_calls: true,
  },
  'with no tools to call': {
    messages: [{ role: 'user', content: 'q' }],
    tools: [tool],
    tool_choice: 'none',
  },
  'with an empty list of tools': { messages: [{ role: 'user', content: 'q' }], tools: [] },
};

/** What is looked at in answers of any protocol. */
type Answer = {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly content: unknown;
  readonly candidates: readonly { readonly content: { readonly parts: unknown } }[];
  readonly error: { readonly message: string; readonly param: string };
};

async function answerOf(response: Response): Promise<Partial<Answer>> {
  return (await response.json()) as Partial<Answer>;
}

async function textOf(response: Response, isStream: boolean): Promise<string> {
  const body = await response.text();
  expect(response.status, body).toBe(200);
  if (!isStream) return JSON.parse(body).choices[0].message.content;
  expect(body).toMatch(/data: \[DONE\]\s*$/);
  const payloads = body.split('\n').filter((line) => line.startsWith('data: {'));
  return payloads
    .map((line) => JSON.parse(line.slice(6)).choices[0]?.delta?.content ?? '')
    .join('');
}

describe('what a service would refuse is not sent to it', () => {
  const cases = kinds.flatMap((kind) => Object.keys(chats).map((name) => [kind, name] as const));

  it.each(cases)('%s, a client of its own protocol %s', async (kind, name) => {
    for (const stream of [false, true]) {
      const body = { model: kind, ...chats[name], ...(stream ? { stream } : {}) };
      const response = await gateway.post('/v1/chat/completions', body);
      expect(await textOf(response, stream), kind).toBe('strictly yours');
    }
    expect(server(kind).refusals).toEqual([]);
  });

  it.each(kinds)('%s, a client of the Messages API in a tool loop', async (kind) => {
    const response = await gateway.post('/v1/messages', {
      model: kind,
      max_tokens: 100,
      system: 's',
      top_k: 5,
      metadata: { user_id: 'u' },
      messages: [
        { role: 'user', content: 'q' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 't', signature: 'c2ln' },
            { type: 'tool_use', id: 'toolu_01A', name: 'f', input: {} },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_01A', content: 'r' }],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
    });
    const body = await answerOf(response);
    expect(response.status, JSON.stringify(body)).toBe(200);
    expect(body.content).toEqual([{ type: 'text', text: 'strictly yours' }]);
    expect(server(kind).refusals).toEqual([]);
  });

  it.each(kinds)('%s, a client of the Gemini API in a tool loop', async (kind) => {
    const response = await gateway.post(`/v1beta/models/${kind}:generateContent`, {
      contents: [
        { role: 'user', parts: [{ text: 'q' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { r: 1 } } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      generationConfig: { maxOutputTokens: 50, topK: 4, seed: 3 },
    });
    const body = await answerOf(response);
    expect(response.status, JSON.stringify(body)).toBe(200);
    expect(body.candidates?.[0]?.content.parts).toEqual([{ text: 'strictly yours' }]);
    expect(server(kind).refusals).toEqual([]);
  });
});

const image = (url: string) => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
});
const pixel = 'data:image/png;base64,iVBORw0KGgo=';
const hi = { messages: [{ role: 'user', content: 'hi' }] };

it.each(['mistral', 'groq', 'deepseek', 'xai', 'ollama'] as const)(
  '%s itself refuses what that client sent',
  async (kind) => {
    const { origin, refusals } = server(kind);
    const body = { model: models[kind], ...chats['with the fields of the first vendor'] };
    const headers = { authorization: 'Bearer SECRET-1' };
    const response = await fetch(origin, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBeGreaterThanOrEqual(400);
    refusals.pop();
  },
);

describe('what a service cannot do is a 400 that says so, before it is asked', () => {
  it.each<[StrictKind, string, JsonObject]>([
    ['groq', 'n', { ...hi, n: 2 }],
    ['groq', 'logprobs', { ...hi, logprobs: true }],
    ['groq', 'stop', { ...hi, stop: ['a', 'b', 'c', 'd', 'e'] }],
    ['groq', 'web_search', { ...hi, web_search_options: {} }],
    ['mistral', 'logprobs', { ...hi, logprobs: true }],
    ['together', 'logprobs', { ...hi, logprobs: true }],
    [
      'deepseek',
      'json_schema',
      { ...hi, response_format: { type: 'json_schema', json_schema: { name: 's', schema: {} } } },
    ],
    ['deepseek', 'images', image(pixel)],
    ['xai', 'stop', { ...hi, stop: 'x' }],
    ['openrouter', 'n', { ...hi, n: 2 }],
    ['ollama', 'tool_choice', { ...hi, tools: [tool], tool_choice: 'required' }],
    ['ollama', 'images', image('https://example.com/a.png')],
    ['azure-openai', 'stop', { ...hi, stop: 'x' }],
  ])('%s lacks %s', async (kind, ability, body) => {
    const before = server(kind).bodies.length;
    const response = await gateway.post('/v1/chat/completions', { model: kind, ...body });
    const { error } = await answerOf(response);
    expect(response.status).toBe(400);
    expect(error?.message).toContain(ability);
    expect(server(kind).bodies).toHaveLength(before);
  });

  it('and another target that can is asked instead', async () => {
    const before = server('groq').bodies.length;
    const body = { model: 'either', ...hi, stop: ['a', 'b', 'c', 'd', 'e'] };
    const response = await gateway.post('/v1/chat/completions', body);
    expect(response.headers.get('x-tiergate-served-by')).toBe('vllm/in-house');
    expect(await textOf(response, false)).toBe('strictly yours');
    expect(server('groq').bodies).toHaveLength(before);
  });

  it('n of 0 is nobody’s, whoever would answer', async () => {
    for (const kind of ['vllm', 'deepseek'] as const) {
      const response = await gateway.post('/v1/chat/completions', { model: kind, ...hi, n: 0 });
      expect(response.status).toBe(400);
      expect((await answerOf(response)).error?.param).toBe('n');
    }
  });
});

it('what was left out is named, and usage is told wherever the service put it', async () => {
  const response = await gateway.post('/v1/chat/completions', {
    model: 'mistral',
    ...hi,
    stream: true,
    stream_options: { include_usage: true },
    user: 'u',
  });
  expect(response.headers.get('x-tiergate-dropped')).toBe('user');
  const body = await response.text();
  expect(body).toContain('"completion_tokens":2');
  for (const kind of kinds) {
    const rows = await gateway.rows(`?tier=${kind}&limit=50`);
    const served = rows.filter((row) => row.provider === kind);
    expect(served.length, kind).toBeGreaterThan(5);
    for (const row of served) expect(row['output_tokens'], kind).toBe(2);
  }
});
