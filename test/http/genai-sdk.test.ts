/** The official Gemini SDK against each upstream dialect and through a failover. */
import {
  ApiError,
  type Content,
  type FunctionCall,
  FunctionCallingConfigMode,
  type GenerateContentParameters,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
} from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelNames, type RunningGateway, startGateway } from '../support/running-gateway.ts';
import { dialects, failoverPairs, pixel } from '../support/sdk-samples.ts';

const parametersJsonSchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
};
const weather = { name: 'get_weather', description: 'The weather of a city', parametersJsonSchema };

function clientOf(gateway: RunningGateway, apiVersion?: string): GoogleGenAI {
  return new GoogleGenAI({
    apiKey: 'any',
    ...(apiVersion === undefined ? {} : { apiVersion }),
    httpOptions: { baseUrl: gateway.origin },
  });
}

type Turn = {
  readonly content: Content;
  readonly text: string;
  readonly calls: readonly FunctionCall[];
  readonly finish: string | null;
  readonly last: GenerateContentResponse;
};

async function oneTurn(
  client: GoogleGenAI,
  contents: Content[],
  isStream: boolean,
  config: GenerateContentParameters['config'] = {},
): Promise<Turn> {
  const asked = {
    model: 'fast',
    contents,
    config: { tools: [{ functionDeclarations: [weather] }], ...config },
  };
  const responses: GenerateContentResponse[] = [];
  if (isStream) {
    for await (const chunk of await client.models.generateContentStream(asked)) {
      responses.push(chunk);
    }
  } else responses.push(await client.models.generateContent(asked));
  const last = responses.at(-1);
  if (last === undefined) throw new Error('no answer');
  const parts = responses.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
  return {
    content: { role: 'model', parts: parts.filter((part) => part.text !== '') },
    text: parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join(''),
    calls: parts.flatMap((part) => part.functionCall ?? []),
    finish: last.candidates?.[0]?.finishReason ?? null,
    last,
  };
}

function resultsOf(calls: readonly FunctionCall[]): Content {
  const parts: Part[] = calls.map(({ id, name }, index) => ({
    functionResponse: {
      ...(id === undefined ? {} : { id }),
      name: name ?? '',
      response: { output: `sunny, ${index}` },
    },
  }));
  return { role: 'user', parts };
}

function said(text: string): Content {
  return { role: 'user', parts: [{ text }] };
}

