/** Any server that speaks the Messages API at a URL of its own; nothing is known about its models. */
import { anthropicKind } from './anthropic.ts';
import { authChoice } from './auth-choice.ts';
import { unknownModel } from './model-table.ts';
import type { ProviderKind } from './provider-kind.ts';

const { field, ...auth } = authChoice('x-api-key');

export const anthropicCompatibleKind: ProviderKind = {
  ...anthropicKind,
  ...auth,
  name: 'anthropic-compatible',
  baseUrl: null,
  keyVariable: null,
  isKeyRequired: false,
  modelFacts: () => unknownModel,
  configShape: { auth: field },
  defaultTargets: null,
};
