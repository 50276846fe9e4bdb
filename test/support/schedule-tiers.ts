/** From the plans of a schedule to the tiers and providers that the engine takes. */
import type { Provider } from '../../src/providers/provider.ts';
import type { Target, Tier } from '../../src/routing/snapshot.ts';
import { instruction } from './broken-streams.ts';
import { plainProvider, plainTarget, plainTier } from './engine-harness.ts';
import { plainDialect } from './plain-dialect.ts';
import { type ProviderPlan, type Schedule, type TierPlan, targetId } from './schedule-model.ts';

export type TierBook = {
  /** The tier as of `atMs`; throws for a name that the schedule does not hold. */
  readonly tier: (name: string, atMs: number) => Tier;
};

/** One provider object for all versions: a new config version does not make a provider another one. */
export function tierBookOf(schedule: Schedule): TierBook {
  const providers = new Map(schedule.providers.map((plan) => [plan.name, providerOf(plan)]));
  const versions = schedule.versions.map(({ atMs, tiers }) => ({
    atMs,
    tiers: new Map(tiers.map((plan) => [plan.name, tierOf(plan, providers)])),
  }));
  return {
    tier: (name, atMs) => {
      const tier = versions.findLast((version) => version.atMs <= atMs)?.tiers.get(name);
      if (tier === undefined) throw new Error(`no tier ${name} at ${atMs}`);
      return tier;
    },
  };
}

function providerOf(plan: ProviderPlan): Provider {
  return plainProvider(plan.name, {
    keys: plan.keys.map(({ alias, isResolved }) => ({
      alias,
      resolve: () => (isResolved ? alias : null),
    })),
    dialect: {
      ...plainDialect,
      writingTools: /^shell$/,
      asksAgainWhenEmpty: plan.asksAgainWhenEmpty,
    },
    allowMissingFinish: plan.allowMissingFinish,
    urlFor: ({ model }) => `http://${plan.name}/${model}`,
    headersFor: ({ secret, isStream }) => ({
      accept: isStream ? 'text/event-stream' : 'application/json',
      ...(secret === null ? {} : { authorization: secret }),
    }),
  });
}

function tierOf(plan: TierPlan, providers: ReadonlyMap<string, Provider>): Tier {
  const targets = plan.targets.map((target): Target => {
    const provider = providers.get(target.provider);
    if (provider === undefined) throw new Error(`no provider ${target.provider}`);
    const { model, contextWindow, acceptsPrefill, clocks, concurrency } = target;
    return plainTarget(target.provider, {
      id: targetId(target),
      provider,
      model,
      contextWindow,
      acceptsPrefill,
      ...(target.hasInstruction ? { instruction } : {}),
      clocks,
      concurrency,
    });
  });
  return plainTier(targets, { name: plan.name, ...plan.policies });
}
