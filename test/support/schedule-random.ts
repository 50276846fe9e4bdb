/** Schedules by seed: from a quiet day to everything failing at once. */
import { type Random, seededRandom, uniform } from '../../src/base/random.ts';
import type { Jitter } from '../../src/resilience/backoff.ts';
import { below, isChosen, logUniform, pick } from './schedule-draws.ts';
import { randomBreak, randomFault } from './schedule-faults.ts';
import {
  type ConfigVersion,
  type Drain,
  type Phase,
  type Poison,
  type ProviderPlan,
  type RequestPlan,
  type Schedule,
  type TargetPlan,
  type TierPlan,
  type TierPolicies,
  targetId,
} from './schedule-model.ts';
import { restManners } from './schedule-rest.ts';

const sharedBodies = 2;

export function randomSchedule(seed: number): Schedule {
  const random = seededRandom(seed * 2 + 1);
  const endMs = Math.round(logUniform(random, 20_000, 240_000));
  const providers = Array.from({ length: below(random, 4) + 1 }, (_, index) =>
    randomProvider(random, `p${index + 1}`),
  );
  const versions = randomVersions(random, providers, endMs);
  return {
    seed,
    endMs,
    providers,
    phases: randomPhases(random, providers, endMs),
    poisons: isChosen(random, 0.2) ? [randomPoison(random, providers)] : [],
    versions,
    requests: randomRequests(random, versions, endMs),
    // Drawn last: the rest of a schedule is what it was without them.
    drains: isChosen(random, 0.2) ? randomDrains(random, versions, endMs) : [],
  };
}

/** Of different targets. */
function randomDrains(
  random: Random,
  versions: readonly ConfigVersion[],
  endMs: number,
): readonly Drain[] {
  const tiers = versions.flatMap((version) => version.tiers);
  const targets = new Set(tiers.flatMap((tier) => tier.targets.map(targetId)));
  return shuffled(random, [...targets])
    .slice(0, 1 + below(random, 2))
    .map((target) => {
      const fromMs = Math.round(uniform(random, 0, endMs));
      return { target, fromMs, toMs: Math.round(uniform(random, fromMs, endMs)) };
    });
}

function randomProvider(random: Random, name: string): ProviderPlan {
  const keyCount = below(random, 4);
  const fastestMs = logUniform(random, 5, 500);
  const fewest = 1 + below(random, 30);
  return {
    name,
    keys: Array.from({ length: keyCount }, (_, index) => ({
      alias: `${name}-key${index + 1}`,
      // The last key of a pool always resolves, else the provider could never answer.
      isResolved: index === keyCount - 1 || isChosen(random, 0.9),
    })),
    latencyMs: [fastestMs, fastestMs * uniform(random, 1, 4)],
    gapMs: pick(random, [0, 5, 50, 400]),
    tokens: [fewest, fewest + below(random, 30)],
    allowMissingFinish: isChosen(random, 0.1),
    asksAgainWhenEmpty: isChosen(random, 0.3),
    takesPrefill: isChosen(random, 0.7),
    manner: pick(random, ['faithful', 'faithful', null, ...restManners]),
    thinkShare: pick(random, [0, 0, 0.3, 1]),
    toolShare: pick(random, [0, 0, 0.2]),
  };
}

/** Of the bodies that several requests share. */
function randomPoison(random: Random, providers: readonly ProviderPlan[]): Poison {
  const provider = providers[below(random, providers.length)]?.name ?? null;
  return {
    body: `shared${below(random, sharedBodies)}`,
    provider: isChosen(random, 0.3) ? provider : null,
    status: pick(random, [500, 500, 502, 400]),
  };
}

function randomVersions(
  random: Random,
  providers: readonly ProviderPlan[],
  endMs: number,
): readonly ConfigVersion[] {
  const names = isChosen(random, 0.3) ? ['a', 'b'] : ['a'];
  const first = { atMs: 0, tiers: names.map((name) => randomTier(random, name, providers)) };
  const changes = isChosen(random, 0.3) ? 1 + below(random, 3) : 0;
  const later = Array.from({ length: changes }, () => ({
    atMs: Math.round(uniform(random, 1, endMs)),
    tiers: names.map((name) => randomTier(random, name, providers)),
  }));
  return [first, ...later.sort((left, right) => left.atMs - right.atMs)];
}

function randomTier(random: Random, name: string, providers: readonly ProviderPlan[]): TierPlan {
  const targets: TargetPlan[] = [];
  for (const provider of shuffled(random, providers)) {
    if (targets.length > 0 && isChosen(random, 0.15)) continue;
    targets.push(randomTarget(random, provider.name, 'm'));
    const isDoubled = targets.length < 4 && isChosen(random, 0.1);
    if (isDoubled) targets.push(randomTarget(random, provider.name, 'n'));
  }
  return { name, policies: randomPolicies(random), targets: targets.slice(0, 4) };
}

