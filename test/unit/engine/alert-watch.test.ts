/** Each alert raised and ended, in virtual time, by the engine that serves and the watch beside it. */
import { afterEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/base/log-port.ts';
import { seededRandom } from '../../../src/base/random.ts';
import type { AlertKind, AlertNotice } from '../../../src/engine/alert-board.ts';
import { AlertWatch } from '../../../src/engine/alert-watch.ts';
import { createAlerts } from '../../../src/engine/alerts.ts';
import { createEngine } from '../../../src/engine/failover.ts';
import { alertOf } from '../../../src/engine/failure-of.ts';
import { createHealthRegistry } from '../../../src/engine/health-registry.ts';
import { OverrideTable } from '../../../src/engine/override-table.ts';
import type { RequestTrace } from '../../../src/engine/trace.ts';
import { internalFailure } from '../../../src/failure/attempt-failures.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import type { Snapshot, Tier } from '../../../src/routing/snapshot.ts';
import {
  EngineHarness,
  ok,
  plainProvider,
  plainTarget,
  plainTier,
  status,
} from '../../support/engine-harness.ts';
import { type ScriptedCall, ScriptedTransport } from '../../support/scripted-transport.ts';
import { attemptTrace, requestFailure, requestTrace } from '../../support/traces.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The engine with alerts, and the watch that reads each request's end. */
class WatchedEngine {
  readonly clock = new VirtualClock();
  readonly notices: AlertNotice[] = [];
  readonly overrides = new OverrideTable();
  readonly health = createHealthRegistry({ clock: this.clock, random: seededRandom(1) });
  readonly alerts = createAlerts(silentLog, this.clock, {
    minIntervalMs: () => hourMs,
    notify: (notice) => this.notices.push(notice),
  });
  readonly watch: AlertWatch;
  readonly #harness: EngineHarness;
  tier: Tier;
  logFault: string | null = null;
  fleetFault: string | null = null;
  rowsLost = 0;
  secret: string | null = 'there';
  script: (provider: string, call: number) => ScriptedCall = (provider) => ok(provider);

  constructor(tier = plainTier([plainTarget('p1'), plainTarget('p2')])) {
    this.tier = tier;
    this.#harness = new EngineHarness(tier, () => ok());
    this.watch = new AlertWatch({
      clock: this.clock,
      health: this.health,
      overrides: this.overrides,
      alerts: this.alerts,
      snapshot: () => this.snapshot(),
      fleetFault: () => this.fleetFault,
      logFault: () => this.logFault,
      rowsLost: () => this.rowsLost,
      otherSecrets: () => [{ alias: 'HOOK', resolve: () => this.secret }],
    });
    this.watch.start();
  }

  snapshot(): Snapshot {
    const providers = new Map<string, Provider>();
    for (const { provider } of this.tier.targets) providers.set(provider.name, provider);
    return { tiers: new Map([[this.tier.name, this.tier]]), providers } as unknown as Snapshot;
  }

  async ask(): Promise<RequestTrace> {
    const transport = new ScriptedTransport(this.clock, (provider, call) =>
      this.script(provider, call),
    );
    const engine = createEngine({
      clock: this.clock,
      random: seededRandom(1),
      transport,
      health: this.health,
      alerts: this.alerts,
      overrides: this.overrides,
    });
    const nowMs = this.clock.monotonicMs();
    const run = engine.start(
      this.#harness.request({
        tier: this.tier,
        arrivedAtMs: nowMs,
        deadlineAtMs: nowMs + this.tier.deadlineMs,
        startedAtMs: this.clock.wallMs(),
        chat: { isStream: false },
      }),
    );
    let isOver = false;
    const answered = run.answer.then(() => {
      isOver = true;
    });
    while (!isOver) await this.clock.advance(50);
    await answered;
    const trace = run.trace();
    this.watch.noteEnd(trace);
    return trace;
  }

  /** Kind, subject and whether it is its end, in the order of telling. */
  told(kind: AlertKind): readonly (readonly [subject: string, isResolved: boolean])[] {
    return this.notices
      .filter((notice) => notice.kind === kind)
      .map(({ subject, isResolved }) => [subject, isResolved]);
  }

  close(): void {
    this.watch.close();
    this.health.close();
  }
}

let watched: WatchedEngine;
afterEach(() => watched.close());

function refusal(code: number, error: object): ScriptedCall {
  return status(code, { body: JSON.stringify({ error }) });
}

function keyed(name: string, secrets: { readonly [alias: string]: string | null }): Provider {
  const keys = Object.keys(secrets).map((alias) => ({
    alias,
    resolve: () => secrets[alias] ?? null,
  }));
  return plainProvider(name, { keys });
}

