/** Log probabilities between the dialects that have them, and which tokens are told of which text. */
import { describe, expect, it } from 'vitest';
import { ReplyCollector } from '../../../src/chat/reply.ts';
import type { ChatEvent } from '../../../src/chat/stream-event.ts';
import { anthropicMessagesClient } from '../../../src/dialects/anthropic-messages/client.ts';
import type { UpstreamDialect } from '../../../src/dialects/dialect.ts';
import { geminiUpstream } from '../../../src/dialects/gemini/upstream.ts';
import { openaiChatUpstream } from '../../../src/dialects/openai-chat/upstream.ts';
import { openaiResponsesUpstream } from '../../../src/dialects/openai-responses/upstream.ts';
import { clientDialects } from '../../../src/dialects/registry.ts';
import { TextLogprobs } from '../../../src/dialects/token-logprobs.ts';
import { asking, likely, replyOf, written } from '../../support/token-samples.ts';
import { callOf, type Json, owning, sent } from './upstream-calls.ts';

const hi = { messages: [{ role: 'user', content: 'hi' }] };

describe('asked of', () => {
  it.each<readonly [string, UpstreamDialect, Json, Json]>([
    [
      'gemini',
      geminiUpstream,
      { logprobs: true, top_logprobs: 5 },
      { responseLogprobs: true, logprobs: 5 },
    ],
    [
      'gemini, the chosen ones alone',
      geminiUpstream,
      { logprobs: true, top_logprobs: 0 },
      { responseLogprobs: true },
    ],
    ['gemini, when not asked for', geminiUpstream, { logprobs: false }, {}],
  ])('%s', (_name, dialect, asked, config) => {
    const { at, dropped } = sent(dialect, callOf({ ...hi, ...asked }));
    expect(at('generationConfig') ?? {}).toEqual(config);
    expect(dropped).toEqual([]);
  });

  it('gemini: how many, without any being asked for, is named as left out', () => {
    const { at, dropped } = sent(geminiUpstream, owning(callOf(hi), { top_logprobs: 2 }));
    expect(at('generationConfig')).toBeUndefined();
    expect(dropped).toEqual(['top_logprobs']);
  });

  it('responses', () => {
    const { body } = sent(
      openaiResponsesUpstream,
      callOf({ ...hi, logprobs: true, top_logprobs: 2 }),
    );
    expect(body).toMatchObject({ include: ['message.output_text.logprobs'], top_logprobs: 2 });
  });
});

const openaiTokens = [
  {
    token: 'Hel',
    logprob: -0.5,
    bytes: [72, 101, 108],
    top_logprobs: [{ token: 'Yo', logprob: -1, bytes: null }],
  },
  { token: 'lo', logprob: 0, bytes: [108, 111], top_logprobs: [] },
];
const geminiTokens = {
  chosenCandidates: [
    { token: 'Hel', tokenId: 7, logProbability: -0.5 },
    { token: 'lo', tokenId: 8 },
  ],
  topCandidates: [{ candidates: [{ token: 'Yo', logProbability: -1 }] }, {}],
};
const told = [
  { ...likely('Hel', -0.5), top: [{ token: 'Yo', logprob: -1, bytes: null }] },
  { ...likely('lo', 0), top: [] },
];

function collected(dialect: UpstreamDialect, body: object) {
  const collector = new ReplyCollector();
  for (const { events } of dialect.decodeReply(Buffer.from(JSON.stringify(body)))) {
    for (const event of events) collector.push(event);
  }
  return collector.reply().choices;
}

function streamed(dialect: UpstreamDialect, documents: readonly object[]): readonly ChatEvent[] {
  const decoder = dialect.streamDecoder({ eventBytesMax: 100_000 });
  const bytes = documents.map((document) => `data: ${JSON.stringify(document)}\n\n`).join('');
  return [...decoder.push(Buffer.from(bytes)), ...decoder.end()].flatMap(({ events }) => events);
}