function randomTarget(random: Random, provider: string, model: string): TargetPlan {
  const isShipped = isChosen(random, 0.5);
  return {
    provider,
    model,
    contextWindow: pick(random, [null, null, 8_000, 100_000]),
    acceptsPrefill: isChosen(random, 0.5),
    hasInstruction: isChosen(random, 0.9),
    concurrency: isChosen(random, 0.6)
      ? { minConcurrent: 4, maxConcurrent: 1024, queueMax: 64, queueWaitMs: 2000 }
      : {
          minConcurrent: 1,
          maxConcurrent: pick(random, [1, 2, 4, 16]),
          queueMax: pick(random, [0, 1, 4]),
          queueWaitMs: pick(random, [0, 100, 2000]),
        },
    clocks: isShipped
      ? {
          connectMs: 3000,
          headersMs: 30_000,
          firstContentSoftMs: 10_000,
          firstContentMs: 60_000,
          idleMs: 30_000,
        }
      : {
          connectMs: logUniform(random, 100, 10_000),
          headersMs: logUniform(random, 500, 60_000),
          firstContentSoftMs: logUniform(random, 200, 30_000),
          firstContentMs: logUniform(random, 1000, 120_000),
          idleMs: logUniform(random, 500, 60_000),
        },
  };
}

const deadlines = [1000, 5000, 10_000, 30_000, 120_000, 120_000, 300_000] as const;
const jitters: readonly [Jitter, ...Jitter[]] = [
  'decorrelated',
  'full',
  'equal',
  'proportional',
  'none',
];

function randomPolicies(random: Random): TierPolicies {
  const attempts = isChosen(random, 0.4) ? 4 : 1 + below(random, 6);
  const failures = isChosen(random, 0.6) ? 3 : 1 + below(random, 6);
  const openForMs = isChosen(random, 0.6) ? 5000 : logUniform(random, 200, 20_000);
  return {
    deadlineMs: pick(random, deadlines),
    retry: {
      attempts,
      attemptsTotal: isChosen(random, 0.6) ? 8 : 1 + below(random, 12),
      backoff: {
        jitter: isChosen(random, 0.6) ? 'decorrelated' : pick(random, jitters),
        baseMs: isChosen(random, 0.6) ? 500 : logUniform(random, 10, 5000),
        multiplier: pick(random, [2, 1, 3]),
        capMs: pick(random, [30_000, 5000, 1000]),
      },
      maxWaitMs: pick(random, [10_000, 10_000, 1000, 30_000]),
      hintCeilingMs: pick(random, [60_000, 60_000, 5000]),
      cooldownMaxMs: pick(random, [600_000, 600_000, 30_000]),
      budget: isChosen(random, 0.6)
        ? { ratio: 0.2, minPerSecond: 1, max: 100 }
        : {
            ratio: pick(random, [0, 0.1, 1]),
            minPerSecond: pick(random, [0, 0.1, 5]),
            max: pick(random, [0, 3, 50]),
          },
    },
    breaker: {
      failures,
      windowMs: pick(random, [30_000, 30_000, 5000]),
      failureRate: pick(random, [0.5, 0.5, 0.2, 1]),
      minSpanMs: pick(random, [1000, 1000, 0]),
      idleWindowMs: pick(random, [0, 0, 600_000]),
      openForMs,
      openForMaxMs: openForMs * pick(random, [3, 1, 8]),
    },
    hedge: isChosen(random, 0.7)
      ? { ratio: pick(random, [0.05, 1]), burst: pick(random, [10, 1, 0]) }
      : null,
    failover: {
      onContentPolicy: isChosen(random, 0.3),
      recheckMs: pick(random, [600_000, 30_000]),
      waiters: pick(random, [64, 2]),
    },
    stream: {
      holdTokens: pick(random, [20, 0, 5]),
      holdMaxMs: pick(random, [500, 500, 5000]),
      onInterrupt: pick(random, ['continue', 'continue', 'continue', 'fail_forward']),
      maxContinuations: pick(random, [2, 2, 2, 0, 1, 5]),
      maxDurationMs: pick(random, [600_000, 600_000, 20_000]),
      commitAfterMs: 0,
    },
  };
}

function randomPhases(
  random: Random,
  providers: readonly ProviderPlan[],
  endMs: number,
): readonly Phase[] {
  const phases: Phase[] = [];
  for (const provider of providers) {
    const count = pick(random, [0, 1, 1, 2, 3, 5]);
    for (let index = 0; index < count; index += 1) {
      const from = isChosen(random, 0.2) ? 0 : uniform(random, 0, endMs);
      const to = isChosen(random, 0.2) ? endMs : from + logUniform(random, 500, endMs);
      phases.push(...randomPhase(random, provider, from, Math.min(endMs, to)));
    }
  }
  if (isChosen(random, 0.15)) phases.unshift(...totalOutage(random, providers, endMs));
  if (isChosen(random, 0.2)) phases.push(...brittleDays(random, providers, endMs));
  return phases;
}

