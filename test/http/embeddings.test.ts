/** Embeddings through the gateway: the same model or nobody, byte for byte, with the official SDK. */
import OpenAI, { BadRequestError, NotFoundError } from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { quickRetry, type RunningGateway, startGateway } from '../support/running-gateway.ts';

const model = 'text-embedding-3-small';
let gateway: RunningGateway;
afterEach(() => gateway.close());

/** A tier `vectors` over p1, p1b (the same model), p2 (no embeddings) and p1 with another model. */
async function start(): Promise<OpenAI> {
  gateway = await startGateway();
  const targets = [
    { provider: 'p2', model: 'claude-sonnet-4-5' },
    { provider: 'p1', model },
    { provider: 'p1', model: 'text-embedding-3-large' },
    { provider: 'p1b', model },
  ];
  const made = await gateway.admin('/tiers/vectors', {
    method: 'PUT',
    headers: { 'if-none-match': '*', 'content-type': 'application/json' },
    body: JSON.stringify({ targets, retry: { attempts: 1, ...quickRetry } }),
  });
  expect(made.status).toBe(201);
  return new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'any', maxRetries: 0 });
}

describe('POST /v1/embeddings', () => {
  it('answers the SDK with vectors, the provider own model and usage, and leaves a row', async () => {
    const client = await start();
    const { data, response } = await client.embeddings
      .create({ model: 'vectors', input: ['one', 'two'], dimensions: 8 })
      .withResponse();
    expect(data.data.map(({ embedding }) => embedding.length)).toEqual([8, 8]);
    expect(Math.hypot(...(data.data[0]?.embedding ?? []))).toBeCloseTo(1, 5);
    expect(data.model).toBe(model);
    expect(response.headers.get('x-tiergate-served-by')).toBe(`p1/${model}`);
    const [row] = await gateway.rows();
    expect(row).toMatchObject({
      target: `p1/${model}`,
      outcome: 'served',
      input_tokens: data.usage.prompt_tokens,
      skipped: [
        { target: 'p2/claude-sonnet-4-5', reason: 'ability:embeddings' },
        { target: 'p1/text-embedding-3-large', reason: 'ability:same_embedding_model' },
      ],
    });
  });

  it('fails over to another provider of the same model and to no other model', async () => {
    const client = await start();
    const asked = { model: 'vectors', input: 'one', encoding_format: 'float' } as const;
    const before = await client.embeddings.create(asked);
    gateway.simulation.control.fault('p1', 'server_error');
    const { data, response } = await client.embeddings.create(asked).withResponse();
    expect(response.headers.get('x-tiergate-served-by')).toBe(`p1b/${model}`);
    expect(data.data).toEqual(before.data);
    gateway.simulation.control.fault('p1b', 'server_error');
    await expect(client.embeddings.create(asked)).rejects.toMatchObject({ status: 502 });
  });

  it('a tier in the path, a tier that embeds nothing, an unknown tier and bad input are told apart', async () => {
    const client = await start();
    const inPath = await gateway.post('/v1/tiers/vectors/embeddings', {
      model: 'any',
      input: [1, 2],
    });
    expect(inPath.status).toBe(200);
    await expect(client.embeddings.create({ model: 'nobody', input: 'x' })).rejects.toThrow(
      NotFoundError,
    );
    const bad = { model: 'vectors', input: { text: 'x' } as unknown as string };
    await expect(client.embeddings.create(bad)).rejects.toThrow(BadRequestError);
    await expect(client.embeddings.create({ model: 'vectors', input: '' })).rejects.toThrow(
      BadRequestError,
    );
    await gateway.admin('/tiers/words', {
      method: 'PUT',
      headers: { 'if-none-match': '*', 'content-type': 'application/json' },
      body: JSON.stringify({ targets: [{ provider: 'p2', model: 'claude-sonnet-4-5' }] }),
    });
    await expect(client.embeddings.create({ model: 'words', input: 'x' })).rejects.toThrow(
      /lacks embeddings/,
    );
  });

  it('fields that nobody here knows reach the provider, its body reaches the client byte for byte', async () => {
    await start();
    gateway.simulation.control.clear();
    const answer = await gateway.post('/v1/embeddings', {
      model: 'vectors',
      input: 'one',
      user: 'someone',
      tiergate: { tags: { a: 'b' } },
    });
    expect(answer.status).toBe(200);
    const [sent] = gateway.simulation.control.requests('p1');
    expect(sent?.path).toBe('/v1/embeddings');
    expect(JSON.parse(String(sent?.body))).toEqual({ model, input: 'one', user: 'someone' });
  });
});
