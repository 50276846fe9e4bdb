/** Data-plane routes that are no model call: the tiers as models, and a key's own row. */
import type { Hono } from 'hono';
import type { ClientDialect, ListedModel, ModelListing } from '../dialects/dialect.ts';
import type { Snapshot, Tier } from '../routing/snapshot.ts';
import type { ServedQuery } from '../served-by/served-query.ts';
import type { Refusal } from './data/edge-refusal.ts';
import type { EdgeContext, EdgeEnvironment } from './edge-context.ts';

export type ClientRoutesOptions = {
  readonly dialects: readonly ClientDialect[];
  readonly snapshot: () => Snapshot;
  readonly served: ServedQuery;
  /** The key's id (null = none is asked for), or the answer that refuses it. */
  readonly admit: (c: EdgeContext) => { readonly keyId: string | null } | Response;
  readonly refuse: (c: EdgeContext, refusal: Refusal) => Response;
};

export function mountClientRoutes(app: Hono<EdgeEnvironment>, options: ClientRoutesOptions): void {
  for (const base of ['/v1', '/v1/tiers/:tier', '/v1/tiers/:tier/v1']) {
    mountLists(app, base, (c) => listingFor(c, options), options);
  }
  for (const { modelListing } of options.dialects) {
    if (modelListing?.version === undefined) continue;
    for (const base of ['', '/v1/tiers/:tier']) {
      mountLists(app, `${base}/${modelListing.version}`, () => modelListing, options);
    }
  }
  app.get('/v1/requests/:id', (c) => {
    const admission = options.admit(c);
    if (admission instanceof Response) return admission;
    const row = options.served.ownRow({ id: c.req.param('id'), keyId: admission.keyId });
    return row === null ? options.refuse(c, unknownRequest) : c.json(row);
  });
}

function mountLists(
  app: Hono<EdgeEnvironment>,
  base: string,
  listingOf: (c: EdgeContext) => ModelListing,
  options: ClientRoutesOptions,
): void {
  const { snapshot } = options;
  const inPath = base.includes(':tier');
  app.get(`${base}/models`, (c) => {
    const admission = options.admit(c);
    if (admission instanceof Response) return admission;
    const config = snapshot();
    const named = inPath ? config.resolveTier(c.req.param('tier') ?? '') : null;
    if (inPath && named === null) return options.refuse(c, unknownTier(config));
    const tiers = named === null ? [...config.tiers.values()] : [named];
    return c.json(listingOf(c).list(tiers.map((tier) => asModel(tier, config))));
  });
  app.get(`${base}/models/:model{.+}`, (c) => {
    const admission = options.admit(c);
    if (admission instanceof Response) return admission;
    const config = snapshot();
    // With the tier in the path, whatever model the SDK names is that tier.
    const tier = config.resolveTier(c.req.param(inPath ? 'tier' : 'model') ?? '');
    if (tier === null) return options.refuse(c, unknownTier(config));
    return c.json(listingOf(c).one(asModel(tier, config)));
  });
}

function listingFor(c: EdgeContext, { dialects }: ClientRoutesOptions): ModelListing {
  const { headers } = c.env.incoming;
  const own = dialects.find(({ modelListing }) => modelListing?.isAskedFor(headers) === true);
  return own?.modelListing ?? usualListing;
}

/** The form that most SDKs read. */
const usualListing: ModelListing = {
  isAskedFor: () => true,
  list: (models) => ({ object: 'list', data: models.map(usualModel) }),
  one: usualModel,
};

function usualModel({ name, description, createdAtSeconds }: ListedModel) {
  return {
    id: name,
    object: 'model',
    created: createdAtSeconds,
    owned_by: 'tiergate',
    ...(description === '' ? {} : { description }),
  };
}

function asModel({ name, description, targets }: Tier, { createdAtMs }: Snapshot): ListedModel {
  const outputs = targets.map(({ provider, model }) => provider.modelFacts(model).maxOutputTokens);
  return {
    name,
    description,
    createdAtSeconds: Math.floor(createdAtMs / 1000),
    inputTokensMax: largest(targets.map(({ contextWindow }) => contextWindow)),
    outputTokensMax: largest(outputs),
  };
}

function largest(sizes: readonly (number | null)[]): number | null {
  const known = sizes.filter((size) => size !== null);
  return known.length === 0 ? null : Math.max(...known);
}

function unknownTier(config: Snapshot): Refusal {
  return {
    status: 404,
    failureClass: 'unknown_tier',
    message: `There is no tier of that name. Known tiers: ${[...config.tiers.keys()].join(', ')}.`,
  };
}

const unknownRequest: Refusal = {
  status: 404,
  failureClass: 'invalid_request',
  message: 'No request of this key has that id.',
};
