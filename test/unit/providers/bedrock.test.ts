import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { createProviderBinder } from '../../../src/providers/bind.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { noTransport } from '../../support/no-transport.ts';
import {
  accepted,
  faultsOf,
  namedDialect,
  noPrompts,
  warningsOf,
} from '../../support/routing-samples.ts';

const region = 'eu-central-1';
const credentials = {
  access_key_id: 'env:AWS_ACCESS_KEY_ID',
  secret_access_key: 'env:AWS_SECRET_ACCESS_KEY',
  session_token: null as string | null,
};

function bind(
  own: JsonObject,
  secrets: Readonly<Record<string, string>> = {},
  keyReferences: readonly string[] = [],
): Provider {
  const binder = createProviderBinder({
    transport: noTransport,
    dialectByName: (name) => ({ ...namedDialect(name), streamType: 'application/x-frames' }),
    resolveSecret: (reference) => secrets[reference] ?? null,
    clock: { ...systemClock, wallMs: () => Date.UTC(2026, 0, 2, 3, 4, 5) },
  });
  return binder({
    name: 'p',
    kind: 'bedrock',
    baseUrl: null,
    keyReferences,
    headers: {},
    allowMissingFinish: false,
    eventBytesMax: 1024,
    rules: [],
    own,
  });
}

const request = { url: 'https://h/model/m/converse', headers: {}, body: '{}' };
const { signal } = new AbortController();

describe('the URL', () => {
  const provider = bind({ region });

  it.each([
    ['amazon.nova-2-lite-v1:0', false, 'amazon.nova-2-lite-v1%3A0/converse'],
    ['us.anthropic.claude-opus-4-6-v1', true, 'us.anthropic.claude-opus-4-6-v1/converse-stream'],
    [
      'arn:aws:bedrock:us-east-1:000000000000:inference-profile/us.amazon.nova-lite-v1:0',
      true,
      'arn%3Aaws%3Abedrock%3Aus-east-1%3A000000000000%3Ainference-profile%2Fus.amazon.nova-lite-v1%3A0/converse-stream',
    ],
    ['a/../../b?c#d', false, 'a%2F..%2F..%2Fb%3Fc%23d/converse'],
  ])('has the model %s as one segment', (model, isStream, expected) => {
    const url = provider.urlFor({ model, isStream });
    expect(url).toBe(`https://bedrock-runtime.eu-central-1.amazonaws.com/model/${expected}`);
    expect(new URL(url).href).toBe(url);
  });

  it('is the region’s, and that of China has a domain of its own', () => {
    expect(bind({ region: 'cn-north-1' }).baseUrl).toBe(
      'https://bedrock-runtime.cn-north-1.amazonaws.com.cn',
    );
  });

  it('asks for streams in their own content type', () => {
    expect(provider.headersFor({ secret: null, isStream: true })['accept']).toBe(
      'application/x-frames',
    );
    expect(provider.headersFor({ secret: null, isStream: false })['accept']).toBe(
      'application/json',
    );
  });
});

describe('credentials', () => {
  const all = { 'env:AWS_ACCESS_KEY_ID': 'AKID', 'env:AWS_SECRET_ACCESS_KEY': 'SECRET' };

  it('an API key is a bearer token', () => {
    const provider = bind({ region }, { 'env:TOKEN': 'bedrock-key' }, ['env:TOKEN']);
    expect(provider.keys.map(({ alias, authorize }) => [alias, authorize])).toEqual([
      ['TOKEN', undefined],
    ]);
    const headers = provider.headersFor({ secret: 'bedrock-key', isStream: false });
    expect(headers['authorization']).toBe('Bearer bedrock-key');
  });

  it('sign the request for the region, at the time of the injected clock; the secret is not in it', async () => {
    const [key] = bind({ region, credentials }, all).keys;
    expect(key?.alias).toBe('AWS_ACCESS_KEY_ID');
    expect(key?.resolve()).toBe('AKID');
    const added = await key?.authorize?.(request, signal);
    expect(added).toMatchObject({ ok: true, value: { 'x-amz-date': '20260102T030405Z' } });
    expect(JSON.stringify(added)).toContain(
      'Credential=AKID/20260102/eu-central-1/bedrock/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date,',
    );
    expect(JSON.stringify(added)).not.toContain('SECRET');
  });

  it('of a session send its token, signed', async () => {
    const temporary = { ...credentials, session_token: 'file:/run/session' };
    const [key] = bind(
      { region, credentials: temporary },
      { ...all, 'file:/run/session': 'TOKEN' },
    ).keys;
    const added = await key?.authorize?.(request, signal);
    expect(added).toMatchObject({ ok: true, value: { 'x-amz-security-token': 'TOKEN' } });
    expect(JSON.stringify(added)).toContain('x-amz-date;x-amz-security-token');
  });

  it.each([
    ['env:AWS_ACCESS_KEY_ID', 'AWS_ACCESS_KEY_ID'],
    ['env:AWS_SECRET_ACCESS_KEY', 'AWS_SECRET_ACCESS_KEY'],
    ['env:AWS_SESSION_TOKEN', 'AWS_SESSION_TOKEN'],
  ])('without %s nothing is signed, and the fault names it', async (missing, alias) => {
    const { [missing]: _, ...rest } = { ...all, 'env:AWS_SESSION_TOKEN': 'T' } as Record<
      string,
      string
    >;
    const own = { region, credentials: { ...credentials, session_token: 'env:AWS_SESSION_TOKEN' } };
    const [key] = bind(own, rest).keys;
    expect(key?.resolve()).toBeNull();
    expect(await key?.authorize?.(request, signal)).toMatchObject({
      ok: false,
      fault: { errorClass: 'auth', message: `the secret ${alias} is not set` },
    });
  });

  it('of a machine whose clock is wrong are signed for the service’s time, once it has said it', async () => {
    const [key] = bind({ region, credentials }, all).keys;
    const proofOf = async (): Promise<Record<string, string>> => {
      const added = await key?.authorize?.(request, signal);
      return added?.ok === true ? { ...added.value } : {};
    };
    const first = await proofOf();
    const refusal = (date: string) => ({ status: 403, headers: { date } });
    expect(key?.renew?.(first, refusal('Fri, 02 Jan 2026 03:07:00 GMT'))).toBe(false);
    expect(key?.renew?.(first, { status: 403, headers: {} })).toBe(false);
    expect((await proofOf())['x-amz-date']).toBe('20260102T030405Z');
    expect(key?.renew?.(first, refusal('Fri, 02 Jan 2026 04:04:05 GMT'))).toBe(true);
    const second = await proofOf();
    expect(second['x-amz-date']).toBe('20260102T040405Z');
    expect(key?.renew?.(second, refusal('Fri, 02 Jan 2026 04:04:06 GMT'))).toBe(false);
  });

  it('API keys are used before credentials', () => {
    const provider = bind({ region, credentials }, all, ['env:TOKEN']);
    expect(provider.keys.map(({ alias }) => alias)).toEqual(['TOKEN', 'AWS_ACCESS_KEY_ID']);
  });
});

