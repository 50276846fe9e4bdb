/** Data-plane routes that are no model call: the tiers as models, and a key's own row. */
import type { Hono } from 'hono';
import type { Snapshot, Tier } from '../routing/snapshot.ts';
import type { ServedQuery } from '../served-by/served-query.ts';
import type { Refusal } from './data/edge-refusal.ts';
import type { EdgeContext, EdgeEnvironment } from './edge-context.ts';

export type ClientRoutesOptions = {
  readonly snapshot: () => Snapshot;
  readonly served: ServedQuery;
  /** The key's id (null = none is asked for), or the answer that refuses it. */
  readonly admit: (c: EdgeContext) => { readonly keyId: string | null } | Response;
  readonly refuse: (c: EdgeContext, refusal: Refusal) => Response;
};

export function mountClientRoutes(app: Hono<EdgeEnvironment>, options: ClientRoutesOptions): void {
  const { snapshot } = options;
  for (const base of ['/v1', '/v1/tiers/:tier', '/v1/tiers/:tier/v1']) {
    const inPath = base !== '/v1';
    app.get(`${base}/models`, (c) => {
      const admission = options.admit(c);
      if (admission instanceof Response) return admission;
      const config = snapshot();
      const named = inPath ? config.resolveTier(c.req.param('tier') ?? '') : null;
      if (inPath && named === null) return options.refuse(c, unknownTier(config));
      const tiers = named === null ? [...config.tiers.values()] : [named];
      return c.json({ object: 'list', data: tiers.map((tier) => asModel(tier, config)) });
    });
    app.get(`${base}/models/:model`, (c) => {
      const admission = options.admit(c);
      if (admission instanceof Response) return admission;
      const config = snapshot();
      // With the tier in the path, whatever model the SDK names is that tier.
      const tier = config.resolveTier(c.req.param(inPath ? 'tier' : 'model') ?? '');
      return tier === null ? options.refuse(c, unknownTier(config)) : c.json(asModel(tier, config));
    });
  }
  app.get('/v1/requests/:id', (c) => {
    const admission = options.admit(c);
    if (admission instanceof Response) return admission;
    const row = options.served.ownRow({ id: c.req.param('id'), keyId: admission.keyId });
    return row === null ? options.refuse(c, unknownRequest) : c.json(row);
  });
}

function asModel(tier: Tier, config: Snapshot) {
  return {
    id: tier.name,
    object: 'model',
    created: Math.floor(config.createdAtMs / 1000),
    owned_by: 'tiergate',
    ...(tier.description === '' ? {} : { description: tier.description }),
  };
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
