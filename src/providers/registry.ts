/** The provider kinds by name: a new one is a file beside this and a line here. */
import { anthropicKind } from './anthropic.ts';
import { geminiKind } from './gemini.ts';
import { openaiKind } from './openai.ts';
import { openaiCompatibleKind } from './openai-compatible.ts';
import type { ProviderKind } from './provider-kind.ts';

/** In the order in which default tiers ask them. */
export const providerKinds: readonly [ProviderKind, ...ProviderKind[]] = [
  anthropicKind,
  openaiKind,
  geminiKind,
  openaiCompatibleKind,
];

/** The kind of this name, or null. */
export function providerKind(name: string): ProviderKind | null {
  return providerKinds.find((kind) => kind.name === name) ?? null;
}
