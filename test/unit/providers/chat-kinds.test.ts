import { describe, expect, it } from 'vitest';
import type { ChatParameters } from '../../../src/chat/request.ts';
import { failureOfResponse } from '../../../src/engine/failure-of.ts';
import { upstreamCallOf } from '../../../src/engine/upstream-call.ts';
import type { Target } from '../../../src/routing/snapshot.ts';
import { boundProvider } from '../../support/bound-provider.ts';
import {
  callOf,
  calls,
  type Json,
  result,
  sent,
  toolCall,
  user,
} from '../dialects/upstream-calls.ts';

/** What a target of this kind and model is sent of a client's body. */
function asked(kind: string, model: string, body: Json, params: Partial<ChatParameters> = {}) {
  const provider = boundProvider({ kind });
  const target: Pick<Target, 'provider' | 'model' | 'params' | 'variant'> = {
    provider,
    model,
    params,
    variant: null,
  };
  const call = upstreamCallOf(callOf(body).request, target as Target, null, null);
  return sent(provider.dialect, call);
}

const hi = { messages: [user('hi')] };

describe('URLs and keys of services that speak Chat Completions', () => {
  it.each([
    ['mistral', 'https://api.mistral.ai/v1/chat/completions'],
    ['groq', 'https://api.groq.com/openai/v1/chat/completions'],
    ['together', 'https://api.together.xyz/v1/chat/completions'],
    ['deepseek', 'https://api.deepseek.com/chat/completions'],
    ['xai', 'https://api.x.ai/v1/chat/completions'],
    ['openrouter', 'https://openrouter.ai/api/v1/chat/completions'],
    ['ollama', 'http://127.0.0.1:11434/v1/chat/completions'],
    ['vllm', 'http://127.0.0.1:8000/v1/chat/completions'],
  ])('%s is asked at %s with a bearer key, and streams as events', (kind, url) => {
    const provider = boundProvider({ kind });
    for (const isStream of [false, true]) {
      expect(provider.urlFor({ model: 'a/b', isStream })).toBe(url);
      expect(provider.headersFor({ secret: 'SECRET', isStream })).toMatchObject({
        authorization: 'Bearer SECRET',
        'content-type': 'application/json',
        accept: isStream ? 'text/event-stream' : 'application/json',
      });
    }
  });
});

/** A body as clients of the first vendor write it, with everything that others know otherwise. */
const rich: Json = {
  messages: [
    { role: 'developer', content: 'd' },
    { role: 'user', name: 'ann', content: 'q' },
    {
      ...calls(toolCall('call_0123456789', 'f', '{}')),
      refusal: null,
      annotations: [],
      reasoning_content: 'thought',
    },
    result('call_0123456789', 'r'),
  ],
  tools: [{ type: 'function', function: { name: 'f' } }],
  max_completion_tokens: 9,
  seed: 7,
  user: 'u',
  store: true,
  verbosity: 'low',
  service_tier: 'default',
  stream: true,
  stream_options: { include_usage: true },
};

/** The same as a plain server has it. */
const base = {
  tools: rich['tools'],
  stream: true,
  seed: 7,
};
const usage = { stream_options: { include_usage: true } };
const plainCalls = { role: 'assistant', content: null, refusal: null, annotations: [] };

