/** Steady traffic against the real engine in virtual time: counts, not stories, so that minutes of it fit. */
import { seededRandom } from '../../src/base/random.ts';
import { createAlerts } from '../../src/engine/alerts.ts';
import { createEngine, type Engine } from '../../src/engine/failover.ts';
import { createHealthRegistry, type HealthRegistry } from '../../src/engine/health-registry.ts';
import { OverrideTable } from '../../src/engine/override-table.ts';
import type { BreakerState } from '../../src/resilience/breaker/breaker.ts';
import type { Tier } from '../../src/routing/snapshot.ts';
import { EngineHarness, ok, plainTier } from './engine-harness.ts';
import { plainRequest } from './plain-dialect.ts';
import type { CallFacts, CallScript } from './schedule-calls.ts';
import { SimulatedClock } from './simulated-clock.ts';
import { SimulatedTransport } from './simulated-transport.ts';

export type TrafficPlan = {
  readonly tier: Tier;
  readonly perSecond: number;
  readonly forMs: number;
  /** Requests beyond so many under way are not sent. */
  readonly concurrencyMax: number;
  readonly isStream?: boolean;
  readonly script: (call: CallFacts) => CallScript;
};

export type TrafficCall = Pick<CallFacts, 'provider' | 'requestId' | 'atMs'>;

export type TrafficEnd = {
  readonly arrivedMs: number;
  readonly latencyMs: number;
  readonly outcome: string;
  readonly servedBy: string | null;
  readonly targets: readonly string[];
};

export type StateChange = {
  readonly target: string;
  readonly atMs: number;
  readonly state: BreakerState;
};

const silentLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export class SimulatedTraffic {
  readonly calls: TrafficCall[] = [];
  readonly ends: TrafficEnd[] = [];
  readonly changes: StateChange[] = [];
  readonly health: HealthRegistry;
  /** Most exchanges at one time. */
  openMost = 0;
  readonly #plan: TrafficPlan;
  readonly #clock = new SimulatedClock();
  readonly #transport: SimulatedTransport;
  readonly #engine: Engine;
  readonly #template = new EngineHarness(plainTier([]), () => ok()).request();
  #underWay = 0;
  #count = 0;
  #seq = 0;

  constructor(plan: TrafficPlan, seed = 1) {
    this.#plan = plan;
    const clock = this.#clock;
    const random = seededRandom(seed);
    this.health = createHealthRegistry({ clock, random });
    this.#transport = new SimulatedTransport({
      clock,
      moment: () => ({ atMs: clock.monotonicMs(), seq: this.#seq++ }),
      script: plan.script,
      onCall: ({ provider, requestId, atMs }) => {
        this.calls.push({ provider, requestId, atMs });
        this.openMost = Math.max(this.openMost, this.#transport.open);
        this.#transport.calls.length = 0;
      },
    });
    this.#engine = createEngine({
      clock,
      random,
      transport: this.#transport,
      health: this.health,
      alerts: createAlerts(silentLog, clock),
      overrides: new OverrideTable(),
    });
    for (const target of plan.tier.targets) {
      const health = this.health.of(target, plan.tier);
      let last: BreakerState = 'closed';
      health.onChange(() => {
        const state = health.breakerState();
        if (state === last) return;
        last = state;
        this.changes.push({ target: health.name, atMs: clock.monotonicMs(), state });
      });
    }
  }

  /** All arrivals, and every request to its end. */
  async run(): Promise<void> {
    const { perSecond, forMs } = this.#plan;
    const gapMs = 1000 / perSecond;
    const arrive = (index: number): void => {
      const atMs = index * gapMs;
      if (atMs >= forMs) return;
      this.#clock.at(atMs, () => {
        if (this.#underWay < this.#plan.concurrencyMax) void this.#ask();
        arrive(index + 1);
      });
    };
    arrive(0);
    await this.#clock.runUntil(forMs);
    await this.#clock.runUntil(forMs + 3_600_000, () => this.#underWay === 0);
  }

  /** Requests that arrived in [fromMs, toMs). */
  endsIn(fromMs: number, toMs: number): readonly TrafficEnd[] {
    return this.ends.filter(({ arrivedMs }) => arrivedMs >= fromMs && arrivedMs < toMs);
  }

  /** Of the requests that asked `provider` for the first time from `fromMs` on. */
  callsOfThoseFrom(provider: string, fromMs: number): number {
    const calls = this.calls.filter((call) => call.provider === provider);
    const before = calls.filter(({ atMs }) => atMs < fromMs).map(({ requestId }) => requestId);
    const early = new Set(before);
    return calls.filter(({ requestId }) => !early.has(requestId)).length;
  }

  callsIn(provider: string, fromMs: number, toMs: number): number {
    return this.calls.filter(
      (call) => call.provider === provider && call.atMs >= fromMs && call.atMs < toMs,
    ).length;
  }

  async #ask(): Promise<void> {
    this.#underWay += 1;
    this.#count += 1;
    const nowMs = this.#clock.monotonicMs();
    const { tier } = this.#plan;
    const id = `r${this.#count}`;
    const original = { dialect: 'plain', bytes: Buffer.from(id), json: {} } as const;
    const run = this.#engine.start({
      ...this.#template,
      id,
      clientRequestId: id,
      tier,
      chat: plainRequest({ model: tier.name, isStream: this.#plan.isStream ?? true, original }),
      arrivedAtMs: nowMs,
      deadlineAtMs: nowMs + tier.deadlineMs,
      startedAtMs: this.#clock.wallMs(),
    });
    const answer = await run.answer;
    if (answer.kind === 'stream') {
      for await (const batch of answer.batches) if (batch.isLast) break;
    }
    const { outcome, serving, attempts, latencyMs } = run.trace();
    this.ends.push({
      arrivedMs: nowMs,
      latencyMs,
      outcome,
      servedBy: outcome === 'served' ? (serving?.target ?? null) : null,
      targets: attempts.map(({ target }) => target),
    });
    this.#underWay -= 1;
  }
}
