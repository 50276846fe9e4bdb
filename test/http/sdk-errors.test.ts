/** What fails is thrown by each official SDK as the exception that it has for the status, whichever dialect the target speaks. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import { ContextOverflowError } from '@langchain/core/errors';
import { ChatOpenAI } from '@langchain/openai';
import { APICallError, generateText, type LanguageModel, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FaultKind } from '../../src/simulator/faults/fault.ts';
import { quickRetry, type RunningGateway, startGateway } from '../support/running-gateway.ts';
import { dialects } from '../support/sdk-samples.ts';

type Asked = {
  readonly origin: string;
  readonly apiKey: string;
  readonly model: string;
  readonly isStream: boolean;
  readonly deadlineMs: number;
};
/** Asks one question and reads the answer to its end. */
type Sdk = (asked: Asked) => Promise<unknown>;

/** Long enough for an answer that breaks off in the middle. */
const question = 'one two three four five six seven eight nine ten eleven twelve';

const headersOf = ({ deadlineMs }: Asked) => ({ 'x-tiergate-deadline-ms': String(deadlineMs) });

const openaiOf = (asked: Asked): OpenAI =>
  new OpenAI({
    baseURL: `${asked.origin}/v1`,
    apiKey: asked.apiKey,
    maxRetries: 0,
    defaultHeaders: headersOf(asked),
  });

async function toTheEnd(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks);
}

/** The `ai` package through one of its providers. */
const aiWith =
  (modelFor: (asked: Asked) => LanguageModel): Sdk =>
  async (asked) => {
    const settings = { model: modelFor(asked), maxRetries: 0, prompt: question };
    if (!asked.isStream) return generateText({ ...settings, headers: headersOf(asked) });
    let thrown: unknown = null;
    const onError = ({ error }: { readonly error: unknown }): void => {
      thrown = error;
    };
    await streamText({ ...settings, headers: headersOf(asked), onError }).consumeStream();
    if (thrown !== null) throw thrown;
    return null;
  };

const sdks: { readonly [name: string]: Sdk } = {
  'openai, chat completions': async (asked) => {
    const body = { model: asked.model, messages: [{ role: 'user' as const, content: question }] };
    const { completions } = openaiOf(asked).chat;
    if (!asked.isStream) return completions.create(body);
    return toTheEnd(await completions.create({ ...body, stream: true }));
  },
  'openai, responses': async (asked) => {
    const body = { model: asked.model, input: question, store: false };
    const { responses } = openaiOf(asked);
    if (!asked.isStream) return responses.create(body);
    return toTheEnd(await responses.create({ ...body, stream: true }));
  },
  '@anthropic-ai/sdk': async (asked) => {
    const { messages } = new Anthropic({
      baseURL: asked.origin,
      apiKey: asked.apiKey,
      maxRetries: 0,
      defaultHeaders: headersOf(asked),
    });
    const hi = { role: 'user' as const, content: question };
    const body = { model: asked.model, max_tokens: 99, messages: [hi] };
    return asked.isStream ? messages.stream(body).finalMessage() : messages.create(body);
  },
  '@google/genai': async (asked) => {
    const { models } = new GoogleGenAI({
      apiKey: asked.apiKey,
      httpOptions: { baseUrl: asked.origin, headers: headersOf(asked) },
    });
    const body = { model: asked.model, contents: question };
    if (!asked.isStream) return models.generateContent(body);
    return toTheEnd(await models.generateContentStream(body));
  },
  '@ai-sdk/openai, chat completions': aiWith(({ origin, apiKey, model }) =>
    createOpenAI({ baseURL: `${origin}/v1`, apiKey }).chat(model),
  ),
  '@ai-sdk/openai, responses': aiWith(({ origin, apiKey, model }) =>
    createOpenAI({ baseURL: `${origin}/v1`, apiKey }).responses(model),
  ),
  '@ai-sdk/anthropic': aiWith(({ origin, apiKey, model }) =>
    createAnthropic({ baseURL: `${origin}/v1`, apiKey })(model),
  ),
  '@ai-sdk/google': aiWith(({ origin, apiKey, model }) =>
    createGoogleGenerativeAI({ baseURL: `${origin}/v1beta`, apiKey })(model),
  ),
  '@langchain/openai': async (asked) => {
    const { origin, apiKey, model } = asked;
    const configuration = { baseURL: `${origin}/v1`, defaultHeaders: headersOf(asked) };
    const chat = new ChatOpenAI({ model, apiKey, maxRetries: 0, configuration });
    return asked.isStream ? toTheEnd(await chat.stream(question)) : chat.invoke(question);
  },
};

/** The class that two of the SDKs have for a status; the others have one for all. */
const classOf = {
  400: { OpenAI: OpenAI.BadRequestError, Anthropic: Anthropic.BadRequestError },
  401: { OpenAI: OpenAI.AuthenticationError, Anthropic: Anthropic.AuthenticationError },
  404: { OpenAI: OpenAI.NotFoundError, Anthropic: Anthropic.NotFoundError },
  429: { OpenAI: OpenAI.RateLimitError, Anthropic: Anthropic.RateLimitError },
  502: { OpenAI: OpenAI.InternalServerError, Anthropic: Anthropic.InternalServerError },
  503: { OpenAI: OpenAI.InternalServerError, Anthropic: Anthropic.InternalServerError },
  504: { OpenAI: OpenAI.InternalServerError, Anthropic: Anthropic.InternalServerError },
} as const;
type Status = keyof typeof classOf;

