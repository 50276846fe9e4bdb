/** The provider kinds by name: a new one is a file beside this and a line here. */
import { anthropicKind } from './anthropic.ts';
import { anthropicCompatibleKind } from './anthropic-compatible.ts';
import { azureOpenaiKind } from './azure-openai.ts';
import { bedrockKind } from './bedrock.ts';
import { deepseekKind } from './deepseek.ts';
import { geminiKind } from './gemini.ts';
import { groqKind } from './groq.ts';
import { mistralKind } from './mistral.ts';
import { ollamaKind } from './ollama.ts';
import { openaiKind } from './openai.ts';
import { openaiCompatibleKind } from './openai-compatible.ts';
import { openaiResponsesKind } from './openai-responses.ts';
import { openrouterKind } from './openrouter.ts';
import type { ProviderKind } from './provider-kind.ts';
import { togetherKind } from './together.ts';
import { vertexAnthropicKind } from './vertex-anthropic.ts';
import { vertexGeminiKind } from './vertex-gemini.ts';
import { vllmKind } from './vllm.ts';
import { xaiKind } from './xai.ts';

/** In the order in which default tiers ask them. */
export const providerKinds: readonly [ProviderKind, ...ProviderKind[]] = [
  anthropicKind,
  openaiKind,
  openaiResponsesKind,
  geminiKind,
  azureOpenaiKind,
  vertexAnthropicKind,
  vertexGeminiKind,
  mistralKind,
  xaiKind,
  deepseekKind,
  groqKind,
  togetherKind,
  openrouterKind,
  ollamaKind,
  vllmKind,
  bedrockKind,
  openaiCompatibleKind,
  anthropicCompatibleKind,
];

/** The kind of this name, or null. */
export function providerKind(name: string): ProviderKind | null {
  return providerKinds.find((kind) => kind.name === name) ?? null;
}