describe('bodies', () => {
  it.each<[string, string, Json, readonly string[], Json]>([
    [
      'mistral',
      'mistral-large-latest',
      { tools: base.tools, stream: true, max_tokens: 9, random_seed: 7 },
      ['user', 'store', 'verbosity', 'service_tier', 'name'],
      { role: 'assistant', content: null },
    ],
    [
      'groq',
      'openai/gpt-oss-120b',
      { ...base, ...usage, max_completion_tokens: 9, user: 'u' },
      ['store', 'verbosity', 'service_tier', 'name'],
      { role: 'assistant', content: null },
    ],
    [
      'together',
      'openai/gpt-oss-120b',
      { ...base, ...usage, max_tokens: 9 },
      ['user', 'store', 'verbosity', 'service_tier'],
      plainCalls,
    ],
    [
      'deepseek',
      'deepseek-v4-pro',
      { tools: base.tools, stream: true, ...usage, max_tokens: 9 },
      ['seed', 'user', 'store', 'verbosity', 'service_tier'],
      { ...plainCalls, reasoning_content: 'thought' },
    ],
    [
      'xai',
      'grok-4.5',
      { ...base, ...usage, max_completion_tokens: 9, user: 'u', service_tier: 'default' },
      ['store', 'verbosity'],
      plainCalls,
    ],
    [
      'openrouter',
      'anthropic/claude-haiku-4.5',
      {
        ...base,
        ...usage,
        max_tokens: 9,
        user: 'u',
        store: true,
        verbosity: 'low',
        service_tier: 'default',
      },
      [],
      plainCalls,
    ],
    [
      'ollama',
      'llama3.2',
      { ...base, ...usage, max_tokens: 9 },
      ['user', 'store', 'verbosity', 'service_tier'],
      plainCalls,
    ],
    [
      'vllm',
      'in-house',
      { ...base, ...usage, max_tokens: 9, user: 'u' },
      ['store', 'verbosity', 'service_tier'],
      plainCalls,
    ],
  ])(
    '%s is sent what it takes, and what was left out is named',
    (kind, model, fields, dropped, turn) => {
      const request = asked(kind, model, rich);
      const { messages, model: named, ...rest } = request.body;
      expect(named).toBe(model);
      expect(rest).toEqual(fields);
      expect(new Set(request.dropped)).toEqual(new Set(dropped));
      const [system, asker, assistant] = messages as Json[];
      const isDeveloper = kind === 'xai' || kind === 'openrouter';
      expect(system).toEqual({ role: isDeveloper ? 'developer' : 'system', content: 'd' });
      const isNamed = kind !== 'mistral' && kind !== 'groq';
      expect(asker).toEqual({ role: 'user', content: 'q', ...(isNamed ? { name: 'ann' } : {}) });
      expect({ ...assistant, tool_calls: undefined }).toEqual({ ...turn, tool_calls: undefined });
    },
  );

  it.each([
    ['mistral', 'mistral-large-latest', { max_tokens: 9 }],
    ['groq', 'openai/gpt-oss-120b', { max_completion_tokens: 9 }],
    ['deepseek', 'deepseek-v4-pro', { max_tokens: 9 }],
    ['openai-compatible', 'm', { max_tokens: 9 }],
  ])('%s is asked for a whole answer as plainly as the client asked', (kind, model, limit) => {
    const { body } = asked(kind, model, { ...hi, max_tokens: 9 });
    expect(body).toEqual({ model, ...hi, ...limit });
  });

  it.each([
    ['mistral', 'mistral-small-latest', 'medium', { reasoning_effort: 'none' }],
    ['mistral', 'mistral-large-latest', 'high', {}],
    ['groq', 'openai/gpt-oss-20b', 'minimal', { reasoning_effort: 'low' }],
    ['deepseek', 'deepseek-v4-flash', 'none', { thinking: { type: 'disabled' } }],
    ['xai', 'grok-4', 'high', {}],
    ['xai', 'grok-4.20-reasoning', 'high', {}],
    ['xai', 'grok-4.6', 'xhigh', { reasoning_effort: 'xhigh' }],
    ['xai', 'grok-9', 'xhigh', { reasoning_effort: 'xhigh' }],
    ['xai', 'grok-4.3', 'xhigh', { reasoning_effort: 'high' }],
    ['openai', 'gpt-4o', 'low', {}],
    ['openai', 'gpt-5.1', 'minimal', { reasoning_effort: 'none' }],
    ['vllm', 'in-house', 'xhigh', { reasoning_effort: 'xhigh' }],
  ])('%s/%s is asked for the effort %s as %j', (kind, model, reasoning_effort, fields) => {
    expect(asked(kind, model, { ...hi, reasoning_effort }).body).toEqual({
      model,
      ...hi,
      ...fields,
    });
  });

  it.each(['grok-4.5', 'grok-4.20-0309-non-reasoning', 'grok-9'])(
    'xai: %s is given the temperature, and no penalties, not even of 0',
    (model) => {
      const body = { ...hi, temperature: 0.2, presence_penalty: 1, frequency_penalty: 0 };
      const { body: written, dropped } = asked('xai', model, body);
      expect(written).toEqual({ model, ...hi, temperature: 0.2 });
      expect(new Set(dropped)).toEqual(new Set(['presence_penalty', 'frequency_penalty']));
    },
  );

  it('together: fields that its API does not know are named, not lost on the way', () => {
    const fields = { parallel_tool_calls: false, metadata: { a: 'b' } };
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const { body, dropped } = asked('together', 'any', { ...hi, tools, ...fields });
    expect(body).toEqual({ model: 'any', ...hi, tools });
    expect(new Set(dropped)).toEqual(new Set(Object.keys(fields)));
  });

  it('the default targets are asked for as their services write it', () => {
    const { body } = asked('deepseek', 'deepseek-v4-flash', hi, { reasoning_effort: 'none' });
    expect(body).toEqual({ model: 'deepseek-v4-flash', ...hi, thinking: { type: 'disabled' } });
  });
});

