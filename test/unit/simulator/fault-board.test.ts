/** Which request a fault strikes, and for how long. */
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/base/random.ts';
import { type Fault, faultOfKind } from '../../../src/simulator/faults/fault.ts';
import { FaultBoard } from '../../../src/simulator/faults/fault-board.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

function board() {
  const clock = new VirtualClock();
  let changes = 0;
  const faults = new FaultBoard({
    clock,
    random: seededRandom(7),
    onChange: () => {
      changes += 1;
    },
  });
  const strikes = (count: number, model = 'm'): readonly (Fault['kind'] | null)[] =>
    Array.from({ length: count }, () => faults.strike('a', model)?.kind ?? null);
  return { clock, faults, strikes, changes: () => changes };
}

describe('the fault board', () => {
  it('strikes the named provider until the time is over', async () => {
    const { clock, faults, strikes, changes } = board();
    faults.add('a', faultOfKind('overload', { forMs: 60_000 }));
    expect(faults.strike('b', 'm')).toBeNull();
    await clock.advance(59_999);
    expect(strikes(2)).toEqual(['overload', 'overload']);
    expect(faults.list('a')).toMatchObject([{ remainingMs: 1, struck: 2 }]);
    await clock.advance(1);
    expect(strikes(1)).toEqual([null]);
    expect([faults.isEmpty, clock.pending, changes()]).toEqual([true, 0, 2]);
  });

  it('lets the latest order win, and the older one again after it', async () => {
    const { clock, faults, strikes } = board();
    faults.add('a', faultOfKind('overload'));
    faults.add('a', faultOfKind('silent', { forMs: 10 }));
    expect(strikes(1)).toEqual(['silent']);
    await clock.advance(10);
    expect(strikes(1)).toEqual(['overload']);
  });

  it('strikes a share of the requests, the same ones for the same seed', () => {
    const run = (): readonly (string | null)[] => {
      const { faults, strikes } = board();
      faults.add('a', faultOfKind('overload', { share: 0.3 }));
      return strikes(1_000);
    };
    const first = run();
    const struck = first.filter((kind) => kind !== null).length;
    expect(struck).toBeGreaterThan(250);
    expect(struck).toBeLessThan(350);
    expect(run()).toEqual(first);
  });

  it('strikes a number of requests, and only the named model', () => {
    const { faults, strikes } = board();
    faults.add('a', faultOfKind('quota', { count: 2, model: 'x' }));
    expect([...strikes(1, 'y'), ...strikes(3, 'x')]).toEqual([null, 'quota', 'quota', null]);
    expect(faults.isEmpty).toBe(true);
  });

  it('flaps: down for a period, up for the next', async () => {
    const { clock, faults, strikes } = board();
    faults.add('a', faultOfKind('flap', { periodMs: 5_000 }));
    const seen: (string | null)[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      seen.push(...strikes(1));
      await clock.advance(2_500);
    }
    expect(seen).toEqual(['flap', 'flap', null, null, 'flap', 'flap']);
  });

  it('is cleared for one provider or for all, and keeps no timer', () => {
    const { clock, faults } = board();
    for (const name of ['a', 'b', 'b']) faults.add(name, faultOfKind('down', { forMs: 1_000 }));
    expect([faults.isDown('a'), faults.isDown('c')]).toEqual([true, false]);
    expect(faults.strike('a', 'm')).toBeNull();
    expect([faults.clear('a'), faults.clear(null), faults.clear(null)]).toEqual([1, 2, 0]);
    expect(clock.pending).toBe(0);
  });

  it('is bounded', () => {
    const { faults } = board();
    const added = Array.from({ length: 101 }, () => faults.add('a', faultOfKind('cut')));
    expect(added.map((one) => one !== null).lastIndexOf(true)).toBe(99);
    expect(added.at(100)).toBeNull();
  });
});