/** Streams break everywhere, again and again; whatever else befalls a provider comes first. */
function brittleDays(
  random: Random,
  providers: readonly ProviderPlan[],
  endMs: number,
): readonly Phase[] {
  return providers.flatMap(({ name }) =>
    [0.5, 0.5, 1].map((most) => {
      const share = uniform(random, 0, most);
      return {
        provider: name,
        key: null,
        fromMs: 0,
        toMs: endMs,
        share,
        fault: randomBreak(random),
      };
    }),
  );
}

function randomPhase(
  random: Random,
  provider: ProviderPlan,
  fromMs: number,
  toMs: number,
): readonly Phase[] {
  const alias = provider.keys[below(random, Math.max(1, provider.keys.length))]?.alias ?? null;
  const phase: Phase = {
    provider: provider.name,
    key: isChosen(random, 0.3) ? alias : null,
    fromMs,
    toMs,
    share: pick(random, [1, 1, 1, 0.5, 0.3, 0.1]),
    fault: randomFault(random),
  };
  return isChosen(random, 0.2) ? flapping(random, phase) : [phase];
}

/** On and off again; the number of periods is bounded. */
function flapping(random: Random, phase: Phase): readonly Phase[] {
  const periodMs = Math.max(logUniform(random, 500, 15_000), (phase.toMs - phase.fromMs) / 40);
  const parts: Phase[] = [];
  for (let fromMs = phase.fromMs; fromMs < phase.toMs; fromMs += 2 * periodMs) {
    parts.push({ ...phase, fromMs, toMs: Math.min(phase.toMs, fromMs + periodMs) });
  }
  return parts;
}

function totalOutage(
  random: Random,
  providers: readonly ProviderPlan[],
  endMs: number,
): readonly Phase[] {
  const fromMs = uniform(random, 0, endMs / 2);
  const toMs = uniform(random, fromMs, endMs);
  const fault = randomFault(random);
  return providers.map(({ name }) => {
    const own = isChosen(random, 0.3) ? randomFault(random) : fault;
    return { provider: name, key: null, fromMs, toMs, share: 1, fault: own };
  });
}

function randomRequests(
  random: Random,
  versions: readonly ConfigVersion[],
  endMs: number,
): readonly RequestPlan[] {
  const count = Math.round(logUniform(random, 2, 60));
  const burstAtMs = uniform(random, 0, endMs);
  const burstShare = pick(random, [0, 0, 0.3, 0.8]);
  const slowShare = pick(random, [0, 0.05, 0.3]);
  const leaverShare = pick(random, [0, 0.1, 0.5]);
  const instants = Array.from({ length: count }, () =>
    isChosen(random, burstShare)
      ? Math.min(endMs - 1, burstAtMs + Math.round(uniform(random, 0, 20)))
      : uniform(random, 0, endMs),
  );
  return instants
    .sort((left, right) => left - right)
    .map((atMs, index) =>
      randomRequest(random, { id: `r${index + 1}`, atMs, versions, slowShare, leaverShare }),
    );
}

function randomRequest(
  random: Random,
  given: {
    readonly id: string;
    readonly atMs: number;
    readonly versions: readonly ConfigVersion[];
    readonly slowShare: number;
    readonly leaverShare: number;
  },
): RequestPlan {
  const { id, atMs } = given;
  const { tiers } = given.versions.findLast((version) => version.atMs <= atMs) as ConfigVersion;
  const tier = tiers[below(random, tiers.length)] as TierPlan;
  const target = tier.targets[below(random, tier.targets.length)] as TargetPlan;
  return {
    id,
    atMs,
    tier: tier.name,
    isStream: isChosen(random, 0.7),
    deadlineMs: isChosen(random, 0.15) ? Math.round(logUniform(random, 1, 120_000)) : null,
    leavesAfterMs: isChosen(random, given.leaverShare) ? logUniform(random, 1, 60_000) : null,
    returnsOnLeave: isChosen(random, 0.5),
    pin: isChosen(random, 0.05) ? targetId(target) : null,
    isFailoverOff: isChosen(random, 0.05),
    maxRetries: isChosen(random, 0.1) ? below(random, 4) : null,
    session: isChosen(random, 0.2) ? pick(random, ['s1', 's2']) : null,
    isToolTurn: isChosen(random, 0.4),
    body: isChosen(random, 0.2) ? `shared${below(random, sharedBodies)}` : id,
    mayWrite: isChosen(random, 0.1),
    asks: isChosen(random, 0.85) ? 'text' : pick(random, ['json', 'choices', 'logprobs', 'strict']),
    readPauseMs: isChosen(random, given.slowShare) ? logUniform(random, 10, 40_000) : 0,
  };
}

function shuffled<Item>(random: Random, items: readonly Item[]): readonly Item[] {
  const drawn = items.map((item) => ({ item, rank: random.next() }));
  return drawn.sort((left, right) => left.rank - right.rank).map(({ item }) => item);
}