describe.each(dialects)('the genai SDK with %s as the only target', (_dialect, name) => {
  let gateway: RunningGateway;
  let client: GoogleGenAI;
  beforeAll(async () => {
    gateway = await startGateway({ tier: [name] });
    client = clientOf(gateway);
  });
  afterAll(() => gateway.close());

  it.each(['v1', 'v1beta'])('plain, with the API version %s', async (version) => {
    const answer = await clientOf(gateway, version).models.generateContent({
      model: 'fast',
      contents: 'hello there',
      config: { systemInstruction: 'Be brief.', temperature: 0.5, maxOutputTokens: 500 },
    });
    expect(answer.text).toContain('hello there');
    expect(answer.candidates?.[0]?.finishReason).toBe('STOP');
    expect(answer.modelVersion).toBe(modelNames[name]);
    expect(answer.responseId).toBeTruthy();
    const usage = answer.usageMetadata;
    expect(usage?.promptTokenCount).toBeGreaterThan(0);
    expect(usage?.candidatesTokenCount).toBeGreaterThan(0);
  });

  it.each(['models/fast', 'tunedModels/fast', 'publishers/google/models/fast'])(
    'the tier is the last of %s',
    async (model) => {
      const contents = 'hello there';
      const onVertex = new GoogleGenAI({
        vertexai: true,
        apiKey: 'any',
        httpOptions: { baseUrl: gateway.origin },
      });
      for (const each of [client, onVertex]) {
        if (each === onVertex && model === 'tunedModels/fast') continue;
        const answer = await each.models.generateContent({ model, contents });
        expect(answer.text).toContain('hello there');
        const { totalTokens } = await each.models.countTokens({ model, contents });
        expect(totalTokens).toBeGreaterThan(0);
      }
    },
  );

  it('streamed, with usage at the end', async () => {
    const stream = await client.models.generateContentStream({
      model: 'models/fast',
      contents: 'hello there',
    });
    const chunks: GenerateContentResponse[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map(({ text }) => text ?? '').join('')).toContain('hello there');
    expect(chunks.length).toBeGreaterThan(1);
    const finishes = chunks.flatMap(({ candidates }) => candidates?.[0]?.finishReason ?? []);
    expect(finishes).toEqual(['STOP']);
    expect(new Set(chunks.map(({ responseId }) => responseId)).size).toBe(1);
    expect(chunks.at(-1)?.usageMetadata?.candidatesTokenCount).toBeGreaterThan(0);
  });

  it.each([false, true])('a tool call and back (stream %s)', async (isStream) => {
    const contents = [said('weather in Oslo, please')];
    const call = await oneTurn(client, contents, isStream);
    expect(call.calls).toMatchObject([{ name: 'get_weather', args: { city: expect.any(String) } }]);
    expect(call.finish).toBe('STOP');
    contents.push(call.content, resultsOf(call.calls));
    const last = await oneTurn(client, contents, isStream);
    expect(last.finish).toBe('STOP');
    expect(last.text).not.toBe('');
    const rows = await gateway.rows('?limit=2');
    expect(rows.every(({ outcome }) => outcome === 'served')).toBe(true);
  });

  it.each([false, true])('two calls in parallel and back (stream %s)', async (isStream) => {
    const contents = [said('two cities in parallel')];
    const call = await oneTurn(client, contents, isStream);
    expect(call.calls).toHaveLength(2);
    contents.push(call.content, resultsOf(call.calls));
    expect((await oneTurn(client, contents, isStream)).finish).toBe('STOP');
  });

  it('results without ids, and a call that is forced', async () => {
    const contents = [said('say hello')];
    const call = await oneTurn(client, contents, false, {
      toolConfig: {
        functionCallingConfig: {
          mode: FunctionCallingConfigMode.ANY,
          allowedFunctionNames: ['get_weather'],
        },
      },
    });
    expect(call.calls).toHaveLength(1);
    const nameless = call.calls.map(({ id: _, ...rest }) => rest);
    const parts = (call.content.parts ?? []).map(({ functionCall, ...rest }) => {
      if (functionCall === undefined) return rest;
      const { id: _, ...kept } = functionCall;
      return { ...rest, functionCall: kept };
    });
    contents.push({ role: 'model', parts }, resultsOf(nameless));
    expect((await oneTurn(client, contents, false)).finish).toBe('STOP');
  });

  it.each([false, true])('a chat of several turns (stream %s)', async (isStream) => {
    const chat = client.chats.create({ model: 'fast' });
    for (const message of ['hello there', 'and again', 'and once more']) {
      if (!isStream) {
        expect((await chat.sendMessage({ message })).text).toContain(message);
        continue;
      }
      let text = '';
      for await (const chunk of await chat.sendMessageStream({ message })) text += chunk.text ?? '';
      expect(text).toContain(message);
    }
    const turns = chat.getHistory(true).filter(({ role }) => role === 'user');
    expect(turns).toHaveLength(3);
  });

  it('an image', async () => {
    const answer = await client.models.generateContent({
      model: 'fast',
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'what is this?' },
            { inlineData: { mimeType: 'image/png', data: pixel } },
          ],
        },
      ],
    });
    expect(answer.text).toContain('image/png');
  });

  it('an answer in JSON', async () => {
    const answer = await client.models.generateContent({
      model: 'fast',
      contents: 'a city',
      config: { responseMimeType: 'application/json', responseJsonSchema: parametersJsonSchema },
    });
    expect(JSON.parse(answer.text ?? '')).toMatchObject({ city: expect.any(String) });
  });

  it('the tier in the base URL, whatever model is named', async () => {
    const baseUrl = `${gateway.origin}/v1/tiers/fast/`;
    const named = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl } });
    for (const model of ['gemini-3-pro', 'google/gemma-3', 'models/fast']) {
      const answer = await named.models.generateContent({ model, contents: 'hi' });
      expect(answer.candidates).toHaveLength(1);
    }
  });

  it("an unknown tier is the SDK's ApiError with 404", async () => {
    const error = await client.models
      .generateContent({ model: 'nope', contents: 'x' })
      .then(() => null)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 404 });
    expect(JSON.parse(String((error as ApiError).message))).toMatchObject({
      error: { code: 404, status: 'NOT_FOUND', tiergate: { class: 'unknown_tier' } },
    });
  });

  it('a body that is wrong is an ApiError with 400 that names the field', async () => {
    const contents = [{ role: 'user', parts: [{ text: 5 as unknown as string }] }];
    const asked = client.models.generateContentStream({ model: 'fast', contents });
    await expect(asked).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('contents[0].parts[0].text'),
    });
  });
});

describe('an outage', () => {
  it('of every target is an ApiError with what was tried, in the stream too', async () => {
    const gateway = await startGateway({ tier: ['p1', 'p2'] });
    try {
      for (const name of ['p1', 'p2'] as const) gateway.simulation.control.fault(name, 'auth');
      const client = clientOf(gateway);
      const asked = { model: 'fast', contents: 'hi' };
      const whole = client.models.generateContent(asked);
      await expect(whole).rejects.toMatchObject({
        name: 'ApiError',
        status: 502,
        message: expect.stringContaining('upstream_auth'),
      });
      const stream = client.models.generateContentStream(asked);
      await expect(stream).rejects.toMatchObject({
        name: 'ApiError',
        status: 503,
        message: expect.stringContaining('RetryInfo'),
      });
    } finally {
      await gateway.close();
    }
  });
});

describe('a failover in the middle of a conversation with tool results', () => {
  it.each(failoverPairs)('R70 R71 begun on %s, ended on %s', async (first, second) => {
    const gateway = await startGateway({ tier: [first, second] });
    try {
      const client = clientOf(gateway);
      const contents = [said('two cities in parallel')];
      const call = await oneTurn(client, contents, true);
      expect(call.calls).toHaveLength(2);
      contents.push(call.content, resultsOf(call.calls));
      gateway.simulation.control.fault(first, 'auth');
      for (const isStream of [true, false]) {
        const last = await oneTurn(client, contents, isStream);
        expect(last.finish).toBe('STOP');
        const [row] = await gateway.rows('?limit=1');
        expect(row).toMatchObject({ outcome: 'served', provider: second, failed_over: true });
      }
    } finally {
      await gateway.close();
    }
  });
});
