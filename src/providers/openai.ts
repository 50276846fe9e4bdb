/** OpenAI's Chat Completions API. Model facts: developers.openai.com, model pages and deprecations, November 2026. */
import { chatKind } from './chat-kind.ts';
import { factsOf, type ModelTable, unknownModel } from './model-table.ts';
import type { ModelFacts } from './provider.ts';

const chatModel = (contextWindow: number, maxOutputTokens: number): ModelFacts => ({
  contextWindow,
  maxOutputTokens,
  isReasoningModel: false,
  acceptsPrefill: false,
  efforts: [],
  supports: { audio: false },
});

const threeEfforts = ['low', 'medium', 'high'];

/** Think unless told not to, and take neither log probabilities nor sampling fields. */
const reasoningModel = (
  contextWindow: number,
  maxOutputTokens: number,
  efforts: readonly string[] | null = null,
): ModelFacts => {
  const { efforts: _, ...facts } = chatModel(contextWindow, maxOutputTokens);
  return {
    ...facts,
    ...(efforts === null ? {} : { efforts }),
    isReasoningModel: true,
    thinksByDefault: true,
    supports: { audio: false, logprobs: false, stop: false },
  };
};

/** The first ones take stop sequences. */
const firstReasoningModel: ModelFacts = {
  ...reasoningModel(200_000, 100_000, threeEfforts),
  supports: { audio: false, logprobs: false },
};

const from5 = reasoningModel(400_000, 128_000, ['minimal', ...threeEfforts]);

/** 5.1 to 5.4: the default effort is none. */
const thinksWhenAsked = (contextWindow: number, efforts: readonly string[]): ModelFacts => ({
  ...reasoningModel(contextWindow, 128_000, ['none', ...efforts]),
  thinksByDefault: false,
  supports: { audio: false, stop: false },
});
const from52 = (contextWindow: number): ModelFacts =>
  thinksWhenAsked(contextWindow, [...threeEfforts, 'xhigh']);

/** 5.5 and later: a million tokens, and the default effort is medium. */
const millionWindow = reasoningModel(1_050_000, 128_000);

const models: ModelTable = {
  'gpt-3.5-turbo': {
    ...chatModel(16_385, 4_096),
    supports: { audio: false, images: false, json_schema: false },
  },
  'gpt-4': {
    ...chatModel(8_192, 8_192),
    supports: { audio: false, images: false, json_schema: false },
  },
  'gpt-4-turbo': { ...chatModel(128_000, 4_096), supports: { audio: false, json_schema: false } },
  'gpt-4o': chatModel(128_000, 16_384),
  'gpt-4o-mini': chatModel(128_000, 16_384),
  'gpt-4.1': chatModel(1_047_576, 32_768),
  'gpt-4.1-mini': chatModel(1_047_576, 32_768),
  'gpt-4.1-nano': chatModel(1_047_576, 32_768),
  o1: firstReasoningModel,
  o3: reasoningModel(200_000, 100_000, threeEfforts),
  'o3-mini': {
    ...firstReasoningModel,
    supports: { audio: false, logprobs: false, images: false },
  },
  'o4-mini': reasoningModel(200_000, 100_000, threeEfforts),
  'gpt-5': from5,
  'gpt-5-mini': from5,
  'gpt-5-nano': from5,
  'gpt-5.1': thinksWhenAsked(400_000, threeEfforts),
  'gpt-5.2': from52(400_000),
  'gpt-5.4': from52(1_050_000),
  'gpt-5.4-mini': from52(400_000),
  'gpt-5.4-nano': from52(400_000),
  'gpt-5.5': millionWindow,
  'gpt-5.6-sol': millionWindow,
  'gpt-5.6-terra': millionWindow,
  'gpt-5.6-luna': millionWindow,
  'gpt-6-astra': millionWindow,
  'gpt-6-sol': millionWindow,
  'gpt-6-luna': millionWindow,
};

/** The name says that it reasons, nothing else. */
const laterReasoningModel: ModelFacts = {
  ...unknownModel,
  isReasoningModel: true,
  supports: { stop: false },
};

export function openaiModelFacts(model: string): ModelFacts {
  const known = factsOf(models, model);
  if (known !== null) return known;
  const isReasoning = /^(o\d|gpt-[5-9])/.test(model) && !/-chat(-|$)/.test(model);
  return isReasoning ? laterReasoningModel : unknownModel;
}

export const openaiKind = chatKind({
  name: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  keyVariable: 'OPENAI_API_KEY',
  isKeyRequired: true,
  quirks: { stopSequencesMax: 4, toolsMax: 128 },
  passedHeaders: ['openai-beta'],
  takesIdempotencyKey: true,
  modelFacts: openaiModelFacts,
  // On this route 5.6 and later refuse function tools unless their effort is none, and 5.2 to 5.5
  // refuse an effort beside them (the API's own message, 2026): 5.1 is the last that takes both.
  defaultTargets: {
    fast: { model: 'gpt-5.4-mini', params: {} },
    smart: { model: 'gpt-5.4', params: {} },
    reasoning: { model: 'gpt-5.1', params: { reasoning_effort: 'high' } },
  },
});
