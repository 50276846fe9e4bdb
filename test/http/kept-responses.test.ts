/** What a provider keeps, asked for by the official SDK: of the account that made it, and of nobody else. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeepingProvider } from '../support/keeping-provider.ts';
import {
  type ProviderName,
  quickRetry,
  type RunningGateway,
  startGateway,
} from '../support/running-gateway.ts';

let provider: KeepingProvider;
const running: RunningGateway[] = [];

beforeEach(async () => {
  provider = await KeepingProvider.start();
});
afterEach(async () => {
  for (const gateway of running.splice(0)) await gateway.close();
  await provider.close();
});

async function start(tier: readonly ProviderName[], dataDirectory?: string) {
  const gateway = await startGateway({
    tier,
    policies: { retry: { attempts: 3, ...quickRetry } },
    providers: {
      p4: { base_url: provider.baseUrl, api_keys: ['env:KEY_A', 'env:KEY_B'] },
    },
    environment: { KEY_A: 'A', KEY_B: 'B' },
    ...(dataDirectory === undefined ? {} : { dataDirectory }),
  });
  running.push(gateway);
  const client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'any', maxRetries: 0 });
  return { gateway, client };
}

const base = { model: 'fast', store: true } as const;
const keysAsked = () => provider.requests.map(({ key }) => key);

/** An answer made by the second account, whose first one rests for a moment. */
async function madeByB(client: OpenAI, isStream = false) {
  provider.refusals.set('A', { status: 429, headers: { 'retry-after-ms': '1' } });
  const answer = isStream
    ? await client.responses.stream({ ...base, input: 'hi' }).finalResponse()
    : await client.responses.create({ ...base, input: 'hi' });
  expect(answer.output_text).toMatch(/^told by B/);
  provider.refusals.clear();
  await new Promise((resolve) => setTimeout(resolve, 50));
  provider.requests.splice(0);
  return answer;
}

describe('an answer that is to be kept', () => {
  it('is asked of the first target of the dialect, whoever stands before it', async () => {
    const { client, gateway } = await start(['p1', 'p2', 'p4']);
    await client.responses.create({ ...base, input: 'hi' });
    expect(keysAsked()).toEqual(['A']);
    expect(provider.requests[0]?.body['store']).toBe(true);
    const [row] = await gateway.rows('?limit=1');
    expect(row).toMatchObject({ provider: 'p4', outcome: 'served' });
  });

  it.each([false, true])(
    'is gone on with by its own key (made in a stream: %s)',
    async (isStream) => {
      const { client } = await start(['p4']);
      const first = await madeByB(client, isStream);
      const next = await client.responses.create({
        ...base,
        input: 'and then?',
        previous_response_id: first.id,
      });
      expect(next.output_text).toMatch(/^told by B/);
      expect(keysAsked()).toEqual(['B']);
      const reference = { type: 'item_reference' as const, id: next.output[1]?.id ?? '' };
      const last = await client.responses.create({
        ...base,
        input: [reference, { role: 'user', content: 'x' }],
      });
      expect(last.output_text).toMatch(/^told by B/);
      expect(keysAsked()).toEqual(['B', 'B']);
    },
  );

  it('takes items that another account made as new ones, without their ids', async () => {
    const { client } = await start(['p4']);
    const first = await madeByB(client);
    const begun = await client.responses.create({ ...base, input: 'hi' });
    expect(begun.output_text).toMatch(/^told by A/);
    await client.responses.create({
      ...base,
      previous_response_id: first.id,
      input: [...begun.output, { role: 'user', content: 'x' }] as OpenAI.Responses.ResponseInput,
    });
    const sent = provider.requests.at(-1);
    expect(sent?.key).toBe('B');
    expect(sent?.raw).toContain('told by A');
    expect(sent?.raw).not.toMatch(/"(msg|rs)_A|gAAAA_/);
  });

  it('is known after a restart', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'tiergate-kept-'));
    const { client, gateway } = await start(['p4'], directory);
    const first = await madeByB(client);
    await gateway.app.close();
    const again = await start(['p4'], directory);
    const next = await again.client.responses.create({
      ...base,
      input: 'and then?',
      previous_response_id: first.id,
    });
    expect(next.output_text).toMatch(/^told by B/);
  });

  it('is asked of nobody else while its account refuses: an error, then a 503', async () => {
    const { client } = await start(['p4', 'p1']);
    const first = await madeByB(client);
    provider.refusals.set('B', { status: 401, headers: {} });
    const ask = () =>
      client.responses.create({ ...base, input: 'x', previous_response_id: first.id });
    await expect(ask()).rejects.toMatchObject({ status: 502, code: 'upstream_auth' });
    await expect(ask()).rejects.toMatchObject({ status: 503, code: 'no_target_available' });
    expect(keysAsked()).toEqual(['B']);
  });

  it('that nobody is known to keep is a BadRequestError that says what to do', async () => {
    const { client } = await start(['p4']);
    const unkept = await client.responses.create({ ...base, store: false, input: 'hi' });
    for (const previous_response_id of ['resp_unknown', unkept.id]) {
      const asked = client.responses.create({ ...base, input: 'x', previous_response_id });
      await expect(asked).rejects.toBeInstanceOf(OpenAI.BadRequestError);
      await expect(asked).rejects.toMatchObject({ param: 'previous_response_id' });
      await expect(asked).rejects.toThrow('set store: true');
    }
    expect(keysAsked()).toEqual(['A']);
  });

  it('where no target of the tier can keep it is a 400', async () => {
    const { client } = await start(['p1', 'p2']);
    const asked = client.responses.create({ ...base, input: 'x' });
    await expect(asked).rejects.toMatchObject({ status: 400 });
    await expect(asked).rejects.toThrow('lacks stored_responses');
  });
});

