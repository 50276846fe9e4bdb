import { describe, expect, it } from 'vitest';
import { overridesText, restoreOverrides } from '../../../src/admin/kept-overrides.ts';
import { createTargetAdmin } from '../../../src/admin/target-admin.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { LogFields } from '../../../src/base/log-port.ts';
import { silentLog } from '../../../src/base/log-port.ts';
import { OverrideTable } from '../../../src/engine/override-table.ts';
import type { Snapshot } from '../../../src/routing/snapshot.ts';
import { EngineHarness, ok, plainTarget, plainTier, status } from '../../support/engine-harness.ts';

const tier = plainTier([plainTarget('p1'), plainTarget('p2')]);
const other = plainTier([plainTarget('p2')], { name: 'other' });

function adminOf(isKept = true, script = (_provider: string) => ok()) {
  const harness = new EngineHarness(tier, script);
  const kept: string[] = [];
  const lines: { readonly message: string; readonly fields: LogFields | undefined }[] = [];
  const tiers = new Map([tier, other].map((one) => [one.name, one]));
  const { overrides, health, clock } = harness;
  const admin = createTargetAdmin({
    snapshot: () => ({ tiers }) as unknown as Snapshot,
    overrides,
    health,
    clock,
    log: { ...silentLog, info: (message, fields) => lines.push({ message, fields }) },
    keep: (text) => {
      kept.push(text);
      return isKept;
    },
  });
  const put = (target: string, body: JsonObject) =>
    admin.override({ target, body, author: 'admin' });
  return { harness, put, kept, lines };
}

describe('an override', () => {
  it('is in force, kept, told back, and written to the log with its author', () => {
    const { harness, put, kept, lines } = adminOf();
    const until = new Date(harness.clock.wallMs() + 60_000).toISOString();
    expect(put('p1/m', { state: 'drained', until, note: 'maintenance' })).toEqual({
      kind: 'set',
      isKept: true,
      override: { state: 'drained', until, note: 'maintenance' },
    });
    expect(harness.overrides.get('p1/m', harness.clock.wallMs())?.state).toBe('drained');
    expect(kept).toHaveLength(1);
    expect(lines).toEqual([
      {
        message: 'the override of a target was changed',
        fields: {
          target: 'p1/m',
          state: 'drained',
          until,
          note: 'maintenance',
          by: 'admin',
          kept: true,
        },
      },
    ]);
  });

  it('that cannot be kept is in force all the same, and says so', () => {
    const { put } = adminOf(false);
    expect(put('p1/m', { state: 'forced' })).toMatchObject({ kind: 'set', isKept: false });
  });

  it('of a target that no tier has names those there are', () => {
    expect(adminOf().put('p9/m', { state: 'drained' })).toEqual({
      kind: 'unknown_target',
      known: ['p1/m', 'p2/m'],
    });
  });

  it.each<[JsonObject, string]>([
    [{}, 'state'],
    [{ state: 'off' }, 'state'],
    [{ state: 'drained', until: 'tomorrow' }, 'until'],
    [{ state: 'drained', until: 1 }, 'until'],
    [{ state: 'drained', until: '2020-01-01T00:00:00Z' }, 'until'],
    [{ state: 'auto', until: '2030-01-01T00:00:00Z' }, 'until'],
    [{ state: 'drained', note: 7 }, 'note'],
    [{ state: 'drained', note: 'x'.repeat(501) }, 'note'],
    [{ state: 'drained', untill: null }, 'untill'],
  ])('%j is refused and changes nothing', (body, path) => {
    const { harness, put, kept } = adminOf();
    expect(put('p1/m', body)).toMatchObject({ kind: 'invalid', errors: [{ path }] });
    expect(harness.overrides.entries()).toEqual([]);
    expect(kept).toEqual([]);
  });

  it('auto ends parking and cooldown, so that the target is asked at once', async () => {
    let isSick = true;
    const { harness, put } = adminOf(true, (provider) =>
      provider === 'p1' && isSick ? status(401) : ok(provider),
    );
    await harness.askWithin(1000);
    isSick = false;
    expect((await harness.askWithin(1000)).text).toBe('p2');
    expect(put('p1/m', { state: 'auto' })).toMatchObject({
      override: { state: 'auto', until: null, note: null },
    });
    expect((await harness.askWithin(1000)).text).toBe('p1');
  });
});

describe('overrides as text', () => {
  it('come back as they were, without those that are over', () => {
    const nowMs = Date.UTC(2026, 0, 1);
    const before = new OverrideTable();
    before.set('p1/m', 'drained', { untilMs: null, note: 'maintenance' });
    before.set('p2/m', 'forced', { untilMs: nowMs + 1000, note: null });
    before.set('p3/m', 'drained', { untilMs: nowMs - 1, note: null });
    const after = new OverrideTable();
    expect(restoreOverrides(after, overridesText(before), nowMs)).toBe(2);
    expect(after.entries()).toEqual([
      ['p1/m', { state: 'drained', untilMs: null, note: 'maintenance' }],
      ['p2/m', { state: 'forced', untilMs: nowMs + 1000, note: null }],
    ]);
  });

  it.each([null, '', '{', '[]', '1', '{"p1/m": null}', '{"p1/m": {"state": "auto"}}'])(
    '%j restores nothing',
    (text) => {
      const overrides = new OverrideTable();
      expect(restoreOverrides(overrides, text, 0)).toBe(0);
      expect(overrides.entries()).toEqual([]);
    },
  );
});