describe('read of a whole answer', () => {
  it('chat, of each choice its own, of text and refusal', () => {
    const message = (content: string | null, refusal: string | null) => ({
      role: 'assistant',
      content,
      refusal,
    });
    const choices = collected(openaiChatUpstream, {
      id: 'c',
      model: 'm',
      choices: [
        {
          index: 0,
          message: message('Hello', null),
          logprobs: { content: openaiTokens, refusal: null },
          finish_reason: 'stop',
        },
        {
          index: 1,
          message: message(null, 'Hello'),
          logprobs: { content: null, refusal: openaiTokens },
          finish_reason: 'stop',
        },
      ],
    });
    expect(choices[0]).toMatchObject({ text: 'Hello', logprobs: told });
    expect(choices[0]).not.toHaveProperty('refusalLogprobs');
    expect(choices[1]).toMatchObject({ refusal: 'Hello', refusalLogprobs: told });
  });

  it('responses', () => {
    const part = { type: 'output_text', text: 'Hello', annotations: [], logprobs: openaiTokens };
    const output = [{ type: 'message', id: 'msg_1', role: 'assistant', content: [part] }];
    const [choice] = collected(openaiResponsesUpstream, { id: 'r', status: 'completed', output });
    expect(choice).toMatchObject({ text: 'Hello', logprobs: told });
  });

  it('gemini, where what is left out is certain', () => {
    const [choice] = collected(geminiUpstream, {
      candidates: [
        {
          content: { parts: [{ text: 'Hello' }] },
          finishReason: 'STOP',
          logprobsResult: geminiTokens,
        },
      ],
    });
    const tops = [{ token: 'Yo', logprob: -1, bytes: [89, 111] }];
    expect(choice).toMatchObject({ logprobs: [{ ...told[0], top: tops }, told[1]] });
  });

  it('gemini, where a token is a part of a character and has no bytes', () => {
    const [choice] = collected(geminiUpstream, {
      candidates: [
        {
          content: { parts: [{ text: '🌍' }] },
          finishReason: 'STOP',
          logprobsResult: {
            chosenCandidates: [
              { token: '\ufffd', logProbability: -1 },
              { token: '\ufffd', logProbability: -2 },
            ],
          },
        },
      ],
    });
    expect(choice?.logprobs?.map(({ bytes }) => bytes)).toEqual([null, null]);
  });
});

describe('read of a stream', () => {
  const chunk = (delta: object, content: unknown, finish: string | null = null) => ({
    id: 'c',
    model: 'm',
    choices: [
      { index: 0, delta, logprobs: content === null ? null : { content }, finish_reason: finish },
    ],
  });

  it('chat: each chunk its own, also when the same words come again', () => {
    const events = streamed(openaiChatUpstream, [
      chunk({ content: 'Hello' }, null),
      chunk({ content: 'Hello' }, openaiTokens),
      chunk({ content: 'Hello' }, openaiTokens),
      chunk({ content: 'Hello' }, null),
    ]);
    const texts = events.filter((event) => event.type === 'text');
    expect(texts.map(({ logprobs }) => logprobs)).toEqual([undefined, told, told, undefined]);
  });

  it('chat: tokens of a character that is not whole yet come before it', () => {
    const piece = (byte: number) => ({
      token: '\ufffd',
      logprob: -1,
      bytes: [byte],
      top_logprobs: [],
    });
    const events = streamed(openaiChatUpstream, [
      chunk({ content: '' }, [piece(0xc3)]),
      chunk({ content: 'ü' }, [piece(0xbc)]),
    ]);
    const collector = new ReplyCollector();
    for (const event of events) collector.push(event);
    const [choice] = collector.reply().choices;
    expect(choice?.text).toBe('ü');
    expect(choice?.logprobs?.map(({ bytes }) => bytes)).toEqual([[0xc3], [0xbc]]);
  });

  it('chat: tokens of thoughts, calls and the mark that ends the turn are told of no text', () => {
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'f', arguments: '{}' },
    };
    const events = streamed(openaiChatUpstream, [
      chunk({ reasoning_content: 'Hello' }, openaiTokens),
      chunk({ content: 'Hello' }, openaiTokens),
      chunk({ tool_calls: [call] }, openaiTokens),
      chunk({ content: '' }, openaiTokens, 'tool_calls'),
    ]);
    const texts = events.filter((event) => event.type === 'text');
    expect(texts).toEqual([{ type: 'text', choice: 0, text: 'Hello', logprobs: told }]);
  });

  it('chat: tokens of a thought between tags are told of no text, wherever it is cut', () => {
    const tokens = ['<th', 'ink>', 'Answer', '</think', '>', '\n\n', 'Ans', 'wer'];
    const written = (token: string) => ({ token, logprob: -1, top_logprobs: [] });
    const events = streamed(openaiChatUpstream, [
      ...tokens.map((token) => chunk({ content: token }, [written(token)])),
      chunk({}, null, 'stop'),
    ]);
    const texts = events.filter((event) => event.type === 'text');
    const told = texts.map(({ text, logprobs }) => [text, logprobs?.map(({ token }) => token)]);
    expect(told).toEqual([
      ['Ans', ['Ans']],
      ['wer', ['wer']],
    ]);
  });

  it('chat: what was held until it was known to be text has its tokens', () => {
    const events = streamed(openaiChatUpstream, [
      chunk({ content: '<th' }, [{ token: '<th', logprob: -1 }]),
      chunk({ content: '' }, [{ token: 'is', logprob: -2 }], 'stop'),
    ]);
    const texts = events.filter((event) => event.type === 'text');
    expect(texts).toEqual([
      { type: 'text', choice: 0, text: '<th', logprobs: [written('<th', -1)] },
    ]);
  });

  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const [first, second] = openaiTokens;

  it('responses: pieces without bytes, and what only the full form tells', () => {
    const { bytes: _, ...bare } = first ?? {};
    const events = streamed(openaiResponsesUpstream, [
      { type: 'response.created', response: { id: 'r', model: 'm' } },
      { type: 'response.output_text.delta', ...at, delta: 'Hel', logprobs: [bare] },
      { type: 'response.output_text.done', ...at, text: 'Hello', logprobs: [first, second] },
      {
        type: 'response.content_part.done',
        ...at,
        part: { type: 'output_text', text: 'Hello', annotations: [], logprobs: [first, second] },
      },
    ]);
    const texts = events.filter((event) => event.type === 'text');
    expect(texts).toEqual([
      { type: 'text', choice: 0, text: 'Hel', logprobs: [told[0]] },
      { type: 'text', choice: 0, text: 'lo', logprobs: [told[1]] },
    ]);
  });

  it('gemini: of each chunk its own', () => {
    const [one, two] = geminiTokens.chosenCandidates;
    const said = (text: string, chosen: unknown) => ({
      candidates: [
        { content: { parts: [{ text }] }, logprobsResult: { chosenCandidates: [chosen] } },
      ],
    });
    const events = streamed(geminiUpstream, [said('Hel', one), said('lo', two)]);
    const texts = events.filter((event) => event.type === 'text');
    expect(texts.map(({ logprobs }) => logprobs)).toEqual([
      [written('Hel', -0.5)],
      [written('lo', 0)],
    ]);
  });
});

