/** A model that is to think as long as it finds right: told to targets of other dialects in the nearest form, and named where that is another. */
import { describe, expect, it } from 'vitest';
import { ReplyCollector } from '../../../src/chat/reply.ts';
import { anthropicMessagesClient } from '../../../src/dialects/anthropic-messages/client.ts';
import { anthropicMessagesUpstream } from '../../../src/dialects/anthropic-messages/upstream.ts';
import { bedrockConverseUpstream } from '../../../src/dialects/bedrock-converse/upstream.ts';
import type { UpstreamCall, UpstreamDialect } from '../../../src/dialects/dialect.ts';
import { geminiClient } from '../../../src/dialects/gemini/client.ts';
import { geminiUpstream } from '../../../src/dialects/gemini/upstream.ts';
import { openaiChatUpstream } from '../../../src/dialects/openai-chat/upstream.ts';
import { openaiResponsesUpstream } from '../../../src/dialects/openai-responses/upstream.ts';
import { callIn, type Json, owning, sent } from './upstream-calls.ts';

const opus = 'us.anthropic.claude-opus-4-7-v1:0';
const sonnet = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

/** Every way in which a model is told to think; `isThinker`: as the preset's table has it. */
const targets: readonly (readonly [UpstreamDialect, string, boolean])[] = [
  [anthropicMessagesUpstream, 'claude-opus-4-7', false],
  [anthropicMessagesUpstream, 'claude-sonnet-4-5', false],
  [anthropicMessagesUpstream, 'claude-3-5-haiku-latest', false],
  [bedrockConverseUpstream, opus, false],
  [bedrockConverseUpstream, sonnet, false],
  [bedrockConverseUpstream, 'amazon.nova-2-lite-v1:0', false],
  [bedrockConverseUpstream, 'openai.gpt-oss-120b-1:0', false],
  [bedrockConverseUpstream, 'meta.llama3-1-70b-instruct-v1:0', false],
  [openaiResponsesUpstream, 'gpt-5.1', true],
  [openaiResponsesUpstream, 'gpt-4.1', false],
  [openaiChatUpstream, 'gpt-5.1', true],
  [openaiChatUpstream, 'gpt-4.1', false],
];

function ofGemini(thinkingConfig: Json, over: Partial<UpstreamCall> = {}): UpstreamCall {
  const generationConfig = { maxOutputTokens: 20_000, thinkingConfig };
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
  return callIn(geminiClient, JSON.stringify({ contents, generationConfig }), over);
}

function ofMessages(body: Json): UpstreamCall {
  const messages = [{ role: 'user', content: 'hi' }];
  return callIn(anthropicMessagesClient, JSON.stringify({ max_tokens: 20_000, messages, ...body }));
}

function told(dialect: UpstreamDialect, model: string, isThinker: boolean, call: UpstreamCall) {
  const { body, dropped } = sent(dialect, { ...call, model, isReasoningModel: isThinker });
  const { messages: _, contents: __, input: ___, model: ____, ...rest } = body;
  return { ...rest, dropped };
}

const includes = [undefined, true, false];
const budgets = [undefined, -1, 0, 2000];
const levels = [undefined, 'LOW'];
const combinations = includes.flatMap((includeThoughts) =>
  budgets.flatMap((thinkingBudget) =>
    levels.map((thinkingLevel) => ({ includeThoughts, thinkingBudget, thinkingLevel })),
  ),
);

describe.each(targets)('to %o with %s', (dialect, model, isThinker) => {
  const plain = told(dialect, model, isThinker, ofGemini({}));

  it.each(combinations)('%o is carried or named', (config) => {
    const given = told(dialect, model, isThinker, ofGemini(config));
    const { includeThoughts, thinkingBudget, thinkingLevel } = config;
    const isSilent = thinkingBudget === undefined && thinkingLevel === undefined;
    const isOff = thinkingBudget === 0 && thinkingLevel === undefined;
    if (isSilent && includeThoughts !== true) expect(given).toEqual(plain);
    // What does not think unasked does what a budget of none asks for.
    else if (!isOff) expect(given).not.toEqual(plain);
    const isTwice = thinkingBudget !== undefined && thinkingLevel !== undefined;
    const second = 'generationConfig.thinkingConfig.thinkingBudget';
    expect(given.dropped.includes(second)).toBe(isTwice);
  });
});

