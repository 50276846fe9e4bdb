/** Breakers of a fleet under random traffic, delays, lost messages and cuts: what must hold in every run. */
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom, uniform } from '../../src/base/random.ts';
import type { Breaker, Permit } from '../../src/resilience/breaker/breaker.ts';
import { createSharedBreaker } from '../../src/resilience/breaker/shared-breaker.ts';
import { shippedPolicy } from '../conformance/breaker/subjects.ts';
import { effort } from '../support/effort.ts';
import { MemoryFleet, MemoryFleetStore } from '../support/memory-fleet.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const seeds = effort(40, 600);
const lookEveryMs = 500;
const delayMsMax = 50;
const outageMs = 120_000;
/** No open period, and so no lease, is shorter. */
const leaseMsMin = shippedPolicy.openForMs * 0.8;

type Member = {
  readonly fleet: MemoryFleet;
  readonly breaker: Breaker;
  /** Mean time between its requests. */
  readonly gapMs: number;
};

class FleetRun {
  readonly clock = new SimulatedClock();
  readonly random: Random;
  readonly members: Member[] = [];
  readonly probes = new Set<{ readonly startedMs: number }>();
  readonly #store = new MemoryFleetStore(this.clock);
  readonly #hasCuts: boolean;
  isUpstreamWell = false;
  mostProbes = 0;
  probesBegun = 0;

  constructor(seed: number, hasCuts: boolean) {
    this.random = seededRandom(seed);
    this.#hasCuts = hasCuts;
    const size = 2 + Math.floor(this.random.next() * 3);
    for (let nth = 0; nth < size; nth += 1) this.#addMember(`instance-${nth}`);
  }

  #addMember(label: string): void {
    const fleet = new MemoryFleet(this.#store, this.clock, label);
    fleet.delayMs = uniform(this.random, 0, delayMsMax);
    fleet.isTold = this.random.next() < 0.7;
    const { clock, random } = this;
    const breaker = createSharedBreaker({ name: 'provider/model', clock, random, fleet });
    const gapMs = [50, 400, 3_000, 25_000][Math.floor(random.next() * 4)] ?? 400;
    this.members.push({ fleet, breaker, gapMs });
    this.#every(
      () => lookEveryMs,
      () => fleet.look(),
    );
    this.#every(
      () => uniform(random, 0, 2 * gapMs),
      () => this.#request(breaker),
    );
    if (this.#hasCuts) {
      this.#every(
        () => uniform(random, 500, 20_000),
        () => {
          fleet.isReachable = !fleet.isReachable || this.clock.monotonicMs() > outageMs;
        },
      );
    }
  }

  #every(waitMs: () => number, task: () => void): void {
    const again = (): void =>
      this.clock.at(this.clock.monotonicMs() + waitMs(), () => {
        task();
        again();
      });
    again();
  }

  #request(breaker: Breaker): void {
    const admission = breaker.admit();
    if (!admission.isAdmitted) return;
    const { permit } = admission;
    const startedMs = this.clock.monotonicMs();
    const probe = { startedMs };
    if (permit.isProbe) {
      this.probes.add(probe);
      this.probesBegun += 1;
      const young = [...this.probes].filter((other) => startedMs - other.startedMs < leaseMsMin);
      this.mostProbes = Math.max(this.mostProbes, young.length);
    }
    const tookMs = this.random.next() < 0.05 ? 30_000 : uniform(this.random, 5, 1_500);
    this.clock.at(startedMs + tookMs, () => {
      this.probes.delete(probe);
      this.#settle(permit);
    });
  }

  #settle(permit: Permit): void {
    const mark = this.isUpstreamWell ? 'success' : 'failure';
    permit.settle(this.random.next() < 0.1 ? 'none' : mark, shippedPolicy);
  }

  async run(ms: number): Promise<void> {
    await this.clock.runUntil(this.clock.monotonicMs() + ms);
  }

  states(): readonly string[] {
    return this.members.map(({ breaker }) => breaker.view().state);
  }
}

/** The longest open period, and requests that come seldom: each instance is asked some times. */
const recoveryMs = 400_000;

describe('breakers of a fleet', () => {
  it(`R72 have at most one probe at a time, agree, and come back: ${seeds} runs`, async () => {
    let probes = 0;
    for (let seed = 1; seed <= seeds; seed += 1) {
      const run = new FleetRun(seed, false);
      await run.run(outageMs);
      expect(new Set(run.states().map(isClosed)).size, `seed ${seed}: agree`).toBe(1);
      run.isUpstreamWell = true;
      await run.run(recoveryMs);
      expect(run.states().every(isClosed), `seed ${seed}: ${run.states()}`).toBe(true);
      expect(run.mostProbes, `seed ${seed}: probes at once`).toBeLessThanOrEqual(1);
      probes += run.probesBegun;
    }
    expect(probes).toBeGreaterThan(seeds * 3);
  });

  it(`agree again and come back after cuts: ${seeds} runs`, async () => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const run = new FleetRun(seed, true);
      await run.run(outageMs);
      run.isUpstreamWell = true;
      await run.run(recoveryMs);
      expect(run.states().every(isClosed), `seed ${seed}: ${run.states()}`).toBe(true);
    }
  });
});

function isClosed(state: string): boolean {
  return state === 'closed';
}
