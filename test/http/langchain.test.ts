/** `@langchain/openai`, retries off, against each upstream dialect. */
import {
  AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type RunningGateway, startGateway } from '../support/running-gateway.ts';
import { dialects, pixel } from '../support/sdk-samples.ts';

function modelOf(gateway: RunningGateway): ChatOpenAI {
  const configuration = { baseURL: `${gateway.origin}/v1` };
  return new ChatOpenAI({ model: 'fast', apiKey: 'any', maxRetries: 0, configuration });
}

const weather = {
  name: 'get_weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
};

describe.each(dialects)('@langchain/openai with %s as the only target', (_dialect, name) => {
  let gateway: RunningGateway;
  let model: ChatOpenAI;
  beforeAll(async () => {
    gateway = await startGateway({ tier: [name] });
    model = modelOf(gateway);
  });
  afterAll(() => gateway.close());

  it('plain, with usage', async () => {
    const answer = await model.invoke('hello there');
    expect(answer.text).toContain('hello there');
    expect(answer).toHaveProperty('usage_metadata.output_tokens', expect.any(Number));
  });

  it('streamed', async () => {
    let whole: AIMessageChunk | null = null;
    for await (const chunk of await model.stream('hello there')) {
      whole = whole === null ? chunk : whole.concat(chunk);
    }
    expect(whole?.text).toContain('hello there');
    expect(whole?.response_metadata['finish_reason']).toBe('stop');
  });

  it('a tool call and back', async () => {
    const bound = model.bindTools([weather]);
    const messages: BaseMessage[] = [new HumanMessage('weather in Oslo, please')];
    const call = await bound.invoke(messages);
    const [asked] = call.tool_calls ?? [];
    expect(asked).toMatchObject({ name: 'get_weather', args: { city: expect.any(String) } });
    messages.push(call, new ToolMessage({ content: 'sunny', tool_call_id: asked?.id ?? '' }));
    const last = await bound.invoke(messages);
    expect(last).toBeInstanceOf(AIMessage);
    expect(last.tool_calls).toEqual([]);
    expect(last.text).not.toBe('');
  });

  it('an object by its schema', async () => {
    const schema = z.object({ city: z.string(), degrees: z.number() });
    const found = await model.withStructuredOutput(schema).invoke('the weather as an object');
    expect(schema.safeParse(found).success).toBe(true);
  });

  it('an image', async () => {
    const url = `data:image/png;base64,${pixel}`;
    const content = [
      { type: 'text', text: 'what is this image' },
      { type: 'image_url', image_url: { url } },
    ];
    expect((await model.invoke([new HumanMessage({ content })])).text).not.toBe('');
  });
});
