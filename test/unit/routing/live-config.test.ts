import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import type { PromptSources } from '../../../src/prompts/load-variants.ts';
import type { LiveConfig } from '../../../src/routing/live-config.ts';
import type { Snapshot } from '../../../src/routing/snapshot.ts';
import { startLiveConfig } from '../../../src/routing/start-live-config.ts';
import { MemoryRevisionStore } from '../../support/memory-revision-store.ts';
import { bindWithNamedDialects, sampleDocument } from '../../support/routing-samples.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const by = { author: 'operator', note: 'because' };
const target = { provider: 'p1', model: 'm' };

async function start(
  options: {
    readonly document?: unknown;
    readonly prompts?: PromptSources;
    readonly store?: MemoryRevisionStore;
    readonly whenSeedDiffers?: 'report' | 'apply';
  } = {},
) {
  const store = options.store ?? new MemoryRevisionStore();
  const started = await startLiveConfig({
    store,
    bindProvider: bindWithNamedDialects,
    resolveSecret: () => 'resolved',
    clock: new VirtualClock(),
    seed: { document: options.document ?? sampleDocument(), prompts: options.prompts ?? {} },
    ...(options.whenSeedDiffers ? { whenSeedDiffers: options.whenSeedDiffers } : {}),
  });
  if (!started.ok) throw new Error(JSON.stringify(started.fault));
  return { ...started.value, store };
}

function etagOf(config: LiveConfig, name = 'fast'): string {
  return config.tier(name)?.etag ?? '';
}

describe('the first start and later ones', () => {
  it('the first seeds the store from document and prompts', async () => {
    const { config, origin, store } = await start({ prompts: { fast: 'Be brief.' } });
    expect(origin).toBe('seeded');
    expect(config.current().version).toBe(1);
    expect(store.revisions).toHaveLength(1);
    expect(store.revisions[0]).toMatchObject({
      version: 1,
      author: 'seed',
      prompts: { fast: 'Be brief.' },
      document: sampleDocument(),
    });
  });

  it('later ones use what is stored, and tell how the files differ', async () => {
    const { store } = await start({ prompts: { fast: 'Be brief.' } });
    const again = await start({ store, prompts: { fast: 'Be brief.' } });
    expect(again).toMatchObject({ origin: 'stored', seedChanges: [] });
    const other = await start({
      store,
      document: sampleDocument({ deadline: '9s' }),
      prompts: { fast: 'Be long.' },
    });
    expect(other.origin).toBe('stored');
    expect(other.config.current().tiers.get('fast')?.deadlineMs).toBe(120_000);
    expect(other.seedChanges).toEqual([
      { path: 'tiers.fast.deadline', kind: 'added', after: '9s' },
      { path: 'prompts.fast', kind: 'changed', before: 'Be brief.', after: 'Be long.' },
    ]);
    expect(store.revisions).toHaveLength(1);
  });

  it('a seed that is made anew by each start is applied when it differs', async () => {
    const { store } = await start();
    const document = sampleDocument({ deadline: '9s' });
    const next = await start({ store, document, whenSeedDiffers: 'apply' });
    expect(next.origin).toBe('replaced');
    expect(next.config.current()).toMatchObject({ version: 2 });
    const same = await start({ store, document, whenSeedDiffers: 'apply' });
    expect(same.origin).toBe('stored');
    expect(store.revisions).toHaveLength(2);
  });

  it('CF-05 an invalid seed starts nothing and stores nothing', async () => {
    const store = new MemoryRevisionStore();
    const started = await startLiveConfig({
      store,
      bindProvider: bindWithNamedDialects,
      resolveSecret: () => null,
      clock: new VirtualClock(),
      seed: { document: sampleDocument({ deadlin: '1s' }), prompts: { broken: '{{#if' } },
    });
    expect(started.ok).toBe(false);
    expect(started.ok ? [] : started.fault.faults.map((fault) => fault.path)).toEqual([
      'prompts.broken',
      'tiers.fast.deadlin',
    ]);
    expect(store.revisions).toEqual([]);
  });
});

