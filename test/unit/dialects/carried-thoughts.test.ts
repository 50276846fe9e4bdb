/** Thoughts that one service signed, told to a client of the Messages API, and what it sends back of them. */
import { expect, it } from 'vitest';
import type { ReasoningBlock } from '../../../src/chat/reply.ts';
import { unknownUsage } from '../../../src/chat/usage.ts';
import { anthropicMessagesClient as client } from '../../../src/dialects/anthropic-messages/client.ts';
import { anthropicMessagesUpstream } from '../../../src/dialects/anthropic-messages/upstream.ts';
import { bedrockConverseUpstream } from '../../../src/dialects/bedrock-converse/upstream.ts';
import type { UpstreamDialect } from '../../../src/dialects/dialect.ts';
import { callIn, type Json, sent } from './upstream-calls.ts';

const maker = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const ofBedrock: ReasoningBlock = {
  text: 'hm',
  signature: 'SIG',
  redacted: null,
  dialect: 'bedrock-converse',
};

function told(thought: ReasoningBlock): Json {
  const { text, ...end } = thought;
  const whole = client.encodeReply({
    reply: {
      id: 'x',
      model: maker,
      usage: unknownUsage,
      choices: [
        {
          index: 0,
          text: 'hi',
          refusal: null,
          reasoning: [thought],
          toolCalls: [],
          finish: 'stop',
          rawFinish: null,
        },
      ],
    },
    original: null,
    fallbackId: 'own',
    createdAtSeconds: 1,
    meta: null,
  });
  const encoder = client.streamEncoder({
    includeUsage: true,
    fallbackId: 'own',
    createdAtSeconds: 1,
    meta: null,
  });
  const stream = encoder
    .push({
      frame: null,
      events: [
        { type: 'start', id: 'x', model: maker },
        { type: 'reasoning', choice: 0, text },
        { type: 'reasoning_end', choice: 0, ...end },
        { type: 'end' },
      ],
    })
    .toString();
  const [block] = JSON.parse(whole.toString()).content;
  expect(stream).toContain(JSON.stringify(block.signature));
  return block;
}

function returned(block: Json, upstream: UpstreamDialect, model = maker) {
  const messages = [
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: [block, { type: 'text', text: 'hi' }] },
    { role: 'user', content: 'and now?' },
  ];
  const call = callIn(client, JSON.stringify({ max_tokens: 9, messages }), { model });
  return sent(upstream, call).at('messages.1.content');
}

it('what Claude on Bedrock signed goes back to it as it was', () => {
  const block = told(ofBedrock);
  expect(block).toMatchObject({ type: 'thinking', thinking: 'hm' });
  expect(returned(block, bedrockConverseUpstream)).toEqual([
    { reasoningContent: { reasoningText: { text: 'hm', signature: 'SIG' } } },
    { text: 'hi' },
  ]);
});

it('it goes to no other model and no other service', () => {
  const block = told(ofBedrock);
  const other = 'us.anthropic.claude-opus-4-1-20250805-v1:0';
  expect(returned(block, bedrockConverseUpstream, other)).toEqual([{ text: 'hi' }]);
  expect(returned(block, anthropicMessagesUpstream, 'claude-sonnet-4-5')).toEqual([
    { type: 'text', text: 'hi' },
  ]);
});

it('a thought whose text was changed, or whose signature was cut, does not go back', () => {
  const block = told(ofBedrock);
  const cut = { ...block, signature: String(block['signature']).slice(0, 12) };
  for (const changed of [{ ...block, thinking: 'hmm' }, cut])
    expect(returned(changed, bedrockConverseUpstream)).toEqual([{ text: 'hi' }]);
});

it('what only one account can read is not given out to be brought back', () => {
  const block = told({ ...ofBedrock, dialect: 'openai-responses', isBoundToAccount: true });
  expect(block['signature']).toBe('tgu_not-signed');
});
