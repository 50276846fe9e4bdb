/** A limit above what the model can write is a 400 of its service: it gives way, in the client's own dialect too. */
import { expect, it } from 'vitest';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';
import { callIn, sent } from './upstream-calls.ts';

const asking: { readonly [client: string]: (limit: number) => object } = {
  'openai-chat': (max_tokens) => ({ max_tokens, messages: [{ role: 'user', content: 'hi' }] }),
  'openai-responses': (max_output_tokens) => ({ max_output_tokens, input: 'hi' }),
  'anthropic-messages': (max_tokens) => ({
    max_tokens,
    messages: [{ role: 'user', content: 'hi' }],
  }),
  gemini: (maxOutputTokens) => ({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: { maxOutputTokens },
  }),
};

const limits =
  /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens|maxTokens)":(\d+)/;

const pairs = [...clientDialects.values()].flatMap((client) =>
  [...upstreamDialects.values()].map((upstream) => [client.name, upstream.name, upstream] as const),
);

it.each(pairs)('of %s to %s is the ceiling of the model, and named', (name, _, upstream) => {
  const client = clientDialects.get(name);
  const body = asking[name];
  if (client === undefined || body === undefined) throw new Error(name);
  for (const isReasoningModel of [false, true]) {
    const tell = (limit: number) => {
      const overrides = { maxOutputTokens: 8192, isReasoningModel };
      const { text, dropped } = sent(
        upstream,
        callIn(client, JSON.stringify(body(limit)), overrides),
      );
      return [limits.exec(text)?.[1], dropped];
    };
    expect(tell(32_000)).toEqual(['8192', ['max_tokens']]);
    expect(tell(8192)).toEqual(['8192', []]);
  }
});

it('of two limits each is the ceiling', () => {
  const client = clientDialects.get('openai-chat');
  const upstream = upstreamDialects.get('openai-chat');
  if (client === undefined || upstream === undefined) throw new Error('no dialect');
  const messages = [{ role: 'user', content: 'hi' }];
  const both = JSON.stringify({ max_completion_tokens: 50_000, max_tokens: 40_000, messages });
  const { body, dropped } = sent(upstream, callIn(client, both, { maxOutputTokens: 16_384 }));
  expect(body).toMatchObject({ max_tokens: 16_384 });
  expect(body).not.toHaveProperty('max_completion_tokens');
  expect(dropped).toEqual(['max_tokens']);
});
