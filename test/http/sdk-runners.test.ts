/** What the official SDKs do on their own over several calls: run tools, parse structured output. */
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type RunningGateway, startGateway } from '../support/running-gateway.ts';
import { dialects } from '../support/sdk-samples.ts';

const place = z.object({ city: z.string() });
const report = z.object({ city: z.string(), degrees: z.number() });

describe.each(dialects)('with %s as the only target', (_dialect, name) => {
  let gateway: RunningGateway;
  let openai: OpenAI;
  let anthropic: Anthropic;
  beforeAll(async () => {
    gateway = await startGateway({ tier: [name] });
    openai = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'any', maxRetries: 0 });
    anthropic = new Anthropic({ baseURL: gateway.origin, apiKey: 'any', maxRetries: 0 });
  });
  afterAll(() => gateway.close());

  it.each([false, true])('openai runs tools until the answer (stream %s)', async (stream) => {
    const ran: string[] = [];
    const get_weather = zodFunction({
      name: 'get_weather',
      description: 'The weather of a city',
      parameters: place,
      function: ({ city }) => {
        ran.push(city);
        return `sunny in ${city}`;
      },
    });
    const asked = {
      model: 'fast',
      messages: [{ role: 'user', content: 'weather in Oslo, please' }],
      tools: [get_weather],
    } as const;
    const runner = stream
      ? openai.chat.completions.runTools({
          ...asked,
          messages: [...asked.messages],
          tools: [...asked.tools],
          stream: true,
        })
      : openai.chat.completions.runTools({
          ...asked,
          messages: [...asked.messages],
          tools: [...asked.tools],
        });
    expect(await runner.finalContent()).not.toBe('');
    expect(ran).toHaveLength(1);
  });

  it('openai parses an answer by its schema', async () => {
    const { choices } = await openai.chat.completions.parse({
      model: 'fast',
      messages: [{ role: 'user', content: 'the weather as an object' }],
      response_format: zodResponseFormat(report, 'report'),
    });
    expect(report.safeParse(choices[0]?.message.parsed).success).toBe(true);
  });

  it.each([false, true])('anthropic runs tools until the answer (stream %s)', async (stream) => {
    const ran: string[] = [];
    const get_weather = betaZodTool({
      name: 'get_weather',
      description: 'The weather of a city',
      inputSchema: place,
      run: ({ city }) => {
        ran.push(city);
        return `sunny in ${city}`;
      },
    });
    const runner = anthropic.beta.messages.toolRunner({
      model: 'fast',
      max_tokens: 400,
      messages: [{ role: 'user', content: 'weather in Oslo, please' }],
      tools: [get_weather],
      stream,
    });
    const last = await runner.runUntilDone();
    expect(last.stop_reason).toBe('end_turn');
    expect(last.content[0]).toMatchObject({ type: 'text', text: expect.stringMatching(/./) });
    expect(ran).toHaveLength(1);
  });

  it('anthropic parses an answer by its schema', async () => {
    const { parsed_output } = await anthropic.messages.parse({
      model: 'fast',
      max_tokens: 400,
      messages: [{ role: 'user', content: 'the weather as an object' }],
      output_config: { format: zodOutputFormat(report) },
    });
    expect(report.safeParse(parsed_output).success).toBe(true);
  });
});