describe('tokens belong to the text that they spell', () => {
  const said = (...texts: readonly string[]): ChatEvent[] =>
    texts.map((text) => ({ type: 'text', choice: 0, text }));
  const tokensOf = (...texts: readonly string[]) => texts.map((text) => written(text, -1));
  it.each<readonly [string, readonly string[], readonly string[], readonly (readonly string[])[]]>([
    ['all of it', ['ab'], ['a', 'b'], [['a', 'b']]],
    ['a thought before it, that holds its words too', ['4'], ['2+2=', '4', ' so ', '4'], [['4']]],
    ['a mark behind it', ['ab'], ['a', 'b', '<|end|>'], [['a', 'b']]],
    ['blanks at its ends that the service took off', ['ab'], ['\n\n', ' a', 'b '], [[' a', 'b ']]],
    [
      'two texts with a call between them',
      ['ab', 'c'],
      ['a', 'b', 'f()', 'c'],
      [['a', 'b'], ['c']],
    ],
    ['a token that stands in both', ['a', 'b'], ['ab'], [[], ['ab']]],
    ['tokens in a spelling of their own', ['a b'], ['a', 'Ġb'], [['a', 'Ġb']]],
    ['the same of two texts', ['a x', 'b y'], ['aĠx', 'bĠy'], [[], ['aĠx', 'bĠy']]],
  ])('%s', (_name, texts, tokens, expected) => {
    const events = said(...texts);
    new TextLogprobs('text').give(events, 0, tokensOf(...tokens));
    const given = events.map((event) => (event.type === 'text' ? (event.logprobs ?? []) : []));
    expect(given.map((some) => some.map(({ token }) => token))).toEqual(expected);
  });

  it('without a text there is none to give them to', () => {
    const events: ChatEvent[] = [{ type: 'reasoning', choice: 0, text: 'a' }];
    const logprobs = new TextLogprobs('text');
    logprobs.give(events, 0, tokensOf('a'));
    expect(events).toEqual([{ type: 'reasoning', choice: 0, text: 'a' }]);
  });
});

const answer = replyOf([
  {
    text: 'Hello',
    logprobs: [written('Hel', -0.5, [likely('Yo', -1), likely('Ho', -2)]), written('lo', 0)],
  },
]);
const clients = ['openai-chat', 'openai-responses', 'gemini'];

function whole(name: string, top: number | null, reply = answer): Json {
  const dialect = clientDialects.get(name);
  if (dialect === undefined) throw new Error(`nobody speaks ${name}`);
  const request = asking(top, name);
  const body = dialect.encodeReply({
    reply,
    original: null,
    fallbackId: 'f',
    createdAtSeconds: 1,
    meta: null,
    request,
  });
  return JSON.parse(body.toString());
}

