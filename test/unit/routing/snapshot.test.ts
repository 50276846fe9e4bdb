import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { loadVariants, type PromptSources } from '../../../src/prompts/load-variants.ts';
import { buildSnapshot } from '../../../src/routing/build-snapshot.ts';
import type { Snapshot } from '../../../src/routing/snapshot.ts';
import { aliasMatcher } from '../../../src/routing/tier-lookup.ts';
import {
  accepted,
  bindWithNamedDialects,
  noPrompts,
  sampleDocument,
} from '../../support/routing-samples.ts';

async function snapshotOf(document: JsonObject, prompts: PromptSources = {}): Promise<Snapshot> {
  const { variants } = await loadVariants(prompts);
  return buildSnapshot({
    version: 7,
    createdAtMs: 1000,
    valid: accepted(document, { ...noPrompts, variants }),
    variants,
    bindProvider: bindWithNamedDialects,
  });
}

describe('buildSnapshot', () => {
  it('turns units into numbers, with every policy', async () => {
    const snapshot = await snapshotOf(sampleDocument({ deadline: '2s' }));
    expect(snapshot).toMatchObject({
      version: 7,
      createdAtMs: 1000,
      server: {
        bodyBytesMax: 33_554_432,
        headerBytesMax: 32_768,
        drainDelayMs: 0,
        drainTimeoutMs: 30_000,
        cors: [],
      },
      log: { keepMs: 7_776_000_000, commitWaitMs: 250, onFailure: 'serve' },
    });
    expect(snapshot.tiers.get('fast')).toMatchObject({
      deadlineMs: 2000,
      retry: {
        attempts: 4,
        attemptsTotal: 8,
        backoff: { jitter: 'decorrelated', baseMs: 500, multiplier: 2, capMs: 30_000 },
        maxWaitMs: 10_000,
        hintCeilingMs: 60_000,
        cooldownMaxMs: 600_000,
        budget: { ratio: 0.2, minPerSecond: 1, max: 100 },
      },
      breaker: {
        failures: 3,
        windowMs: 30_000,
        failureRate: 0.5,
        minSpanMs: 1000,
        idleWindowMs: 0,
        openForMs: 5000,
        openForMaxMs: 15_000,
      },
      clocks: {
        connectMs: 3000,
        headersMs: 30_000,
        firstContentSoftMs: 10_000,
        firstContentMs: 60_000,
        idleMs: 30_000,
      },
      failover: { onContentPolicy: false, recheckMs: 600_000, waiters: 64 },
      stream: {
        holdTokens: 20,
        holdMaxMs: 500,
        onInterrupt: 'continue',
        maxContinuations: 2,
        maxDurationMs: 600_000,
        commitAfterMs: 45_000,
      },
    });
  });

  it('a model that stands in several tiers has one limit: the smallest of each key', async () => {
    const target = { provider: 'p1', model: 'gpt-5.4-mini' };
    const tight = { ...target, max_concurrent: 8, queue_wait: '5s' };
    const other = { provider: 'p1', model: 'gpt-5.4' };
    const document = sampleDocument({ targets: [target, other] });
    const tiers = {
      ...(document['tiers'] as JsonObject),
      busy: { targets: [{ ...tight, queue: 3 }] },
    };
    const snapshot = await snapshotOf({ ...document, tiers });
    const [first, second] = snapshot.tiers.get('fast')?.targets ?? [];
    const limit = { minConcurrent: 4, maxConcurrent: 8, queueMax: 3, queueWaitMs: 2000 };
    expect(first?.concurrency).toEqual(limit);
    expect(snapshot.tiers.get('busy')?.targets[0]?.concurrency).toBe(first?.concurrency);
    expect(second?.concurrency).toMatchObject({ maxConcurrent: 1024, queueMax: 64 });
  });

  it('CF-01 zeros stay zeros all the way into the policies', async () => {
    const snapshot = await snapshotOf(
      sampleDocument({
        retry: { attempts: 1, base: '0s', cap: '0s', max_wait: '0s' },
        breaker: { open_for: '0s', open_for_max: '0s' },
        stream: { hold_tokens: 0, commit_after: '0s' },
      }),
    );
    expect(snapshot.tiers.get('fast')).toMatchObject({
      retry: { attempts: 1, backoff: { baseMs: 0, capMs: 0 }, maxWaitMs: 0 },
      breaker: { openForMs: 0, openForMaxMs: 0 },
      stream: { holdTokens: 0, commitAfterMs: 0 },
    });
  });

  it("a target's timeout overrides the tier's field by field", async () => {
    const targets = [
      { provider: 'p1', model: 'm', timeout: { idle: '5s' } },
      { provider: 'p2', model: 'm' },
    ];
    const tier = (await snapshotOf(sampleDocument({ targets, timeout: { headers: '9s' } }))).tiers;
    expect(tier.get('fast')?.targets[0]?.clocks).toMatchObject({ idleMs: 5000, headersMs: 9000 });
    expect(tier.get('fast')?.targets[1]?.clocks).toMatchObject({ idleMs: 30_000, headersMs: 9000 });
  });

  it('what a target leaves open comes from the model table, else stays unknown', async () => {
    const targets = [
      { provider: 'p2', model: 'claude-sonnet-4-5' },
      { provider: 'p2', model: 'in-house', context_window: 9, supports: { images: false } },
      { provider: 'p2', model: 'claude-opus-5-5', accepts_prefill: true, thinking: false },
    ];
    const [known, unknown, told] =
      (await snapshotOf(sampleDocument({ targets }))).tiers.get('fast')?.targets ?? [];
    expect(known).toMatchObject({
      id: 'p2/claude-sonnet-4-5',
      contextWindow: 200_000,
      acceptsPrefill: true,
      isThinking: false,
      supports: { audio: false },
    });
    expect(unknown).toMatchObject({
      contextWindow: 9,
      acceptsPrefill: false,
      supports: { images: false },
    });
    expect(unknown?.supports).toEqual({ images: false });
    expect(told).toMatchObject({
      contextWindow: 1_000_000,
      acceptsPrefill: true,
      isThinking: false,
    });
  });

  it('operator rules reach the provider as rules', async () => {
    const rules = [
      { status: 418, code: 77, message: 'tea(pot)?', class: 'overload', retry: false },
    ];
    const providers = { p1: { kind: 'openai', rules }, p2: { kind: 'anthropic' } };
    const snapshot = await snapshotOf(sampleDocument({}, { providers }));
    expect(snapshot.providers.get('p1')?.operatorRules).toEqual([
      {
        name: 'operator[0]',
        status: [418],
        code: ['77'],
        message: /tea(pot)?/i,
        errorClass: 'overload',
        retry: false,
      },
    ]);
  });
});

