/** Counting tokens: the provider that speaks the client's dialect is asked, else it is an estimate that says so. */
import Anthropic, { BadRequestError } from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ProviderName,
  type RunningGateway,
  startGateway,
} from '../support/running-gateway.ts';

let gateway: RunningGateway;
afterEach(() => gateway.close());

async function start(tier: readonly ProviderName[]): Promise<Anthropic> {
  gateway = await startGateway({ tier });
  return new Anthropic({ baseURL: gateway.origin, apiKey: 'any', maxRetries: 0 });
}

const messages = [{ role: 'user' as const, content: 'How many tokens are these words?' }];
const asked = { model: 'fast', system: 'Be brief.', messages };

describe('POST /v1/messages/count_tokens', () => {
  it('asks the first target of the dialect, wherever it stands in the tier', async () => {
    const client = await start(['p1', 'p2']);
    const { data, response } = await client.messages.countTokens(asked).withResponse();
    expect(data.input_tokens).toBeGreaterThan(5);
    expect(response.headers.get('x-tiergate-served-by')).toBe('p2/claude-sonnet-4-5');
    expect(response.headers.get('x-tiergate-estimate')).toBeNull();
    const [sent] = gateway.simulation.control.requests('p2');
    expect(sent?.path).toBe('/v1/messages/count_tokens');
    expect(JSON.parse(String(sent?.body))).toEqual({ ...asked, model: 'claude-sonnet-4-5' });
    expect(gateway.simulation.control.requests('p1')).toEqual([]);
  });

  it('fields of an answer that the endpoint refuses stay here', async () => {
    await start(['p2']);
    const body = { ...asked, max_tokens: 9, temperature: 0.5, stream: false, metadata: {} };
    const answer = await gateway.post('/v1/messages/count_tokens', body);
    expect(await answer.json()).toEqual({ input_tokens: expect.any(Number) });
    expect(answer.headers.get('x-tiergate-estimate')).toBeNull();
  });

  it('without a target of the dialect it estimates and says so', async () => {
    const client = await start(['p1', 'p3']);
    const { data, response } = await client.messages.countTokens(asked).withResponse();
    expect(data.input_tokens).toBeGreaterThan(5);
    expect(response.headers.get('x-tiergate-estimate')).toBe('true');
    expect(response.headers.get('x-tiergate-served-by')).toBeNull();
    const long = await client.messages.countTokens({
      ...asked,
      messages: [{ role: 'user', content: 'word '.repeat(4000) }],
    });
    expect(long.input_tokens).toBeGreaterThan(4000);
  });

  it('a target that fails is asked once and estimated for; its breaker for answers stays closed', async () => {
    const client = await start(['p2']);
    gateway.simulation.control.fault('p2', 'overload');
    for (let at = 0; at < 4; at += 1) {
      const { response } = await client.messages.countTokens(asked).withResponse();
      expect(response.headers.get('x-tiergate-estimate')).toBe('true');
    }
    expect(gateway.simulation.control.requests('p2')).toHaveLength(4);
    gateway.simulation.control.clear();
    const answer = await gateway.post('/v1/messages', { ...asked, max_tokens: 50 });
    expect(answer.headers.get('x-tiergate-served-by')).toBe('p2/claude-sonnet-4-5');
  });

  it('leaves no row, moves no conversation and is refused where the request is wrong', async () => {
    const client = await start(['p1', 'p2']);
    await client.messages.countTokens(asked, { headers: { 'x-tiergate-session': 's1' } });
    const answer = await gateway.post(
      '/v1/messages',
      { ...asked, max_tokens: 50 },
      { headers: { 'x-tiergate-session': 's1' } },
    );
    expect(answer.headers.get('x-tiergate-served-by')).toBe('p1/gpt-5.1');
    expect(await gateway.rows()).toHaveLength(1);
    const wrong = { ...asked, messages: 'text' as unknown as typeof messages };
    await expect(client.messages.countTokens(wrong)).rejects.toThrow(BadRequestError);
    expect(await gateway.rows()).toHaveLength(1);
    const inPath = await gateway.post('/v1/tiers/fast/v1/messages/count_tokens', asked);
    expect(inPath.status).toBe(200);
  });
});

describe(':countTokens', () => {
  it('asks the first target of the dialect with the whole request', async () => {
    await start(['p1', 'p3']);
    const client = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: gateway.origin } });
    const counted = await client.models.countTokens({ model: 'fast', contents: 'some words' });
    expect(counted.totalTokens).toBeGreaterThan(1);
    const [sent] = gateway.simulation.control.requests('p3');
    expect(sent?.path).toMatch(/models\/gemini-2.5-flash:countTokens/);
    const contents = [{ role: 'user', parts: [{ text: 'some words' }] }];
    expect(JSON.parse(String(sent?.body))).toMatchObject({
      generateContentRequest: { model: 'models/gemini-2.5-flash', contents },
    });
  });

  it.each(['/v1beta/models/fast', '/v1/models/fast', '/v1/tiers/fast/models/any'])(
    '%s takes a whole request inside the body and counts its system words',
    async (path) => {
      await start(['p3']);
      const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
      const systemInstruction = { parts: [{ text: 'a long system text '.repeat(20) }] };
      const bare = await gateway.post(`${path}:countTokens`, { contents });
      const whole = await gateway.post(`${path}:countTokens`, {
        generateContentRequest: { model: 'models/fast', contents, systemInstruction },
      });
      const counts = [await bare.json(), await whole.json()] as { totalTokens: number }[];
      expect(counts[1]?.totalTokens).toBeGreaterThan((counts[0]?.totalTokens ?? 0) + 50);
      expect(whole.headers.get('x-tiergate-estimate')).toBeNull();
    },
  );

  it('without a target of the dialect it estimates and says so', async () => {
    await start(['p1']);
    const contents = [{ role: 'user', parts: [{ text: 'hi there' }] }];
    const answer = await gateway.post('/v1beta/models/fast:countTokens', { contents });
    expect(answer.headers.get('x-tiergate-estimate')).toBe('true');
    expect(await answer.json()).toEqual({ totalTokens: expect.any(Number) });
  });
});