describe('replaceTier', () => {
  it('needs a precondition', async () => {
    const { config } = await start();
    const change = {
      name: 'fast',
      config: { targets: [target] },
      ifMatch: null,
      ifNoneMatch: null,
    };
    expect(await config.replaceTier({ ...change, ...by })).toEqual({
      kind: 'precondition_required',
    });
  });

  it('replaces under the right etag, stores who and why, and tells listeners', async () => {
    const { config, store } = await start();
    const seen: [Snapshot, Snapshot][] = [];
    const stop = config.onChange((now, before) => seen.push([now, before]));
    const before = config.current();
    const etag = etagOf(config);
    const result = await config.replaceTier({
      name: 'fast',
      config: { deadline: '5s', targets: [target] },
      ifMatch: etag,
      ifNoneMatch: null,
      ...by,
    });
    expect(result).toMatchObject({ kind: 'applied', version: 2, isCreated: false, warnings: [] });
    expect(config.current()).toMatchObject({ version: 2 });
    expect(config.current().tiers.get('fast')?.deadlineMs).toBe(5000);
    expect(config.tier('fast')).toMatchObject({
      version: 2,
      config: { deadline: '5s', targets: [target] },
      effective: { deadline: '5s', targets: [{ id: 'p1/m' }] },
      etag: result.kind === 'applied' ? result.etag : '',
    });
    expect(config.tier('fast')?.etag).not.toBe(etag);
    expect(store.revisions[1]).toMatchObject({ version: 2, ...by });
    expect(seen).toEqual([[config.current(), before]]);
    // A request that began before goes on as it began.
    expect(before.tiers.get('fast')?.deadlineMs).toBe(120_000);
    stop();
    await config.apply({ document: sampleDocument(), ...by });
    expect(seen).toHaveLength(1);
  });

  it.each([
    ['an old etag', '"0000"', null],
    ['a weak etag', 'weak', null],
    ['If-None-Match on a tier that exists', null, '*'],
  ])('%s is stale', async (_what, ifMatch, ifNoneMatch) => {
    const { config, store } = await start();
    const result = await config.replaceTier({
      name: 'fast',
      config: { targets: [target] },
      ifMatch: ifMatch === 'weak' ? `W/${etagOf(config)}` : ifMatch,
      ifNoneMatch,
      ...by,
    });
    expect(result).toEqual({ kind: 'stale' });
    expect(store.revisions).toHaveLength(1);
  });

  it('makes a tier under If-None-Match: *, and * or a list matches what exists', async () => {
    const { config } = await start();
    const made = { name: 'new', config: { targets: [target] }, ...by };
    expect(await config.replaceTier({ ...made, ifMatch: '*', ifNoneMatch: null })).toEqual({
      kind: 'stale',
    });
    expect(await config.replaceTier({ ...made, ifMatch: null, ifNoneMatch: '*' })).toMatchObject({
      kind: 'applied',
      version: 2,
      isCreated: true,
    });
    const next = { ...made, config: { deadline: '1s', targets: [target] }, ifNoneMatch: null };
    expect(
      await config.replaceTier({ ...next, ifMatch: `"x", ${etagOf(config, 'new')}` }),
    ).toMatchObject({ kind: 'applied', version: 3, isCreated: false });
    expect(
      await config.replaceTier({ ...next, config: { targets: [target] }, ifMatch: '*' }),
    ).toMatchObject({ kind: 'applied', version: 4 });
  });

  it('CF-02 CF-03 a bad config changes nothing and says where it is wrong', async () => {
    const { config, store } = await start();
    const before = config.current();
    const result = await config.replaceTier({
      name: 'fast',
      config: { targets: [{ provider: 'p9', model: 'm' }, { tier: 'fast' }], retry: { base: 1 } },
      ifMatch: '*',
      ifNoneMatch: null,
      ...by,
    });
    expect(result).toEqual({
      kind: 'invalid',
      faults: [
        {
          path: 'tiers.fast.targets[0].provider',
          message: 'unknown provider p9 (known: p1, p2)',
        },
        { path: 'tiers.fast.targets[1]', message: expect.stringContaining('never a tier') },
        { path: 'tiers.fast.retry.base', message: expect.stringContaining('with a unit') },
      ],
      warnings: [],
    });
    expect(config.current()).toBe(before);
    expect(store.revisions).toHaveLength(1);
  });

  it.each(['__proto__', 'Upper', 'a/b', ''])('the name %j is refused', async (name) => {
    const { config } = await start();
    const change = { name, config: { targets: [target] }, ifMatch: null, ifNoneMatch: '*', ...by };
    expect(await config.replaceTier(change)).toMatchObject({ kind: 'invalid' });
    expect(({} as Record<string, unknown>)['targets']).toBeUndefined();
  });

  it('the same config again keeps the version', async () => {
    const { config, store } = await start();
    const same = config.tier('fast')?.config;
    const change = { name: 'fast', config: same, ifMatch: '*', ifNoneMatch: null, ...by };
    expect(await config.replaceTier(change)).toMatchObject({ kind: 'applied', version: 1 });
    expect(store.revisions).toHaveLength(1);
  });

  it('what the caller changes afterwards changes nothing here', async () => {
    const { config } = await start();
    const mine = { deadline: '5s', targets: [{ ...target, params: { user: 'a' } }] };
    const change = { name: 'fast', config: mine, ifMatch: '*', ifNoneMatch: null, ...by };
    await config.replaceTier(change);
    const etag = etagOf(config);
    mine.deadline = '9s';
    (mine.targets[0] as { params: { user: string } }).params.user = 'b';
    expect(etagOf(config)).toBe(etag);
    expect(config.current().tiers.get('fast')?.targets[0]?.params).toEqual({ user: 'a' });
  });

  it('of two writers with one etag exactly one wins', async () => {
    const { config, store } = await start();
    const etag = etagOf(config);
    const change = (deadline: string) =>
      config.replaceTier({
        name: 'fast',
        config: { deadline, targets: [target] },
        ifMatch: etag,
        ifNoneMatch: null,
        ...by,
      });
    const results = await Promise.all([change('1s'), change('2s'), change('3s')]);
    expect(results.map((result) => result.kind)).toEqual(['applied', 'stale', 'stale']);
    expect(store.revisions).toHaveLength(2);
    expect(config.current().tiers.get('fast')?.deadlineMs).toBe(1000);
  });

  it('another process that was faster is a conflict, and its config is in force', async () => {
    const { config, store } = await start();
    store.append(
      {
        hash: 'x',
        document: sampleDocument({ deadline: '77s' }),
        prompts: {},
        author: 'other',
        note: null,
        createdAtMs: 0,
      },
      1,
    );
    const change = { name: 'fast', config: { targets: [target] }, ifMatch: '*', ifNoneMatch: null };
    expect(await config.replaceTier({ ...change, ...by })).toEqual({ kind: 'conflict' });
    expect(config.current()).toMatchObject({ version: 2 });
    expect(config.current().tiers.get('fast')?.deadlineMs).toBe(77_000);
    expect(await config.replaceTier({ ...change, ...by })).toMatchObject({ version: 3 });
    expect(await config.refresh()).toBe(false);
  });
});