describe('prompt variants of a tier', () => {
  const sources = {
    fast: 'base',
    'fast.p1': 'for p1\n{{system}}',
    special: 'special',
  };

  it('R71 each provider gets its own wording; a named one wins, the base is the rest', async () => {
    const targets = [
      { provider: 'p1', model: 'a' },
      { provider: 'p2', model: 'b' },
      { provider: 'p2', model: 'c', prompt: 'special' },
    ];
    const tier = (await snapshotOf(sampleDocument({ targets }), sources)).tiers.get('fast');
    expect(tier?.targets.map((target) => target.variant?.name)).toEqual([
      'fast.p1',
      'fast',
      'special',
    ]);
  });

  it('R71 without any prompt a target has none', async () => {
    const tier = (await snapshotOf(sampleDocument())).tiers.get('fast');
    expect(tier?.targets.map((target) => target.variant)).toEqual([null, null]);
    expect(tier?.variableFaults({ anything: 1 })).toEqual([]);
  });

  it('a missing variable is told for every variant of the tier, whichever will serve', async () => {
    const schema = (name: string): string =>
      `---\ninput:\n  schema:\n    ${name}: string\n    topic: string\n---\n{{variables.${name}}}{{variables.topic}}`;
    const prompts = { 'fast.p1': schema('one'), 'fast.p2': schema('two') };
    const tier = (await snapshotOf(sampleDocument(), prompts)).tiers.get('fast');
    expect(tier?.variableFaults({})).toEqual([
      'variables.one is missing (prompt fast.p1)',
      'variables.topic is missing (prompt fast.p1, fast.p2)',
      'variables.two is missing (prompt fast.p2)',
    ]);
    expect(tier?.variableFaults({ one: 'a', two: 'b', topic: 3 })).toEqual([
      'variables.topic must be string (prompt fast.p1, fast.p2)',
    ]);
    expect(tier?.variableFaults({ one: 'a', two: 'b', topic: 'c' })).toEqual([]);
  });
});

