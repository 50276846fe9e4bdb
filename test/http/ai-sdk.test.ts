/** The `ai` package with its OpenAI, Anthropic and Google providers, retries off, against each upstream dialect. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import {
  APICallError,
  generateText,
  type LanguageModel,
  Output,
  stepCountIs,
  streamText,
  tool,
} from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { quickRetry, type RunningGateway, startGateway } from '../support/running-gateway.ts';
import { dialects, pixel } from '../support/sdk-samples.ts';

type ModelFor = (origin: string) => LanguageModel;

/** Items are referred to by default, which binds a conversation to one account. */
const stateless = { openai: { store: false } };

const providers: { readonly [name: string]: ModelFor } = {
  '@ai-sdk/openai, chat completions': (origin) =>
    createOpenAI({ baseURL: `${origin}/v1`, apiKey: 'any' }).chat('fast'),
  '@ai-sdk/openai, responses': (origin) =>
    createOpenAI({ baseURL: `${origin}/v1`, apiKey: 'any' }).responses('fast'),
  '@ai-sdk/anthropic': (origin) =>
    createAnthropic({ baseURL: `${origin}/v1`, apiKey: 'any' })('fast'),
  '@ai-sdk/google': (origin) =>
    createGoogleGenerativeAI({ baseURL: `${origin}/v1beta`, apiKey: 'any' })('fast'),
};

const once = { retry: { attempts: 1, ...quickRetry } };

const tools = {
  get_weather: tool({
    description: 'The weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => Promise.resolve(`sunny in ${city}`),
  }),
};

describe.each(dialects)('with %s as the only target', (_dialect, name) => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({ tier: [name] });
  });
  afterAll(() => gateway.close());

  describe.each(Object.entries(providers))('%s', (_provider, modelFor) => {
    const settings = () => ({
      model: modelFor(gateway.origin),
      maxRetries: 0,
      providerOptions: stateless,
    });

    it('plain, with usage', async () => {
      const { text, usage, finishReason } = await generateText({
        ...settings(),
        system: 'Be brief.',
        prompt: 'hello there',
      });
      expect(text).toContain('hello there');
      expect(finishReason).toBe('stop');
      expect(usage.outputTokens).toBeGreaterThan(0);
    });

    it('streamed', async () => {
      const result = streamText({ ...settings(), prompt: 'hello there' });
      let text = '';
      for await (const piece of result.textStream) text += piece;
      expect(text).toContain('hello there');
      expect(await result.finishReason).toBe('stop');
      expect((await result.usage).inputTokens).toBeGreaterThan(0);
    });

    it.each([false, true])('a tool called, run and answered for (stream %s)', async (isStream) => {
      const asked = {
        ...settings(),
        tools,
        stopWhen: stepCountIs(3),
        prompt: 'weather in Oslo, please',
      };
      const { steps, text } = isStream ? await streamed(asked) : await generateText(asked);
      expect(steps).toHaveLength(2);
      expect(steps[0]?.toolCalls[0]).toMatchObject({ toolName: 'get_weather' });
      expect(steps[0]?.toolResults[0]?.output).toContain('sunny in');
      expect(text).not.toBe('');
    });

    it('an object by its schema', async () => {
      const schema = z.object({ city: z.string(), degrees: z.number() });
      const { output } = await generateText({
        ...settings(),
        output: Output.object({ schema }),
        prompt: 'the weather as an object',
      });
      expect(schema.safeParse(output).success).toBe(true);
    });

    it('an image', async () => {
      const { text } = await generateText({
        ...settings(),
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'what is this image' },
              { type: 'image', image: Buffer.from(pixel, 'base64'), mediaType: 'image/png' },
            ],
          },
        ],
      });
      expect(text).not.toBe('');
    });
  });
});

describe.each(Object.entries(providers))('%s', (_provider, modelFor) => {
  it('keys that the provider refuses are an APICallError of status 502', async () => {
    const gateway = await startGateway({ tier: ['p2'], policies: once });
    try {
      gateway.simulation.control.fault('p2', 'auth');
      const asked = { model: modelFor(gateway.origin), maxRetries: 0, prompt: 'hi' };
      const failed = await generateText(asked).catch((error) => error);
      expect(APICallError.isInstance(failed)).toBe(true);
      expect(failed.statusCode).toBe(502);
      expect(failed.message).toMatch(/\(request /);
    } finally {
      await gateway.close();
    }
  });
});

async function streamed(asked: Parameters<typeof streamText<typeof tools>>[0]) {
  const result = streamText(asked);
  await result.consumeStream();
  return { steps: await result.steps, text: await result.text };
}
