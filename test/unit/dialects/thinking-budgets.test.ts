/** Budgets of thinking between the dialects that count in tokens: as the client set them, where the model takes a budget. */
import { expect, it } from 'vitest';
import { anthropicMessagesClient } from '../../../src/dialects/anthropic-messages/client.ts';
import { anthropicMessagesUpstream } from '../../../src/dialects/anthropic-messages/upstream.ts';
import { bedrockConverseUpstream } from '../../../src/dialects/bedrock-converse/upstream.ts';
import type { UpstreamCall } from '../../../src/dialects/dialect.ts';
import { geminiClient } from '../../../src/dialects/gemini/client.ts';
import { geminiUpstream } from '../../../src/dialects/gemini/upstream.ts';
import { openaiResponsesUpstream } from '../../../src/dialects/openai-responses/upstream.ts';
import { callIn, owning, sent } from './upstream-calls.ts';

const models = {
  'anthropic-messages': 'claude-sonnet-4-5',
  'bedrock-converse': 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  gemini: 'gemini-2.5-flash',
  'openai-responses': 'gpt-5-mini',
};
const upstreams = [
  anthropicMessagesUpstream,
  bedrockConverseUpstream,
  geminiUpstream,
  openaiResponsesUpstream,
];

function ofMessages(max_tokens: number, budget_tokens: number, over: Partial<UpstreamCall> = {}) {
  const thinking = { type: 'enabled', budget_tokens };
  const messages = [{ role: 'user', content: 'hi' }];
  return callIn(anthropicMessagesClient, JSON.stringify({ max_tokens, thinking, messages }), over);
}

function ofGemini(
  maxOutputTokens: number,
  thinkingBudget: number,
  over: Partial<UpstreamCall> = {},
) {
  const generationConfig = { maxOutputTokens, thinkingConfig: { thinkingBudget } };
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
  return callIn(geminiClient, JSON.stringify({ contents, generationConfig }), over);
}

function told(name: keyof typeof models, call: UpstreamCall) {
  const upstream = upstreams.find((each) => each.name === name);
  if (upstream === undefined) throw new Error(name);
  const { body, dropped } = sent(upstream, {
    ...call,
    model: models[name],
    isReasoningModel: name === 'openai-responses',
  });
  const { messages: _, contents: __, input: ___, model: ____, ...rest } = body;
  return { ...rest, dropped };
}

it('a budget and the limit that it counts against go on as they were set', () => {
  const claude = { type: 'enabled', budget_tokens: 2000 };
  expect(told('bedrock-converse', ofMessages(3000, 2000))).toEqual({
    inferenceConfig: { maxTokens: 3000 },
    additionalModelRequestFields: { thinking: claude },
    dropped: [],
  });
  expect(told('anthropic-messages', ofGemini(3000, 2000))).toEqual({
    max_tokens: 3000,
    thinking: claude,
    dropped: [],
  });
  expect(told('gemini', ofMessages(3000, 2000))).toEqual({
    generationConfig: {
      maxOutputTokens: 3000,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 },
    },
    dropped: [],
  });
});

it('one that the model does not take gives way, and is named', () => {
  expect(told('anthropic-messages', ofGemini(9000, 500))).toMatchObject({
    max_tokens: 9000,
    thinking: { budget_tokens: 1024 },
    dropped: ['reasoning_effort'],
  });
  expect(told('bedrock-converse', ofGemini(4000, 4000))).toMatchObject({
    inferenceConfig: { maxTokens: 4000 },
    additionalModelRequestFields: { thinking: { budget_tokens: 2000 } },
    dropped: ['reasoning_effort'],
  });
  expect(told('anthropic-messages', ofGemini(1500, 1500))).toEqual({
    max_tokens: 1500,
    dropped: ['reasoning_effort'],
  });
  expect(told('gemini', ofMessages(64_000, 30_000))).toMatchObject({
    generationConfig: { thinkingConfig: { thinkingBudget: 24_576 } },
    dropped: ['reasoning_effort'],
  });
});

it('it is a word where the model takes words', () => {
  expect(told('openai-responses', ofMessages(3000, 2048))).toMatchObject({
    reasoning: { effort: 'low' },
  });
});

it("the target's own effort goes before it", () => {
  const call = owning(ofMessages(30_000, 2000), { reasoning_effort: 'high' });
  expect(told('gemini', call)).toMatchObject({
    generationConfig: { thinkingConfig: { thinkingBudget: 24_576 } },
  });
});