describe('abilities', () => {
  const lacks = (kind: string, model: string) =>
    Object.entries(boundProvider({ kind }).modelFacts(model).supports)
      .filter(([, isSupported]) => !isSupported)
      .map(([ability]) => ability)
      .toSorted();

  it.each([
    ['mistral', 'any', ['logprobs']],
    ['groq', 'any', ['logprobs', 'n']],
    ['together', 'any', ['logprobs']],
    ['deepseek', 'any', ['audio', 'documents', 'images', 'json_schema', 'n']],
    ['xai', 'any', []],
    ['xai', 'grok-4.5', ['stop']],
    ['xai', 'grok-4-fast-non-reasoning', []],
    ['xai', 'grok-4.20-non-reasoning', []],
    ['xai', 'grok-9-latest', ['stop']],
    ['xai', 'grok-9-non-reasoning', []],
    ['xai', 'grok-code-fast-1', ['stop']],
    ['openrouter', 'any', ['n']],
    ['ollama', 'any', ['n']],
    ['openai', 'o1', ['audio', 'logprobs']],
    ['openai', 'o4-mini', ['audio', 'logprobs', 'stop']],
    ['openai', 'gpt-7', ['stop']],
    ['openai', 'gpt-4o', ['audio']],
  ])('%s/%s lacks %j', (kind, model, expected) => {
    expect(lacks(kind, model)).toEqual(expected);
  });
});