describe('what a provider refuses', () => {
  it.each<[AlertKind, string, ScriptedCall]>([
    ['auth_rejected', 'P1_KEY', refusal(401, { message: 'no' })],
    ['permission_denied', 'P1_KEY', refusal(403, { message: 'not you' })],
    ['quota_exhausted', 'P1_KEY', refusal(402, { message: 'no money' })],
    ['model_not_found', 'p1/m', refusal(404, { code: 'model_not_found', message: 'no model' })],
  ])('%s is raised at once and over when it is served again', async (kind, subject, answer) => {
    const p1 = plainTarget('p1', { provider: keyed('p1', { P1_KEY: 'k' }) });
    watched = new WatchedEngine(plainTier([p1, plainTarget('p2')]));
    watched.script = (provider) => (provider === 'p1' ? answer : ok());
    const trace = await watched.ask();
    expect(watched.told(kind)).toEqual([[subject, false]]);
    expect(watched.alerts.open()).toMatchObject([{ kind, subject, requestId: trace.id }]);
    watched.script = () => ok();
    await watched.ask();
    expect(watched.told(kind)).toHaveLength(1);
    await watched.clock.advance(11 * minuteMs);
    await watched.ask();
    expect(watched.told(kind)).toEqual([
      [subject, false],
      [subject, true],
    ]);
  });

  it('an answer begun before the refusal does not end the alert', () => {
    watched = new WatchedEngine();
    const { alerts, clock, watch } = watched;
    alerts.raise({
      kind: 'auth_rejected',
      subject: 'P1_KEY',
      message: 'refused',
      requestId: 'r',
    });
    const served = attemptTrace({ startedAtMs: clock.wallMs() - 1000 });
    watch.noteEnd(requestTrace({ attempts: [served] }));
    expect(alerts.open()).toHaveLength(1);
    watch.noteEnd(requestTrace({ attempts: [{ ...served, startedAtMs: clock.wallMs() }] }));
    expect(alerts.open()).toEqual([]);
  });

  it('a quota of one model is not over because the same key serves another', () => {
    watched = new WatchedEngine();
    const { alerts, clock, watch } = watched;
    const alert = { subject: 'P1_KEY', message: 'x', requestId: null, target: 'p1/small' };
    alerts.raise({ ...alert, kind: 'quota_exhausted' });
    alerts.raise({ ...alert, kind: 'auth_rejected' });
    const served = attemptTrace({ startedAtMs: clock.wallMs(), target: 'p1/large' });
    watch.noteEnd(requestTrace({ attempts: [served] }));
    expect(alerts.open().map(({ kind }) => kind)).toEqual(['quota_exhausted']);
    watch.noteEnd(requestTrace({ attempts: [{ ...served, target: 'p1/small' }] }));
    expect(alerts.open()).toEqual([]);
  });

  it('is over when the config no longer names it', async () => {
    watched = new WatchedEngine();
    const gone = { message: 'x', requestId: null };
    watched.alerts.raise({ ...gone, kind: 'model_not_found', subject: 'p3/m' });
    watched.alerts.raise({ ...gone, kind: 'auth_rejected', subject: 'OLD_KEY' });
    watched.alerts.raise({ ...gone, kind: 'model_not_found', subject: 'p1/m' });
    watched.watch.noteConfig();
    expect(watched.alerts.open().map(({ subject }) => subject)).toEqual(['p1/m']);
  });
});

describe('secret_unresolved', () => {
  it('is raised when the key is wanted and over as soon as it resolves', async () => {
    const secrets: { P1_KEY: string | null } = { P1_KEY: null };
    const p1 = plainTarget('p1', { provider: keyed('p1', secrets) });
    watched = new WatchedEngine(plainTier([p1, plainTarget('p2')]));
    await watched.ask();
    expect(watched.told('secret_unresolved')).toEqual([['P1_KEY', false]]);
    expect(watched.told('auth_rejected')).toEqual([]);
    await watched.clock.advance(5000);
    expect(watched.told('secret_unresolved')).toHaveLength(1);
    secrets.P1_KEY = 'now there';
    await watched.clock.advance(1000);
    expect(watched.told('secret_unresolved')).toEqual([
      ['P1_KEY', false],
      ['P1_KEY', true],
    ]);
  });

  it('of the webhook ends the same way', async () => {
    watched = new WatchedEngine();
    watched.secret = null;
    watched.alerts.raise({
      kind: 'secret_unresolved',
      subject: 'HOOK',
      message: 'not set',
      requestId: null,
    });
    await watched.clock.advance(1000);
    expect(watched.alerts.open()).toHaveLength(1);
    watched.secret = 'https://hooks.example/1';
    await watched.clock.advance(1000);
    expect(watched.alerts.open()).toEqual([]);
  });
});