function expectThrown(name: string, thrown: unknown, status: Status): void {
  if (name.startsWith('@ai-sdk/')) {
    expect(APICallError.isInstance(thrown)).toBe(true);
    expect(thrown).toHaveProperty('statusCode', status);
    return;
  }
  // What LangChain knows for too long a prompt it throws as an error of its own around the SDK's.
  const isWrapped = thrown instanceof ContextOverflowError;
  expect(isWrapped ? thrown.cause : thrown).toHaveProperty('status', status);
  if (name.startsWith('openai')) {
    expect(thrown).toBeInstanceOf(classOf[status].OpenAI);
    expect(thrown).toHaveProperty('requestID', expect.stringMatching(/^[0-9a-f-]{36}$/));
  }
  if (name === '@anthropic-ai/sdk') expect(thrown).toBeInstanceOf(classOf[status].Anthropic);
  if (name === '@google/genai') expect(thrown).toBeInstanceOf(ApiError);
}

type Failure = {
  readonly status: Status;
  readonly fault?: FaultKind;
  readonly asked?: Partial<Asked>;
  readonly isDrained?: boolean;
};

const failures: readonly (readonly [string, Failure])[] = [
  ['a key that is not known', { status: 401, asked: { apiKey: 'sk-not-this-one' } }],
  ['a tier that is not known', { status: 404, asked: { model: 'nope' } }],
  ['a prompt that is blocked', { status: 400, fault: 'content_policy' }],
  ['a prompt that is too long', { status: 400, fault: 'context_length' }],
  ['a limit that lasts', { status: 429, fault: 'rate_limit', asked: { deadlineMs: 300 } }],
  ['errors of the provider', { status: 502, fault: 'server_error' }],
  ['no target that may be asked', { status: 503, isDrained: true }],
  ['silence until the deadline', { status: 504, fault: 'silent', asked: { deadlineMs: 60 } }],
];

const clientKey = 'the-key-of-all-clients';
/** Every question meets the fault itself, not the breaker that it would trip. */
const policies = {
  retry: { attempts: 1, ...quickRetry },
  breaker: { failures: 1000 },
};

describe.each(dialects)('with %s as the only target', (_dialect, provider) => {
  describe.each(failures)('%s', (_name, failure) => {
    let gateway: RunningGateway;
    beforeAll(async () => {
      gateway = await startGateway({ tier: [provider], policies, clientKey });
      if (failure.fault !== undefined) {
        gateway.simulation.control.fault(provider, failure.fault, { retryAfterMs: 400_000 });
      }
      await override(gateway, failure.isDrained === true ? 'drained' : 'forced');
    });
    afterAll(() => gateway.close());

    it.each(Object.entries(sdks))(`is thrown by %s as a ${failure.status}`, async (name, ask) => {
      for (const isStream of [false, true]) {
        const asked = { origin: gateway.origin, apiKey: clientKey, model: 'fast', isStream };
        const thrown = await ask({ ...asked, deadlineMs: 20_000, ...failure.asked }).then(
          () => 'nothing was thrown',
          (error: unknown) => error,
        );
        expectThrown(name, thrown, failure.status);
      }
    });
  });
});

describe.each(dialects)(
  'an answer of %s that breaks off after some of it',
  (_dialect, provider) => {
    let gateway: RunningGateway;
    beforeAll(async () => {
      const stream = { on_interrupt: 'fail_forward', hold_tokens: 1 };
      gateway = await startGateway({ tier: [provider], policies: { ...policies, stream } });
      gateway.simulation.control.fault(provider, 'cut', { afterTokens: 8 });
      await override(gateway, 'forced');
    });
    afterAll(() => gateway.close());

    it.each(Object.entries(sdks))('is thrown by %s, not taken for an end', async (_, ask) => {
      const { origin } = gateway;
      const asked = { origin, apiKey: 'any', model: 'fast', isStream: true, deadlineMs: 20_000 };
      const thrown = await ask(asked).then(
        () => null,
        (error: unknown) => error,
      );
      // The `ai` package hands on what the event says, without making an exception of it.
      expect(thrown).toHaveProperty('message', expect.stringMatching(/broke off.*\(request /));
    });
  },
);

async function override(gateway: RunningGateway, state: string): Promise<void> {
  const status = await (await gateway.admin('/status')).json();
  const { id } = (status as { targets: readonly { readonly id: string }[] }).targets[0] ?? {};
  const answered = await gateway.admin(`/targets/${encodeURIComponent(id ?? '')}/override`, {
    method: 'PUT',
    body: JSON.stringify({ state }),
  });
  expect(answered.status).toBe(200);
}