function stream(name: string, top: number | null, events: readonly ChatEvent[]): string {
  const dialect = clientDialects.get(name);
  if (dialect === undefined) throw new Error(`nobody speaks ${name}`);
  const encoder = dialect.streamEncoder({
    includeUsage: false,
    fallbackId: 'f',
    createdAtSeconds: 1,
    meta: null,
    request: asking(top, name),
  });
  return events.map((event) => encoder.push({ events: [event], frame: null })).join('');
}

const spoken: readonly ChatEvent[] = [
  { type: 'start', id: 'answer-1', model: 'model-1' },
  { type: 'text', choice: 0, text: 'Hello', logprobs: answer.choices[0]?.logprobs ?? [] },
  { type: 'finish', choice: 0, reason: 'stop', raw: 'stop' },
  { type: 'end' },
];

describe('told', () => {
  it.each(clients)(
    'to a client of %s that asked, with as many alternatives as it asked for',
    (name) => {
      for (const told of [JSON.stringify(whole(name, 1)), stream(name, 1, spoken)]) {
        expect(told).toContain('-0.5');
        expect(told).toContain('"Yo"');
        expect(told).not.toContain('"Ho"');
      }
    },
  );

  it.each(clients)('to no client of %s that did not ask', (name) => {
    for (const told of [JSON.stringify(whole(name, null)), stream(name, null, spoken)]) {
      expect(told).toContain('Hello');
      expect(told).not.toContain('-0.5');
    }
  });

  it('to clients that know no such thing in no form', () => {
    const encoder = anthropicMessagesClient.streamEncoder({
      includeUsage: false,
      fallbackId: 'f',
      createdAtSeconds: 1,
      meta: null,
    });
    const bytes = spoken.map((event) => encoder.push({ events: [event], frame: null })).join('');
    expect(bytes).toContain('Hello');
    expect(bytes).not.toContain('-0.5');
  });

  it('in chat, a refusal apart from the text', () => {
    const reply = replyOf([{ refusal: 'No', refusalLogprobs: [written('No', -3)] }]);
    expect(whole('openai-chat', 0, reply)).toMatchObject({
      choices: [
        { logprobs: { content: null, refusal: [{ token: 'No', logprob: -3, top_logprobs: [] }] } },
      ],
    });
    const refused = stream('openai-chat', 0, [
      { type: 'refusal', choice: 0, text: 'No', logprobs: [written('No', -3)] },
    ]);
    expect(refused).toContain('"logprobs":{"content":null,"refusal":[{"token":"No"');
  });

  it('in responses, all of them where the text is told in full, and each token with bytes', () => {
    const token = { token: '\ufffd', logprob: -1, bytes: null, top: [] };
    const events = stream('openai-responses', 0, [
      { type: 'start', id: 'r', model: 'm' },
      { type: 'text', choice: 0, text: 'a', logprobs: [written('a', -2)] },
      { type: 'text', choice: 0, text: '', logprobs: [token] },
      { type: 'end' },
    ])
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)));
    const all = [
      { token: 'a', logprob: -2, bytes: [97], top_logprobs: [] },
      { token: '\ufffd', logprob: -1, bytes: [0xef, 0xbf, 0xbd], top_logprobs: [] },
    ];
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas.flatMap(({ logprobs }) => logprobs)).toEqual(all);
    expect(events.find(({ type }) => type === 'response.output_text.done').logprobs).toEqual(all);
    expect(events.find(({ type }) => type === 'response.content_part.done').part.logprobs).toEqual(
      all,
    );
    expect(events.at(-1).response.output[0].content[0].logprobs).toEqual(all);
  });

  it('in gemini, with the average of all beside the finish', () => {
    const [candidate] = whole('gemini', 0)['candidates'] as readonly Json[];
    expect(candidate).toMatchObject({
      avgLogprobs: -0.25,
      logprobsResult: {
        chosenCandidates: [
          { token: 'Hel', logProbability: -0.5 },
          { token: 'lo', logProbability: 0 },
        ],
      },
    });
    expect(candidate?.['logprobsResult']).not.toHaveProperty('topCandidates');
    expect(stream('gemini', 0, spoken)).toMatch(
      /"finishReason":"STOP","index":0,"avgLogprobs":-0\.25/,
    );
  });
});

it('an answer without a word for what was asked says so by null, or not at all', () => {
  const reply = replyOf([{ text: 'Hello' }]);
  expect(whole('openai-chat', 2, reply)).toMatchObject({ choices: [{ logprobs: null }] });
  expect(whole('openai-responses', 2, reply)).toMatchObject({
    output: [{ content: [{ logprobs: [] }] }],
  });
  expect(JSON.stringify(whole('gemini', 2, reply))).not.toMatch(/logprobs/i);
});