describe('resolveTier', () => {
  const target = { provider: 'p1', model: 'real-model' };
  const document = (rest: JsonObject): JsonObject => ({
    ...sampleDocument(),
    tiers: {
      fast: { targets: [target], aliases: ['gpt-4o', 'shared', 'smart'] },
      smart: { targets: [target], aliases: ['claude-sonnet-*', 'shared', 'gpt-*'] },
    },
    ...rest,
  });

  it('R70 a tier is asked for by name, alias or glob, never by a model', async () => {
    const { resolveTier } = await snapshotOf(document({}));
    const found = (name: string): string | null => resolveTier(name)?.name ?? null;
    expect(found('fast')).toBe('fast');
    expect(found('gpt-4o')).toBe('fast');
    expect(found('gpt-4o-mini')).toBe('smart');
    expect(found('claude-sonnet-4-5')).toBe('smart');
    expect(found('shared')).toBe('fast');
    expect(found('smart')).toBe('smart');
    expect(found('real-model')).toBeNull();
    expect(found('p1/real-model')).toBeNull();
    expect(found('http://evil/v1#p1')).toBeNull();
    expect(found('__proto__')).toBeNull();
    expect(found('')).toBeNull();
  });

  it('default_tier takes every other name', async () => {
    const { resolveTier } = await snapshotOf(document({ default_tier: 'smart' }));
    expect(resolveTier('whatever')?.name).toBe('smart');
    expect(resolveTier('gpt-4o')?.name).toBe('fast');
  });

  it('FO-08 an alias leads to the configured upstream model, and is nowhere in the target', async () => {
    const tier = (await snapshotOf(document({}))).resolveTier('claude-sonnet-4-5');
    const [found] = tier?.targets ?? [];
    expect(found?.model).toBe('real-model');
    expect(found?.provider.urlFor({ model: found.model, isStream: true })).not.toContain('claude');
    expect(JSON.stringify(found)).not.toContain('claude-sonnet');
  });

  it.each([
    ['a*c', ['ac', 'abc', 'abbc'], ['a', 'c', 'abcd', 'xac']],
    ['*', ['', 'x'], []],
    ['a*b*c', ['abc', 'axbxc', 'abbc'], ['ac', 'acb', 'ab']],
    ['*aa*aa', ['aaaa', 'xaayaa'], ['aaa', 'aa']],
    ['aa*a', ['aaa'], ['aa']],
    ['a.c', ['a.c'], ['abc']],
  ])('the glob %s', (glob, matching, other) => {
    const matches = aliasMatcher(glob);
    expect(matching.filter((name) => !matches(name))).toEqual([]);
    expect(other.filter((name) => matches(name))).toEqual([]);
  });

  it('a hostile name costs no more than its length', () => {
    const matches = aliasMatcher(`${'*a'.repeat(60)}*b`);
    const startedAt = performance.now();
    expect(matches('a'.repeat(100_000))).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});