describe('tier_on_fallback', () => {
  it('is raised after five minutes without the first target, and over when it serves', async () => {
    watched = new WatchedEngine();
    let isWell = false;
    watched.script = (provider) => (provider === 'p1' && !isWell ? status(500) : ok());
    const untilMs = watched.clock.monotonicMs() + 5 * minuteMs;
    while (watched.clock.monotonicMs() < untilMs) {
      await watched.ask();
      if (watched.clock.monotonicMs() < untilMs - 30_000) {
        expect(watched.told('tier_on_fallback')).toEqual([]);
      }
      await watched.clock.advance(20_000);
    }
    await watched.ask();
    expect(watched.told('tier_on_fallback')).toEqual([['fast', false]]);
    isWell = true;
    await watched.clock.advance(20_000);
    await watched.ask();
    expect(watched.told('tier_on_fallback')).toEqual([
      ['fast', false],
      ['fast', true],
    ]);
  });

  it('counts from the first miss after the target last served', async () => {
    watched = new WatchedEngine();
    let isWell = false;
    watched.script = (provider) => (provider === 'p1' && !isWell ? status(500) : ok());
    for (let minute = 0; minute < 12; minute += 1) {
      isWell = minute % 4 === 3;
      await watched.ask();
      await watched.clock.advance(minuteMs);
    }
    expect(watched.told('tier_on_fallback')).toEqual([]);
  });

  it('is raised for a drained target without another request, and over when the tier changes', async () => {
    watched = new WatchedEngine();
    watched.overrides.set('p1/m', 'drained', { untilMs: null, note: null });
    await watched.ask();
    await watched.clock.advance(5 * minuteMs + 1000);
    expect(watched.told('tier_on_fallback')).toEqual([['fast', false]]);
    watched.tier = plainTier([plainTarget('p2'), plainTarget('p1')]);
    watched.watch.noteConfig();
    expect(watched.told('tier_on_fallback')).toHaveLength(2);
  });

  it('is none for requests that the first target cannot carry', () => {
    watched = new WatchedEngine();
    const second = attemptTrace({ target: 'p2/m', provider: 'p2' });
    const trace = requestTrace({
      attempts: [second],
      skipped: [{ target: 'p1/m', reason: 'ability:images' }],
      isFailedOver: true,
    });
    watched.watch.noteEnd(trace);
    return watched.clock.advance(6 * minuteMs).then(() => {
      watched.watch.noteEnd(trace);
      expect(watched.told('tier_on_fallback')).toEqual([]);
    });
  });
});

describe('tier_without_target', () => {
  it('is raised when the last target goes and over when one may be asked', () => {
    watched = new WatchedEngine();
    watched.overrides.set('p1/m', 'drained', { untilMs: null, note: null });
    expect(watched.told('tier_without_target')).toEqual([]);
    watched.overrides.set('p2/m', 'drained', { untilMs: null, note: null });
    expect(watched.told('tier_without_target')).toEqual([['fast', false]]);
    expect(watched.notices[0]?.lastError).toContain('p1/m drained, p2/m drained');
    watched.overrides.set('p2/m', 'auto', { untilMs: null, note: null });
    expect(watched.told('tier_without_target')).toEqual([
      ['fast', false],
      ['fast', true],
    ]);
  });

  it('names the request that found every breaker open, and ends with the open period', async () => {
    watched = new WatchedEngine();
    watched.script = () => status(500);
    const trace = await watched.ask();
    expect(watched.told('tier_without_target')).toHaveLength(1);
    expect([null, trace.id]).toContain(watched.notices[0]?.requestId);
    await watched.clock.advance(20_000);
    expect(watched.told('tier_without_target')).toHaveLength(2);
  });

  it('is none while a rate-limited target is back before a request stops waiting', async () => {
    const seconds = { after: 50 };
    watched = new WatchedEngine(plainTier([plainTarget('p1')], { deadlineMs: 1000 }));
    watched.script = () => status(429, { headers: { 'retry-after': String(seconds.after) } });
    await watched.ask();
    await watched.clock.advance(2000);
    expect(watched.told('tier_without_target')).toEqual([]);
    await watched.clock.advance(minuteMs);
    seconds.after = 300;
    await watched.ask();
    expect(watched.told('tier_without_target')).toEqual([['fast', false]]);
  });

  it('is over when the tier is gone', () => {
    watched = new WatchedEngine();
    for (const id of ['p1/m', 'p2/m']) {
      watched.overrides.set(id, 'drained', { untilMs: null, note: null });
    }
    watched.tier = plainTier([plainTarget('p3')], { name: 'other' });
    watched.watch.noteConfig();
    expect(watched.alerts.open()).toEqual([]);
  });
});