describe('apply, removeTier, preview', () => {
  it('CF-03 apply swaps the whole document or nothing', async () => {
    const { config } = await start();
    const before = config.current();
    const bad = { ...sampleDocument(), providers: { p1: { kind: 'openai', base_url: 'nowhere' } } };
    expect(await config.apply({ document: bad, ...by })).toMatchObject({ kind: 'invalid' });
    expect(await config.apply({ document: null, ...by })).toMatchObject({ kind: 'invalid' });
    expect(config.current()).toBe(before);
    const good = sampleDocument({ deadline: '3s' });
    expect(await config.apply({ document: good, ...by })).toMatchObject({
      kind: 'applied',
      version: 2,
    });
  });

  it('R71 an edited prompt makes a version with another identity; the old snapshot keeps its words', async () => {
    const { config, store } = await start({ prompts: { fast: 'Old words.' } });
    const before = config.current().tiers.get('fast')?.targets[0]?.variant;
    const change = { document: sampleDocument(), prompts: { fast: 'New words.' }, ...by };
    expect(await config.apply(change)).toMatchObject({ kind: 'applied', version: 2 });
    const after = config.current().tiers.get('fast')?.targets[0]?.variant;
    expect(before?.identity).toMatch(/^fast@[0-9a-f]{8}$/);
    expect(after?.identity).not.toBe(before?.identity);
    expect(before?.render({})).toMatchObject({ value: { before: 'Old words.' } });
    expect(after?.render({})).toMatchObject({ value: { before: 'New words.' } });
    expect(store.revisions[1]?.prompts).toEqual({ fast: 'New words.' });
    const broken = { document: sampleDocument(), prompts: { fast: '{{nope}}' }, ...by };
    expect(await config.apply(broken)).toMatchObject({
      kind: 'invalid',
      faults: [{ path: 'prompts.fast' }],
    });
  });

  it('a prompt that holds a literal secret is refused, unprinted', async () => {
    const { config } = await start();
    const prompts = { fast: 'Use sk-CANARY1234567890.' };
    const result = await config.apply({ document: sampleDocument(), prompts, ...by });
    expect(result).toMatchObject({ kind: 'invalid', faults: [{ path: 'prompts.fast' }] });
    expect(JSON.stringify(result)).not.toContain('CANARY');
  });

  it('removes a tier under its etag', async () => {
    const { config } = await start({ document: withSecondTier() });
    const change = { ifMatch: '*', ifNoneMatch: null, ...by };
    expect(await config.removeTier({ ...change, name: 'nope' })).toEqual({ kind: 'unknown_tier' });
    expect(await config.removeTier({ ...change, name: 'second', ifMatch: '"x"' })).toEqual({
      kind: 'stale',
    });
    expect(await config.removeTier({ ...change, name: 'second' })).toMatchObject({
      kind: 'applied',
      version: 2,
    });
    expect(config.tiers().map((tier) => tier.name)).toEqual(['fast']);
  });

  it('a tier that others name cannot be removed', async () => {
    const { config } = await start({ document: withSecondTier({ default_tier: 'second' }) });
    const change = { name: 'second', ifMatch: '*', ifNoneMatch: null, ...by };
    expect(await config.removeTier(change)).toMatchObject({
      kind: 'invalid',
      faults: [{ path: 'default_tier' }],
    });
  });

  it('a preview tells faults, warnings and changes, and changes nothing', async () => {
    const { config, store } = await start();
    expect(
      await config.previewTier({
        name: 'fast',
        config: { ...config.tier('fast')?.config, deadline: '1s', retry: { attempts: 8 } },
      }),
    ).toEqual({
      isValid: true,
      faults: [],
      warnings: [
        expect.objectContaining({ path: 'tiers.fast.retry.attempts' }),
        expect.objectContaining({ path: 'tiers.fast.retry' }),
      ],
      changes: [
        { path: 'tiers.fast.deadline', kind: 'added', after: '1s' },
        { path: 'tiers.fast.retry', kind: 'added', after: { attempts: 8 } },
      ],
    });
    expect(await config.previewTier({ name: 'fast', config: 3 })).toMatchObject({
      isValid: false,
      faults: [{ path: 'tiers.fast', message: 'must be a mapping' }],
    });
    expect(store.revisions).toHaveLength(1);
  });

  it('the effective document has every default, id and variant', async () => {
    const { config } = await start({ prompts: { 'fast.p1': 'x', fast: 'y' } });
    expect(config.effective()).toMatchObject({
      server: { max_body: '32mb' },
      tiers: {
        fast: {
          deadline: '120s',
          guardrails: { steps: { limit: 15, action: 'stop' } },
          targets: [
            { id: 'p1/gpt-5.4-mini', prompt: 'fast.p1', timeout: { idle: '30s' } },
            { id: 'p2/claude-sonnet-4-5', prompt: 'fast' },
          ],
        },
      },
    });
  });

  it("a tier's guardrails lie over the document's", async () => {
    const document = sampleDocument(
      { guardrails: { steps: { limit: 3 }, tokens: { limit: 100 } } },
      { guardrails: { steps: { action: 'land' } } },
    );
    const { config } = await start({ document });
    expect(config.tier('fast')?.effective['guardrails']).toMatchObject({
      steps: { limit: 3, action: 'land' },
      tokens: { limit: 100, action: 'stop' },
      repeat: { limit: 2 },
    });
  });
});

function withSecondTier(rest: JsonObject = {}): JsonObject {
  const { tiers, ...document } = sampleDocument({}, rest);
  return { ...document, tiers: { ...(tiers as JsonObject), second: { targets: [target] } } };
}
