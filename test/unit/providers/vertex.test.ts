import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { anthropicMessagesClient } from '../../../src/dialects/anthropic-messages/client.ts';
import type { UpstreamCall } from '../../../src/dialects/dialect.ts';
import { geminiClient } from '../../../src/dialects/gemini/client.ts';
import { failureOfResponse } from '../../../src/engine/failure-of.ts';
import { upstreamCallOf } from '../../../src/engine/upstream-call.ts';
import { boundProvider } from '../../support/bound-provider.ts';
import { accepted, faultsOf, warningsOf } from '../../support/routing-samples.ts';
import { callOf, owning, sent, user } from '../dialects/upstream-calls.ts';

const vertex = (kind: string, own: JsonObject = {}, baseUrl: string | null = null) =>
  boundProvider({ kind, baseUrl, own: { project: 'a-project', location: 'global', ...own } });

describe('places', () => {
  it.each([
    ['global', 'https://aiplatform.googleapis.com'],
    ['europe-west4', 'https://europe-west4-aiplatform.googleapis.com'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
  ])('%s is asked at %s', (location, host) => {
    const gemini = vertex('vertex-gemini', { location });
    const place = `projects/a-project/locations/${location}`;
    expect(gemini.urlFor({ model: 'gemini-2.5-pro', isStream: false })).toBe(
      `${host}/v1beta1/${place}/publishers/google/models/gemini-2.5-pro:generateContent`,
    );
    expect(gemini.urlFor({ model: 'endpoints/123', isStream: true })).toBe(
      `${host}/v1beta1/${place}/endpoints/123:streamGenerateContent?alt=sse`,
    );
    const claude = vertex('vertex-anthropic', { location });
    const model = 'claude-sonnet-4-5@20250929';
    expect(claude.urlFor({ model, isStream: false })).toBe(
      `${host}/v1/${place}/publishers/anthropic/models/claude-sonnet-4-5%4020250929:rawPredict`,
    );
    expect(claude.urlFor({ model, isStream: true })).toMatch(/:streamRawPredict$/);
  });

  it('a base URL of one’s own stands for the host, and a model cannot leave its place', () => {
    const provider = vertex('vertex-gemini', {}, 'https://proxy.example/v1/');
    expect(provider.urlFor({ model: '../x?y', isStream: false })).toBe(
      'https://proxy.example/v1/projects/a-project/locations/global/publishers/google/models/..%2Fx%3Fy:generateContent',
    );
  });

  it('facts are those of the models, under their names here too', () => {
    const claude = vertex('vertex-anthropic');
    expect(claude.modelFacts('claude-sonnet-4-5@20250929').maxOutputTokens).toBe(64_000);
    expect(vertex('vertex-gemini').modelFacts('gemini-2.5-pro').contextWindow).toBe(1_048_576);
  });
});

function asked(kind: string, model: string, body: JsonObject, change: Partial<UpstreamCall> = {}) {
  const provider = vertex(kind);
  const target = { provider, model, params: {}, variant: null };
  const client = kind === 'vertex-anthropic' ? anthropicMessagesClient : geminiClient;
  const decoded = client.decodeRequest(Buffer.from(JSON.stringify(body)));
  if (!decoded.ok) throw new Error(decoded.fault.message);
  const call = upstreamCallOf(decoded.value.request, target as never, null, null);
  return { provider, request: decoded.value.request, call: { ...call, ...change } };
}

describe('Claude', () => {
  const model = 'claude-sonnet-4-5@20250929';
  const messages = [{ role: 'user', content: 'hi' }];
  const body = { model: 'smart', max_tokens: 9, messages, brand_new: 1 };

  it('has its version in the body and its model in the path, whoever asks', () => {
    const { provider, call } = asked('vertex-anthropic', model, body);
    expect(sent(provider.dialect, call).body).toEqual({
      max_tokens: 9,
      messages,
      brand_new: 1,
      anthropic_version: 'vertex-2023-10-16',
    });
    const foreign = callOf({ messages, max_tokens: 9, stream: true }, { model });
    const { body: written } = sent(provider.dialect, foreign);
    expect(written).toMatchObject({ anthropic_version: 'vertex-2023-10-16', stream: true });
    expect(written).not.toHaveProperty('model');
    expect(provider.passedHeaders).toEqual([]);
    expect(provider.headersFor({ secret: null, isStream: false })).not.toHaveProperty(
      'anthropic-version',
    );
  });

  it('has the betas that a client asks for in the body, beside those that stand there', () => {
    const clientHeaders = { 'anthropic-beta': 'a-1, b-2 ,' };
    const { provider, call } = asked(
      'vertex-anthropic',
      model,
      { ...body, anthropic_beta: ['b-2', 'c-3'] },
      { clientHeaders },
    );
    expect(sent(provider.dialect, call).body['anthropic_beta']).toEqual(['b-2', 'c-3', 'a-1']);
  });

  it('keeps the sampling of its settings, whichever version a client asks its vendor for', () => {
    const clientHeaders = { 'anthropic-version': '2026-10-21' };
    const { provider, call } = asked('vertex-anthropic', model, body, { clientHeaders });
    const { body: written } = sent(provider.dialect, owning(call, { temperature: 0.2 }));
    expect(written).toMatchObject({ temperature: 0.2 });
  });

  it('counts tokens at one path for all models', () => {
    const { provider, call } = asked('vertex-anthropic', model, body);
    const counting = provider.dialect.operations?.count_tokens;
    const url = provider.urlFor({ model, isStream: false });
    expect(counting?.urlFrom(url)).toMatch(
      /\/publishers\/anthropic\/models\/count-tokens:rawPredict$/,
    );
    const encoded = counting?.encodeCall(call);
    expect(encoded?.ok && JSON.parse(encoded.value.body.toString())).toEqual({
      model,
      messages,
      brand_new: 1,
      anthropic_version: 'vertex-2023-10-16',
    });
  });

  const block = (source: JsonObject) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source },
          { type: 'text', text: 'x' },
        ],
      },
    ],
  });
  it.each<[string | null, JsonObject]>([
    ['images', block({ type: 'url', url: 'https://example.com/a.png' })],
    [null, block({ type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' })],
    ['files', block({ type: 'file', file_id: 'file_1' })],
    ['mcp', { mcp_servers: [{ type: 'url', url: 'https://x', name: 'n' }] }],
    ['provider_tools', { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }],
    [null, { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  ])('lacks %s for %j', (ability, over) => {
    const { provider, request } = asked('vertex-anthropic', model, { ...body, ...over });
    expect(provider.dialect.missingAbility(request)).toBe(ability);
  });
});

describe('Gemini', () => {
  const model = 'gemini-2.5-pro';
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];

  it('counts a bare chat, with its system words and tools', () => {
    const { provider, call } = asked('vertex-gemini', model, {
      contents,
      system_instruction: { parts: [{ text: 's' }] },
      toolConfig: {},
    });
    const counting = provider.dialect.operations?.count_tokens;
    expect(counting?.urlFrom(provider.urlFor({ model, isStream: false }))).toMatch(/:countTokens$/);
    const encoded = counting?.encodeCall(call);
    expect(encoded?.ok && JSON.parse(encoded.value.body.toString())).toEqual({
      contents,
      system_instruction: { parts: [{ text: 's' }] },
    });
  });

  const file = (fileUri: string) => ({
    contents: [{ role: 'user', parts: [{ fileData: { fileUri, mimeType: 'image/png' } }] }],
  });
  it.each([
    ['files', 'https://generativelanguage.googleapis.com/v1beta/files/abc'],
    [null, 'gs://bucket/a.png'],
    [null, 'https://example.com/a.png'],
  ])('lacks %s for %s', (ability, uri) => {
    const { provider, request } = asked('vertex-gemini', model, file(uri));
    expect(provider.dialect.missingAbility(request)).toBe(ability);
  });

  it.each([
    [null, 'https://example.com/a.png?x=1'],
    ['images', 'https://example.com/picture'],
    ['images', 'http://example.com/a.png'],
  ])('of another protocol’s link lacks %s for %s', (ability, url) => {
    const { dialect } = vertex('vertex-gemini');
    const call = callOf({ messages: [user([{ type: 'image_url', image_url: { url } }])] });
    expect(dialect.missingAbility(call.request)).toBe(ability);
    expect(boundProvider({ kind: 'gemini' }).dialect.missingAbility(call.request)).toBe('images');
    if (ability !== null) return;
    expect(sent(dialect, call).at('contents.0.parts.0')).toEqual({
      fileData: { fileUri: url, mimeType: 'image/png' },
    });
  });
});

describe('errors', () => {
  it.each([
    [
      'vertex-gemini',
      401,
      {
        error: {
          code: 401,
          message: 'Request had invalid authentication credentials.',
          status: 'UNAUTHENTICATED',
        },
      },
      'auth',
    ],
    [
      'vertex-gemini',
      403,
      {
        error: {
          code: 403,
          message: "Permission 'aiplatform.endpoints.predict' denied (or it may not exist).",
          status: 'PERMISSION_DENIED',
        },
      },
      'permission',
    ],
    [
      'vertex-gemini',
      404,
      {
        error: {
          code: 404,
          message:
            'Publisher Model `projects/p1234/locations/l/publishers/google/models/x` not found.',
          status: 'NOT_FOUND',
        },
      },
      'not_found',
    ],
    [
      'vertex-gemini',
      429,
      {
        error: {
          code: 429,
          message: 'Resource exhausted, please try again later.',
          status: 'RESOURCE_EXHAUSTED',
        },
      },
      'overload',
    ],
    [
      'vertex-gemini',
      429,
      {
        error: {
          code: 429,
          message: 'Too many requests. Exceeded the Provisioned Throughput.',
          status: 'RESOURCE_EXHAUSTED',
        },
      },
      'overload',
    ],
    [
      'vertex-gemini',
      503,
      { error: { code: 503, message: 'x', status: 'UNAVAILABLE' } },
      'overload',
    ],
    [
      'vertex-anthropic',
      401,
      [{ error: { code: 401, message: 'x', status: 'UNAUTHENTICATED' } }],
      'auth',
    ],
    [
      'vertex-anthropic',
      403,
      { error: { code: 403, message: 'Permission denied', status: 'PERMISSION_DENIED' } },
      'permission',
    ],
    [
      'vertex-anthropic',
      404,
      {
        error: {
          code: 404,
          message:
            'Publisher Model `projects/p1234/locations/l/publishers/anthropic/models/x` was not found',
          status: 'NOT_FOUND',
        },
      },
      'not_found',
    ],
    [
      'vertex-anthropic',
      429,
      {
        error: {
          code: 429,
          message:
            'Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model',
          status: 'RESOURCE_EXHAUSTED',
        },
      },
      'rate_limit',
    ],
    [
      'vertex-anthropic',
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 210000 tokens > 200000 maximum',
        },
      },
      'context_length',
    ],
    [
      'vertex-anthropic',
      529,
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      'overload',
    ],
    [
      'vertex-anthropic',
      400,
      { error: { code: 400, message: 'x', status: 'FAILED_PRECONDITION' } },
      'invalid_request',
    ],
    [
      'vertex-anthropic',
      503,
      { error: { code: 503, message: 'x', status: 'UNAVAILABLE' } },
      'overload',
    ],
    [
      'vertex-anthropic',
      500,
      { error: { code: 500, message: 'x', status: 'INTERNAL' } },
      'transient_infra',
    ],
  ])('%s %i %j is %s', (kind, status, body, errorClass) => {
    const failure = failureOfResponse({
      provider: vertex(kind),
      response: { status, headers: {} },
      bytes: Buffer.from(JSON.stringify(body)),
      nowWallMs: 0,
    });
    expect(failure).toMatchObject({ errorClass });
    expect(failure.message).not.toContain('p1234');
  });
});

describe('the document', () => {
  const document = (entry: JsonObject) => ({
    providers: { v: entry },
    tiers: { a: { targets: [{ provider: 'v', model: 'm' }] } },
  });

  it('wants a project, and a key unless the machine has an account', () => {
    expect(faultsOf(document({ kind: 'vertex-gemini', location: 'Mars!' }))).toEqual([
      'providers.v.project: is required',
      'providers.v.location: must be a location such as europe-west4',
    ]);
    const entry = { kind: 'vertex-anthropic', project: 'a-project' };
    expect(warningsOf(document(entry))[0]).toContain('providers.v.api_keys: is empty');
    expect(warningsOf(document({ ...entry, machine_account: true }))).toEqual([]);
    const { values } = accepted(document({ ...entry, api_keys: ['file:/run/secrets/a.json'] }));
    expect(values.providers['v']).toMatchObject({ location: 'global', machine_account: false });
  });

  it('has the machine’s account as a key of its own', () => {
    expect(
      vertex('vertex-gemini', { machine_account: true }).keys.map(({ alias }) => alias),
    ).toEqual(['machine account']);
    expect(vertex('vertex-gemini').keys).toEqual([]);
  });
});