describe('errors', () => {
  const classify = (kind: string, status: number, body: unknown, headers = {}) =>
    failureOfResponse({
      provider: boundProvider({ kind }),
      response: { status, headers },
      bytes: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
      nowWallMs: 0,
    });

  it.each<[string, number, unknown, string]>([
    ['groq', 400, { error: { code: 'json_validate_failed', message: 'x' } }, 'malformed_response'],
    [
      'groq',
      413,
      {
        error: {
          type: 'tokens',
          code: 'rate_limit_exceeded',
          message: 'Limit 6000, Requested 9000',
        },
      },
      'context_length',
    ],
    ['groq', 498, { error: { code: 'capacity_exceeded', message: 'x' } }, 'overload'],
    ['groq', 400, { error: { code: 'blocked_api_access', message: 'x' } }, 'permission'],
    ['mistral', 401, { message: 'Unauthorized', request_id: 'r' }, 'auth'],
    [
      'mistral',
      422,
      {
        detail: [
          { loc: ['body', 'seed'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' },
        ],
      },
      'invalid_request',
    ],
    ['mistral', 422, { object: 'error', message: { detail: [{ msg: 'x' }] } }, 'invalid_request'],
    [
      'mistral',
      429,
      {
        object: 'error',
        message: 'Requests rate limit exceeded',
        type: 'rate_limited',
        code: '1300',
        raw_status_code: 429,
      },
      'rate_limit',
    ],
    ['mistral', 503, { message: 'Service tier capacity exceeded for this model.' }, 'overload'],
    [
      'mistral',
      400,
      {
        object: 'error',
        message:
          'Prompt contains 200000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
        code: '3051',
      },
      'context_length',
    ],
    ['deepseek', 402, { error: { message: 'Insufficient Balance' } }, 'quota_exhausted'],
    ['deepseek', 503, { error: { message: 'Service is too busy.' } }, 'overload'],
    ['deepseek', 500, { error: { message: 'x' } }, 'transient_infra'],
    [
      'xai',
      400,
      { code: 'Client specified an invalid argument', error: 'Incorrect API key provided' },
      'auth',
    ],
    ['xai', 410, { error: 'Live search is deprecated.' }, 'not_found'],
    [
      'xai',
      400,
      {
        code: 'x',
        error:
          "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
      },
      'context_length',
    ],
    [
      'openrouter',
      403,
      { error: { code: 403, message: 'x', metadata: { reasons: ['hate'], flagged_input: 'y' } } },
      'content_policy',
    ],
    [
      'openrouter',
      404,
      { error: { code: 404, message: 'No endpoints found for x/y.' } },
      'not_found',
    ],
    ['openrouter', 408, { error: { code: 408, message: 'x' } }, 'timeout'],
    ['openrouter', 502, { error: { code: 502, message: 'x' } }, 'transient_infra'],
    ['together', 429, { error: { type: 'dynamic_request_limited', message: 'x' } }, 'rate_limit'],
    ['together', 503, { error: { message: 'The engine is currently overloaded' } }, 'overload'],
    [
      'together',
      422,
      {
        error: {
          message:
            'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000',
        },
      },
      'context_length',
    ],
    ['ollama', 404, { error: { message: "model 'x' not found" } }, 'not_found'],
    ['ollama', 404, { error: "model 'x' not found, try pulling it first" }, 'not_found'],
    [
      'ollama',
      503,
      { error: 'server busy, please try again. maximum pending requests exceeded' },
      'overload',
    ],
    [
      'vllm',
      400,
      {
        object: 'error',
        message:
          "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        type: 'BadRequestError',
        code: 400,
      },
      'context_length',
    ],
    [
      'vllm',
      400,
      {
        object: 'error',
        message: 'max_tokens must be at least 1, got -186.',
        type: 'BadRequestError',
        code: 400,
      },
      'context_length',
    ],
    [
      'vllm',
      404,
      {
        object: 'error',
        message: 'The model `x` does not exist.',
        type: 'NotFoundError',
        code: 404,
      },
      'not_found',
    ],
    [
      'vllm',
      500,
      {
        object: 'error',
        message: 'EngineCore encountered an issue.',
        type: 'EngineDeadError',
        code: 500,
      },
      'transient_infra',
    ],
    [
      'vllm',
      503,
      { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
      'overload',
    ],
    ['openai-compatible', 407, '<html>Proxy Authentication Required</html>', 'connection'],
    ['openai', 407, { error: { message: 'Unauthorized: invalid token' } }, 'connection'],
  ])('%s %i %j is %s', (kind, status, body, errorClass) => {
    expect(classify(kind, status, body)).toMatchObject({ errorClass });
  });

  it('a proxy that lets nothing through is as good as no connection: no key rests for it', () => {
    expect(classify('openai', 407, '')).toMatchObject({ connection: 'refused' });
  });

  it.each([
    [
      'groq',
      {
        'retry-after': '7',
        'x-ratelimit-remaining-requests': '14000',
        'x-ratelimit-reset-requests': '9m38.016s',
      },
      7000,
    ],
    ['groq', { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '7.66s' }, 7660],
    ['together', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '2' }, 2000],
  ])('%s says in %j when to come back', (kind, headers, waitMs) => {
    expect(classify(kind, 429, { error: { message: 'x' } }, headers).hint).toMatchObject({
      waitMs,
    });
  });
});
