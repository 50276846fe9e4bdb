/** What a fleet's store must do, whatever it is made of: one suite for the model in memory and for Redis. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  BreakerFleet,
  ClaimAnswer,
  FleetClaim,
  FleetPlace,
  FleetRecord,
  FleetState,
  WriteAnswer,
} from '../../../src/resilience/breaker/breaker-fleet.ts';

export type FleetSubject = {
  readonly name: string;
  /** An empty store with so many instances. */
  readonly open: (instances: number) => Promise<OpenFleets>;
};

export type OpenFleets = {
  readonly fleets: readonly BreakerFleet[];
  /** A target that no other test knows. */
  readonly target: string;
  readonly pass: (ms: number) => Promise<void>;
  readonly close: () => Promise<void>;
};

type Member = { readonly place: FleetPlace; readonly heard: FleetRecord[] };

const openState: FleetState = {
  kind: 'open',
  leftMs: 5_000,
  level: 2,
  leaseMs: 400,
  reason: 'failures were sustained',
};
const closedState: FleetState = { kind: 'closed', sinceMs: 1_000, level: 1 };

export function fleetSuite(subject: FleetSubject): void {
  describe(`the store of a fleet: ${subject.name}`, () => {
    let opened: OpenFleets;
    let members: readonly Member[];

    beforeEach(async () => {
      opened = await subject.open(2);
      members = opened.fleets.map((fleet) => {
        const heard: FleetRecord[] = [];
        const place = fleet.join(opened.target, (record) => heard.push(record));
        return { place, heard };
      });
      await opened.pass(100);
    });
    afterEach(async () => {
      for (const { place } of members) place.leave();
      await opened.close();
    });

    function member(index: number): Member {
      const found = members[index];
      if (found === undefined) throw new Error(`there is no member ${index}`);
      return found;
    }
    function write(index: number, generation: number, state: FleetState) {
      return answered<WriteAnswer>((done) => member(index).place.write(generation, state, done));
    }
    function claim(index: number, generation: number, leaseMs = 300) {
      return answered<ClaimAnswer>((done) => member(index).place.claim(generation, leaseMs, done));
    }
    async function granted(index: number, generation: number, leaseMs = 300): Promise<FleetClaim> {
      const answer = await claim(index, generation, leaseMs);
      if (answer?.kind !== 'granted') throw new Error(`not granted: ${JSON.stringify(answer)}`);
      return answer.claim;
    }
    function last(index: number): FleetRecord | undefined {
      return member(index).heard.at(-1);
    }
    async function written(state: FleetState): Promise<number> {
      const answer = await write(0, 0, state);
      if (answer?.kind !== 'written') throw new Error(`not written: ${JSON.stringify(answer)}`);
      return answer.generation;
    }

    it('tells every instance what was written, with its age taken off', async () => {
      const generation = await written(openState);
      await opened.pass(200);
      for (const index of [0, 1]) {
        const record = last(index);
        expect(record).toMatchObject({
          generation,
          state: { kind: 'open', level: 2, leaseMs: 400, reason: 'failures were sustained' },
          probeElsewhereMs: null,
        });
        const leftMs = record?.state?.kind === 'open' ? record.state.leftMs : 0;
        expect(leftMs).toBeGreaterThan(4_000);
        expect(leftMs).toBeLessThanOrEqual(5_000);
      }
    });

    it('tells for how long it has been closed', async () => {
      await written(closedState);
      await opened.pass(200);
      const state = last(1)?.state;
      expect(state).toMatchObject({ kind: 'closed', level: 1 });
      const sinceMs = state?.kind === 'closed' ? state.sinceMs : 0;
      expect(sinceMs).toBeGreaterThanOrEqual(1_000);
      expect(sinceMs).toBeLessThan(10_000);
    });

    it('keeps the newer of two states, and shows it to whoever came too late', async () => {
      const first = await written(openState);
      const late = await write(1, 0, closedState);
      expect(late).toMatchObject({
        kind: 'moved',
        record: { generation: first, state: { kind: 'open' } },
      });
      const next = await write(1, first, closedState);
      expect(next?.kind).toBe('written');
      expect(next?.kind === 'written' && next.generation).toBeGreaterThan(first);
    });

    it('takes a state from one who knows a newer one than it holds itself', async () => {
      const answer = await write(0, 1_000, openState);
      expect(answer?.kind === 'written' && answer.generation).toBeGreaterThan(1_000);
    });

    it('gives the right to probe to one, and the other is told for how long', async () => {
      const generation = await written(openState);
      const claimed = await granted(0, generation, 3_000);
      expect(claimed.forMs).toBe(3_000);
      const other = await claim(1, generation, 3_000);
      expect(other?.kind).toBe('elsewhere');
      const forMs = other?.kind === 'elsewhere' ? other.forMs : 0;
      expect(forMs).toBeGreaterThan(1_000);
      expect(forMs).toBeLessThanOrEqual(3_000);
      await opened.pass(600);
      expect(last(1)?.probeElsewhereMs).toBeGreaterThan(0);
      expect(last(0)?.probeElsewhereMs).toBeNull();
    });

    it('gives the right to the other when it is given back', async () => {
      const claimed = await granted(0, 0, 3_000);
      claimed.release();
      await opened.pass(100);
      await granted(1, 0);
    });

    it('does not let one give back or keep what another has by now', async () => {
      const old = await granted(0, 0, 100);
      await opened.pass(150);
      await granted(1, 0, 3_000);
      old.use(60_000);
      old.release();
      await opened.pass(100);
      const answer = await claim(0, 0);
      expect(answer?.kind).toBe('elsewhere');
      expect(answer?.kind === 'elsewhere' ? answer.forMs : 0).toBeLessThan(10_000);
    });

    it('lets the same instance ask again, and forgets its older right', async () => {
      const old = await granted(0, 0, 3_000);
      await granted(0, 0, 3_000);
      old.release();
      await opened.pass(100);
      expect((await claim(1, 0))?.kind).toBe('elsewhere');
    });

    it('keeps the right for a lease from when the probe began', async () => {
      const claimed = await granted(0, 0, 300);
      claimed.use(2_000);
      await opened.pass(400);
      expect((await claim(1, 0))?.kind).toBe('elsewhere');
    });

    it('gives the right for twice as long each time that it lapsed unused', async () => {
      const kept: number[] = [];
      for (const index of [0, 1, 0]) {
        kept.push((await granted(index, 0, 100)).forMs);
        await opened.pass((kept.at(-1) ?? 0) + 50);
      }
      expect(kept).toEqual([100, 200, 400]);
      const used = await granted(1, 0, 100);
      used.use(100);
      await opened.pass(150);
      expect((await granted(0, 0, 100)).forMs).toBe(100);
    });

    it('ends the right with the state that it was for', async () => {
      const generation = await written(openState);
      await granted(0, generation, 3_000);
      await write(0, generation, closedState);
      await opened.pass(100);
      expect((await claim(1, generation))?.kind).toBe('moved');
      expect(last(1)).toMatchObject({ state: { kind: 'closed' }, probeElsewhereMs: null });
    });

    it('gives no right in a state that is over', async () => {
      await written(openState);
      expect(await claim(1, 0)).toMatchObject({ kind: 'moved', record: { state: { level: 2 } } });
    });
  });
}

function answered<Answer>(ask: (done: (answer: Answer | null) => void) => void) {
  return new Promise<Answer | null>((resolve) => ask(resolve));
}
