import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { failureOfResponse } from '../../../src/engine/failure-of.ts';
import { upstreamCallOf } from '../../../src/engine/upstream-call.ts';
import { boundProvider } from '../../support/bound-provider.ts';
import { faultsOf } from '../../support/routing-samples.ts';
import { callOf, sent, user } from '../dialects/upstream-calls.ts';

const resource = 'https://res.openai.azure.com';

const azure = (own: JsonObject = {}, baseUrl = resource) =>
  boundProvider({ kind: 'azure-openai', baseUrl, own });

describe('the three surfaces of a resource', () => {
  it.each([
    [resource, {}, '/openai/v1/chat/completions'],
    [`${resource}/`, {}, '/openai/v1/chat/completions'],
    [`${resource}/openai/v1/`, {}, '/openai/v1/chat/completions'],
    [`${resource}/openai`, {}, '/openai/v1/chat/completions'],
    [
      resource,
      { api_version: '2024-10-21' },
      '/openai/deployments/gpt-5.1/chat/completions?api-version=2024-10-21',
    ],
    [
      `${resource}/openai/v1`,
      { api_version: '2024-10-21', deployments: { 'gpt-5.1': 'prod' } },
      '/openai/deployments/prod/chat/completions?api-version=2024-10-21',
    ],
    [`${resource}/models`, {}, '/models/chat/completions?api-version=2024-05-01-preview'],
    [
      `${resource}/models`,
      { api_version: '2025-01-01' },
      '/models/chat/completions?api-version=2025-01-01',
    ],
  ])('%s with %j', (baseUrl, own, path) => {
    for (const isStream of [true, false]) {
      expect(azure(own, baseUrl).urlFor({ model: 'gpt-5.1', isStream })).toBe(resource + path);
    }
  });

  it('a model cannot leave its place in the path', () => {
    const provider = azure({ api_version: '2024-10-21' });
    expect(provider.urlFor({ model: '../x?y#z', isStream: false })).toBe(
      `${resource}/openai/deployments/..%2Fx%3Fy%23z/chat/completions?api-version=2024-10-21`,
    );
  });

  it('takes a key in its own header, or a token of Entra as bearer', () => {
    const key = { secret: 'SECRET', isStream: false };
    expect(azure().headersFor(key)).toMatchObject({ 'api-key': 'SECRET' });
    expect(azure().headersFor(key)).not.toHaveProperty('authorization');
    const bearer = azure({ auth: 'bearer' }).headersFor(key);
    expect(bearer).toMatchObject({ authorization: 'Bearer SECRET' });
    expect(bearer).not.toHaveProperty('api-key');
  });
});

describe('bodies', () => {
  function asked(own: JsonObject, body: JsonObject, model = 'gpt-5.1') {
    const provider = azure(own);
    const target = { provider, model, params: {}, variant: null };
    const call = upstreamCallOf(callOf(body).request, target as never, null, null);
    return sent(provider.dialect, call).body;
  }
  const hi = { messages: [user('hi')] };

  it('name the deployment, while the facts are those of the model', () => {
    const deployments = { 'gpt-5.1': 'prod' };
    expect(asked({ deployments }, { ...hi, max_tokens: 5 })).toEqual({
      model: 'prod',
      ...hi,
      max_completion_tokens: 5,
    });
    expect(asked({}, hi)).toEqual({ model: 'gpt-5.1', ...hi });
    expect(azure().modelFacts('gpt-5.1').contextWindow).toBe(400_000);
  });

  it.each([
    [null, true],
    ['2024-10-21', true],
    ['2024-09-01-preview', true],
    ['2024-06-01', false],
  ])('of a stream ask for usage where version %s knows the question', (api_version, isAsked) => {
    const body = asked({ api_version }, { ...hi, stream: true });
    expect(body).toEqual({
      model: 'gpt-5.1',
      ...hi,
      stream: true,
      ...(isAsked ? { stream_options: { include_usage: true } } : {}),
    });
  });
});

describe('errors', () => {
  const classify = (status: number, body: unknown, headers = {}) =>
    failureOfResponse({
      provider: azure(),
      response: { status, headers },
      bytes: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
      nowWallMs: 0,
    });
  const error = (code: string, message: string) => ({ error: { code, message } });

  it.each([
    [
      400,
      { error: { code: 'content_filter', innererror: { code: 'ResponsibleAIPolicyViolation' } } },
      'content_policy',
    ],
    [400, error('context_length_exceeded', 'x'), 'context_length'],
    [400, error('unsupported_parameter', "Unsupported parameter: 'max_tokens'"), 'invalid_request'],
    [
      401,
      error('401', 'Access denied due to invalid subscription key or wrong API endpoint.'),
      'auth',
    ],
    [401, error('PermissionDenied', 'The principal lacks the required data action.'), 'auth'],
    [403, error('403', 'Access denied due to Virtual Network/Firewall rules.'), 'permission'],
    [
      404,
      error('DeploymentNotFound', 'The API deployment for this resource does not exist.'),
      'not_found',
    ],
    [404, error('404', 'Resource not found'), 'not_found'],
    [408, error('Timeout', 'The operation was timeout.'), 'timeout'],
    [424, error('x', 'failed dependency'), 'transient_infra'],
    [
      429,
      error('429', 'Requests have exceeded token rate limit. Please retry after 6 seconds.'),
      'rate_limit',
    ],
    [429, error('RateLimitReached', 'x'), 'rate_limit'],
    [429, error('NoCapacity', 'x'), 'overload'],
    [429, error('429', 'The system is currently experiencing high demand.'), 'overload'],
    [500, error('InternalServerError', 'x'), 'transient_infra'],
    [
      503,
      error('ServiceUnavailable', 'The server is currently processing too many requests'),
      'overload',
    ],
    [502, '<html><body>Our services are not available right now</body></html>', 'transient_infra'],
    [503, 'upstream connect error', 'transient_infra'],
  ])('%i %j is %s', (status, body, errorClass) => {
    expect(classify(status, body)).toMatchObject({ errorClass });
  });

  it('a bare reset is no hint, since nobody knows its unit; the larger of the two others is', () => {
    const limits = { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '500' };
    expect(classify(429, error('429', 'x'), limits).hint).toBeNull();
    const both = { ...limits, 'retry-after': '1', 'retry-after-ms': '0' };
    expect(classify(429, error('429', 'x'), both).hint).toEqual({
      waitMs: 1000,
      source: 'retry-after',
    });
    const long = error('429', 'exceeded token rate limit. Please retry after 86400 seconds.');
    expect(classify(429, long).hint).toMatchObject({ waitMs: 86_400_000 });
  });
});

describe('the document', () => {
  it('refuses what would not lead to a deployment', () => {
    const provider = {
      kind: 'azure-openai',
      api_version: 'latest',
      auth: 'basic',
      deployments: { 'gpt-5.1': 'a/b' },
      deployment: 'x',
    };
    expect(faultsOf({ providers: { a: provider }, tiers: {} })).toEqual([
      'providers.a.base_url: is required for kind azure-openai',
      'providers.a.api_version: must be a version such as 2024-10-21',
      'providers.a.auth: must be one of api-key, bearer',
      'providers.a.deployments.gpt-5.1: must be the name of a deployment',
      'providers.a.deployment: unknown key deployment; did you mean deployments?',
    ]);
  });
});