const dynamic = { includeThoughts: true, thinkingBudget: -1 };

it.each([
  ['claude-opus-4-7', { type: 'adaptive', display: 'summarized' }, []],
  ['claude-sonnet-4-5', { type: 'enabled', budget_tokens: 8192 }, ['reasoning_effort']],
  ['claude-3-5-haiku-latest', undefined, ['reasoning_effort']],
])('to %s thinking left to the model is %j', (model, thinking, dropped) => {
  const target = anthropicMessagesUpstream;
  for (const config of [dynamic, { thinkingBudget: -1 }, { includeThoughts: true }]) {
    const given = told(target, model, false, ofGemini(config));
    expect(given).toMatchObject({ dropped: expect.arrayContaining(dropped) });
    expect('thinking' in given ? given.thinking : undefined).toEqual(thinking);
    expect(given).not.toHaveProperty('output_config');
  }
});

it('where only an effort can be told it is the middle one, and named', () => {
  expect(told(openaiResponsesUpstream, 'gpt-5.1', true, ofGemini(dynamic))).toMatchObject({
    reasoning: { effort: 'medium', summary: 'auto' },
    dropped: ['reasoning_effort'],
  });
  expect(told(openaiChatUpstream, 'gpt-5.1', true, ofGemini(dynamic))).toMatchObject({
    reasoning_effort: 'medium',
    dropped: ['reasoning_effort'],
  });
});

it("a target's own effort is what the model is left to", () => {
  const call = owning(ofGemini(dynamic), { reasoning_effort: 'high' });
  expect(told(openaiResponsesUpstream, 'gpt-5.1', true, call)).toMatchObject({
    reasoning: { effort: 'high', summary: 'auto' },
    dropped: [],
  });
});

describe('of a client of the Messages API', () => {
  it.each([
    ['gemini-2.5-flash', { includeThoughts: true, thinkingBudget: -1 }],
    ['gemini-3-flash', { includeThoughts: true }],
  ])('adaptive thinking is left to %s, too', (model, thinkingConfig) => {
    const given = told(
      geminiUpstream,
      model,
      false,
      ofMessages({ thinking: { type: 'adaptive' } }),
    );
    expect(given).toMatchObject({ generationConfig: { thinkingConfig }, dropped: [] });
  });

  it('it goes to its own dialect as it came', () => {
    const thinking = { type: 'adaptive' };
    const target = anthropicMessagesUpstream;
    expect(told(target, 'claude-opus-4-7', false, ofMessages({ thinking }))).toEqual({
      max_tokens: 20_000,
      thinking,
      dropped: [],
    });
  });

  it('an effort that is named beside it counts', () => {
    const body = { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } };
    expect(told(openaiChatUpstream, 'gpt-5.1', true, ofMessages(body))).toMatchObject({
      reasoning_effort: 'low',
      dropped: [],
    });
  });
});

describe('thoughts that a client of Gemini wants not to see', () => {
  const events = [
    { type: 'reasoning', choice: 0, text: 'hm' },
    { type: 'text', choice: 0, text: 'yes' },
  ] as const;

  it.each([
    [false, false],
    [true, true],
    [undefined, true],
  ])('with includeThoughts %s they are shown: %s', (includeThoughts, isShown) => {
    const { request } = ofGemini({ includeThoughts, thinkingBudget: 2000 });
    const answered = { request, fallbackId: 'r1', createdAtSeconds: 1 };
    const encoder = geminiClient.streamEncoder({ ...answered, includeUsage: true, meta: null });
    const collector = new ReplyCollector();
    for (const event of events) collector.push(event);
    const reply = collector.reply();
    const whole = geminiClient.encodeReply({ ...answered, reply, original: null, meta: null });
    for (const answer of [encoder.push({ events, frame: null }), whole]) {
      expect(answer.toString()).toContain('yes');
      expect(answer.toString().includes('"thought":true')).toBe(isShown);
    }
  });
});