describe('reasoning', () => {
  it('is referred to where it is kept, and else left out and named', async () => {
    const { client } = await start(['p4', 'p1']);
    const first = await client.responses.create({ ...base, input: 'hi' });
    const thought = { type: 'item_reference' as const, id: first.output[0]?.id ?? '' };
    const input: OpenAI.Responses.ResponseInput = [
      thought,
      { role: 'assistant', content: 'told' },
      { role: 'user', content: 'x' },
    ];
    const ask = () => client.responses.create({ model: 'fast', input }).withResponse();
    const kept = await ask();
    expect(provider.requests.at(-1)?.raw).toContain(thought.id);
    expect(kept.response.headers.get('x-tiergate-dropped') ?? '').not.toContain('item_reference');
    provider.refusals.set('A', { status: 401, headers: {} });
    const other = await ask();
    expect(other.data.output_text).toMatch(/^told by B/);
    expect(provider.requests.at(-1)?.raw).not.toContain(thought.id);
    expect(other.response.headers.get('x-tiergate-dropped')).toContain('item_reference');
    provider.refusals.set('B', { status: 401, headers: {} });
    const { response } = await ask();
    expect(response.headers.get('x-tiergate-served-by')).toMatch(/^p1/);
    expect(response.headers.get('x-tiergate-dropped')).toContain('item_reference');
  });

  it('that one account has encrypted is not shown to another', async () => {
    const { client } = await start(['p4']);
    const first = await client.responses.create({ ...base, store: false, input: 'hi' });
    const input = [
      ...first.output,
      { role: 'user', content: 'x' },
    ] as OpenAI.Responses.ResponseInput;
    const ask = () => client.responses.create({ ...base, store: false, input });
    await ask();
    expect(provider.requests.at(-1)?.raw).toContain('gAAAA_1');
    provider.refusals.set('A', { status: 401, headers: {} });
    expect((await ask()).output_text).toMatch(/^told by B/);
    expect(provider.requests.at(-1)?.raw).not.toContain('gAAAA_1');
  });
});

describe('the same dialect on both sides', () => {
  it('hands an answer on byte for byte, whole and streamed, and fields that nobody here knows', async () => {
    const { gateway } = await start(['p4']);
    for (const stream of [false, true]) {
      const answer = await gateway.post('/v1/responses', {
        ...base,
        input: 'hi',
        stream,
        my_field: { a: [1, null] },
      });
      expect(await answer.text()).toBe(provider.sent);
      expect(provider.requests.at(-1)?.raw).toContain('"my_field":{"a":[1,null]}');
      expect(provider.requests.at(-1)?.body['model']).not.toBe('fast');
    }
  });
});
