/** Log probabilities as the official SDKs read them, whichever dialect the target speaks. */
import { GoogleGenAI, type LogprobsResult } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writtenTokens } from '../../src/simulator/likely-tokens.ts';
import {
  type ProviderName,
  type RunningGateway,
  startGateway,
} from '../support/running-gateway.ts';

/** Each speaks another dialect; those that come later are asked when those before refuse. */
const tiers: { readonly [tier: string]: readonly (readonly [ProviderName, string])[] } = {
  chat: [['p1', 'gpt-4.1']],
  responses: [['p4', 'gpt-4.1']],
  gemini: [['p3', 'gemini-2.5-flash']],
  // Nothing is known of its first model, which refuses them.
  refusing: [
    ['p3', 'gemini-3-unheard-of'],
    ['p1', 'gpt-4.1'],
  ],
  known: [['p3', 'gemini-3.5-flash']],
  // Its settings ask for what no client wants.
  eager: [['p3', 'gemini-2.5-flash']],
};
const params = { eager: { logprobs: true, top_logprobs: 2 } };

let gateway: RunningGateway;
let openai: OpenAI;
let genai: GoogleGenAI;

beforeAll(async () => {
  const entries = Object.entries(tiers).map(([tier, targets]) => {
    const own = tier === 'eager' ? { params: params.eager } : {};
    return [tier, { targets: targets.map(([provider, model]) => ({ provider, model, ...own })) }];
  });
  gateway = await startGateway({ document: { tiers: Object.fromEntries(entries) } });
  openai = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'any', maxRetries: 0 });
  genai = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: gateway.origin } });
});
afterAll(() => gateway.close());

type Told = {
  readonly text: string;
  readonly tokens: readonly { readonly token: string; readonly logprob: number }[];
  readonly tops: readonly (readonly string[])[];
};

type Token = OpenAI.Chat.Completions.ChatCompletionTokenLogprob;

function toldInChat(choice: OpenAI.Chat.Completions.ChatCompletion.Choice | undefined): Told {
  const content: readonly Token[] = choice?.logprobs?.content ?? [];
  for (const { token, bytes } of content) expect(bytes).toEqual([...Buffer.from(token)]);
  return {
    text: choice?.message.content ?? '',
    tokens: content.map(({ token, logprob }) => ({ token, logprob })),
    tops: content.map(({ top_logprobs }) => top_logprobs.map(({ token }) => token)),
  };
}

async function chatTells(tier: string, isStream: boolean): Promise<Told> {
  const asked = {
    model: tier,
    messages: [{ role: 'user' as const, content: 'hello there 🌍' }],
    logprobs: true,
    top_logprobs: 2,
  };
  const answer = isStream
    ? await openai.chat.completions.stream(asked).finalChatCompletion()
    : await openai.chat.completions.create(asked);
  return toldInChat(answer.choices[0]);
}

async function responsesTell(tier: string, isStream: boolean): Promise<Told> {
  const asked = {
    model: tier,
    store: false,
    input: 'hello there 🌍',
    include: ['message.output_text.logprobs' as const],
    top_logprobs: 2,
  };
  const streamed: string[] = [];
  const stream = isStream ? openai.responses.stream(asked) : null;
  stream?.on('response.output_text.delta', ({ logprobs }) => {
    streamed.push(...(logprobs ?? []).map(({ token }) => token));
  });
  const answer = await (stream?.finalResponse() ?? openai.responses.create(asked));
  const part = answer.output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .find(({ type }) => type === 'output_text');
  const logprobs = part?.type === 'output_text' ? (part.logprobs ?? []) : [];
  if (isStream) expect(streamed).toEqual(logprobs.map(({ token }) => token));
  return {
    text: answer.output_text,
    tokens: logprobs.map(({ token, logprob }) => ({ token, logprob })),
    tops: logprobs.map(({ top_logprobs }) => top_logprobs.map(({ token }) => token)),
  };
}

async function geminiTells(tier: string, isStream: boolean): Promise<Told> {
  const asked = {
    model: tier,
    contents: 'hello there 🌍',
    config: { responseLogprobs: true, logprobs: 2 },
  };
  const answers = isStream
    ? await Array.fromAsync(await genai.models.generateContentStream(asked))
    : [await genai.models.generateContent(asked)];
  const results: readonly LogprobsResult[] = answers.flatMap(
    ({ candidates }) => candidates?.[0]?.logprobsResult ?? [],
  );
  expect(
    answers.at(-1)?.candidates?.[0]?.avgLogprobs ?? answers[0]?.candidates?.[0]?.avgLogprobs,
  ).toBeLessThan(0);
  const chosen = results.flatMap(({ chosenCandidates }) => chosenCandidates ?? []);
  const tops = results.flatMap(({ topCandidates }) => topCandidates ?? []);
  return {
    text: answers.map(({ text }) => text ?? '').join(''),
    tokens: chosen.map(({ token = '', logProbability = 0 }) => ({
      token,
      logprob: logProbability,
    })),
    tops: tops.map(({ candidates }) => (candidates ?? []).map(({ token = '' }) => token)),
  };
}

const clients = [
  ['chat', chatTells],
  ['responses', responsesTell],
  ['genai', geminiTells],
] as const;

describe.each(clients)('asked for by a client of %s', (_client, tell) => {
  describe.each(['chat', 'responses', 'gemini'])('of a target that speaks %s', (tier) => {
    it.each([false, true])('stream %s', async (isStream) => {
      const { text, tokens, tops } = await tell(tier, isStream);
      expect(text).toContain('hello there 🌍');
      const written = writtenTokens(text, 2);
      expect(tokens).toEqual(written.map(({ token, logprob }) => ({ token, logprob })));
      expect(tops).toEqual(written.map(({ top }) => top.map(({ token }) => token)));
    });
  });

  it('of a model that refuses them, another is asked', async () => {
    const { text, tokens } = await tell('refusing', true);
    expect(tokens.map(({ token }) => token).join('')).toBe(text);
    const [row] = await gateway.rows('?limit=1');
    expect(row?.attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'served']);
  });

  it('of a model that is known to have none, the answer says so', async () => {
    await expect(tell('known', false)).rejects.toThrow(/lacks logprobs/);
  });
});

it('each of several choices has its own', async () => {
  const { choices } = await openai.chat.completions.create({
    model: 'gemini',
    messages: [{ role: 'user', content: 'hello there' }],
    logprobs: true,
    n: 2,
  });
  expect(choices).toHaveLength(2);
  for (const { message, logprobs } of choices) {
    expect(logprobs?.content?.map(({ token }) => token).join('')).toBe(message.content);
    expect(logprobs?.content?.every(({ top_logprobs }) => top_logprobs.length === 0)).toBe(true);
  }
});

it('what only a target asked for is told to no client', async () => {
  const body = { messages: [{ role: 'user', content: 'hello there' }] };
  const chat = await gateway.post('/v1/chat/completions', { model: 'eager', ...body });
  const streamed = await gateway.post('/v1/chat/completions', {
    model: 'eager',
    stream: true,
    ...body,
  });
  const responses = await gateway.post('/v1/responses', {
    model: 'eager',
    input: 'hello there',
    store: false,
  });
  const messages = await gateway.post('/v1/messages', { model: 'eager', max_tokens: 99, ...body });
  for (const answer of [chat, streamed, responses, messages]) {
    const text = await answer.text();
    expect(text).toContain('there');
    expect(text).not.toContain('"token":');
  }
});