it('R32 stacked_retries: over a tenth of a key in five minutes, and over when the rate falls', async () => {
  watched = new WatchedEngine();
  const { watch, clock } = watched;
  const trace = (clientRetryCount: number) =>
    requestTrace({ keyId: 'app', tier: 'none', clientRetryCount });
  for (let index = 0; index < 40; index += 1) watch.noteEnd(trace(0));
  for (let index = 0; index < 4; index += 1) watch.noteEnd(trace(1));
  expect(watched.told('stacked_retries')).toEqual([]);
  watch.noteEnd(trace(1));
  expect(watched.told('stacked_retries')).toEqual([['key app', false]]);
  expect(watched.notices[0]?.lastError).toContain('5 of 45 requests');
  await clock.advance(2000);
  expect(watched.told('stacked_retries')).toHaveLength(1);
  await clock.advance(6 * minuteMs);
  expect(watched.told('stacked_retries')).toEqual([
    ['key app', false],
    ['key app', true],
  ]);
});

describe('the gateway itself', () => {
  it('log_degraded is seen within a second and over when the recorder is healthy', async () => {
    watched = new WatchedEngine();
    watched.logFault = 'a commit took longer than 250 ms';
    await watched.clock.advance(1000);
    await watched.clock.advance(5000);
    expect(watched.alerts.open()).toMatchObject([
      { kind: 'log_degraded', count: 1, lastError: 'a commit took longer than 250 ms' },
    ]);
    watched.logFault = null;
    await watched.clock.advance(1000);
    expect(watched.told('log_degraded').map(([, isResolved]) => isResolved)).toEqual([false, true]);
  });

  it('redis_lost is told once, and over when breakers are shared again', async () => {
    watched = new WatchedEngine();
    watched.fleetFault = 'Redis cannot be used (slow)';
    await watched.clock.advance(7000);
    expect(watched.alerts.open()).toMatchObject([
      { kind: 'redis_lost', subject: 'shared breakers', count: 1 },
    ]);
    watched.fleetFault = null;
    await watched.clock.advance(1000);
    expect(watched.told('redis_lost').map(([, isResolved]) => isResolved)).toEqual([false, true]);
  });

  it('row_lost counts what was lost and is over after a quiet hour', async () => {
    watched = new WatchedEngine();
    watched.rowsLost = 3;
    await watched.clock.advance(1000);
    expect(watched.alerts.open()).toMatchObject([{ kind: 'row_lost', count: 1 }]);
    await watched.clock.advance(30 * minuteMs);
    watched.rowsLost = 4;
    await watched.clock.advance(1000);
    expect(watched.alerts.open()).toMatchObject([{ count: 2 }]);
    await watched.clock.advance(59 * minuteMs);
    expect(watched.alerts.open()).toHaveLength(1);
    await watched.clock.advance(2 * minuteMs);
    expect(watched.told('row_lost').map(([, isResolved]) => isResolved)).toEqual([false, true]);
  });

  it('internal_error: a request that failed inside is raised and over after a quiet hour', async () => {
    watched = new WatchedEngine();
    const failure = requestFailure({ failureClass: 'internal', status: 500 });
    watched.watch.noteEnd(requestTrace({ outcome: 'failed', failure, attempts: [] }));
    expect(watched.told('internal_error')).toEqual([['gateway', false]]);
    await watched.clock.advance(hourMs + 1000);
    expect(watched.told('internal_error')).toEqual([
      ['gateway', false],
      ['gateway', true],
    ]);
  });

  it('internal_error: a variant that cannot be rendered names its target', async () => {
    const variant = {
      name: 'fast',
      identity: 'fast@00000000',
      source: '',
      config: {},
      toolDescriptions: {},
      variableFaults: () => [],
      render: () => ({ ok: false, fault: 'a helper is unknown' }) as const,
    };
    watched = new WatchedEngine(plainTier([plainTarget('p1', { variant }), plainTarget('p2')]));
    await watched.ask();
    expect(watched.told('internal_error')).toEqual([['p1/m', false]]);
  });

  it('internal_error: a fault inside an attempt names its target, not its key', () => {
    const p1 = plainTarget('p1', { provider: keyed('p1', { P1_KEY: 'k' }) });
    const failure = internalFailure('impossible');
    expect(alertOf(failure, p1, 'P1_KEY', 'r1')).toMatchObject({
      kind: 'internal_error',
      subject: 'p1/m',
    });
  });

  it('config_rejected is over with the next good config', () => {
    watched = new WatchedEngine();
    watched.alerts.raise({
      kind: 'config_rejected',
      subject: 'tiergate.yaml',
      message: 'not valid',
      requestId: null,
    });
    watched.watch.noteConfig();
    expect(watched.told('config_rejected').map(([, isResolved]) => isResolved)).toEqual([
      false,
      true,
    ]);
  });

  it('leaves no timer behind', () => {
    watched = new WatchedEngine();
    expect(watched.clock.pending).toBeGreaterThan(0);
    watched.close();
    expect(watched.clock.pending).toBe(0);
  });
});