describe('its entry of the document', () => {
  const written = (entry: JsonObject): JsonObject => ({
    providers: { aws: { kind: 'bedrock', ...entry } },
    tiers: { fast: { targets: [{ provider: 'aws', model: 'amazon.nova-2-lite-v1:0' }] } },
  });

  it('needs its region, no base URL, and takes either kind of credential', () => {
    const values = accepted(written({ region, credentials })).values.providers['aws'];
    expect(values).toMatchObject({ region, credentials, base_url: null });
    expect(warningsOf(written({ region, credentials }))).toEqual([]);
    expect(warningsOf(written({ region, api_keys: ['env:AWS_BEARER_TOKEN_BEDROCK'] }))).toEqual([]);
    expect(warningsOf(written({ region }))).toEqual([
      'providers.aws.api_keys: is empty: this service wants a key, such as env:AWS_BEARER_TOKEN_BEDROCK',
    ]);
  });

  it.each([
    [{}, 'providers.aws.region: is required'],
    [{ region: 'x' }, 'providers.aws.region: must be an AWS region, such as us-east-1'],
    [
      { region: 'us-east-1.evil.example' },
      'providers.aws.region: must be an AWS region, such as us-east-1',
    ],
    [
      { region, credentials: { access_key_id: 'env:A' } },
      'providers.aws.credentials.secret_access_key: is required',
    ],
    [
      {
        region,
        credentials: {
          ...credentials,
          secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
        },
      },
      'providers.aws.credentials.secret_access_key: must name a secret: env:NAME or file:/path',
    ],
  ])('%j is refused, and no value is quoted', (entry, expected) => {
    expect(faultsOf(written(entry))).toEqual([expected]);
  });

  it('secrets of its credentials that do not resolve are told like keys', () => {
    const context = { ...noPrompts, resolveSecret: () => null };
    expect(warningsOf(written({ region, credentials }), context)).toEqual([
      'providers.aws.credentials.access_key_id: env:AWS_ACCESS_KEY_ID does not resolve: calls that need it will fail',
      'providers.aws.credentials.secret_access_key: env:AWS_SECRET_ACCESS_KEY does not resolve: calls that need it will fail',
    ]);
  });
});

describe('model facts', () => {
  const facts = (model: string) => bind({ region }).modelFacts(model);

  it.each([
    ['anthropic.claude-sonnet-4-5-20250929-v1:0', 200_000, 64_000],
    ['us.anthropic.claude-opus-4-6-v1', 1_000_000, 128_000],
    ['global.anthropic.claude-haiku-4-5-20251001-v1:0', 200_000, 64_000],
    ['anthropic.claude-3-haiku-20240307-v1:0', 200_000, 4_096],
    ['eu.amazon.nova-micro-v1:0', 128_000, 10_000],
    ['amazon.nova-pro-v1:0:300k', 300_000, 10_000],
    ['arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-2-lite-v1:0', 1_000_000, 65_535],
    ['meta.llama4-maverick-17b-instruct-v1:0', null, null],
    ['arn:aws:bedrock:us-east-1:1:application-inference-profile/abc123', null, null],
  ])('%s', (model, contextWindow, maxOutputTokens) => {
    expect(facts(model)).toMatchObject({ contextWindow, maxOutputTokens });
  });

  it('a model that reads no images says so', () => {
    expect(facts('amazon.nova-micro-v1:0').supports).toMatchObject({ images: false });
  });
});
