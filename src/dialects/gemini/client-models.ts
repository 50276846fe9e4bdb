/** The tiers as this dialect's SDKs list models. */
import type { JsonObject } from '../../base/json.ts';
import type { ListedModel, ModelListing } from '../dialect.ts';

export const modelListing: ModelListing = {
  version: 'v1beta',
  // SDKs of the first API version meet other dialects at its path.
  isAskedFor: (headers) =>
    headers['x-goog-api-client'] !== undefined || headers['x-goog-api-key'] !== undefined,
  list: (models) => ({ models: models.map(modelOf) }),
  one: modelOf,
};

function modelOf(model: ListedModel): JsonObject {
  const { name, description, inputTokensMax, outputTokensMax } = model;
  return {
    name: `models/${name}`,
    version: '1',
    displayName: name,
    ...(description === '' ? {} : { description }),
    ...(inputTokensMax === null ? {} : { inputTokenLimit: inputTokensMax }),
    ...(outputTokensMax === null ? {} : { outputTokenLimit: outputTokensMax }),
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  };
}
