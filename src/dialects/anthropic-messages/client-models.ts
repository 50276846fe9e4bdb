/** The tiers as this dialect's SDKs list models. */
import type { JsonObject } from '../../base/json.ts';
import type { ListedModel, ModelListing } from '../dialect.ts';

export const modelListing: ModelListing = {
  // Every SDK of the dialect sends it, and no other.
  isAskedFor: (headers) => headers['anthropic-version'] !== undefined,
  list: (models) => ({
    data: models.map(modelOf),
    has_more: false,
    first_id: models[0]?.name ?? null,
    last_id: models.at(-1)?.name ?? null,
  }),
  one: modelOf,
};

function modelOf({ name, createdAtSeconds }: ListedModel): JsonObject {
  return {
    type: 'model',
    id: name,
    display_name: name,
    created_at: new Date(createdAtSeconds * 1000).toISOString(),
  };
}
