/** What runs beside the commits, and when. */
import { describe, expect, it } from 'vitest';
import { scheduleUpkeep } from '../../../src/store/sqlite/upkeep-schedule.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { ScriptedWriter } from './scripted-writer.ts';

function setUp(parts: { readonly isHealthy?: boolean } = {}) {
  const clock = new VirtualClock();
  const committer = new ScriptedWriter();
  const keeper = new ScriptedWriter();
  let batches = 0;
  const upkeep = scheduleUpkeep({
    writer: committer.writer,
    keeper: keeper.writer,
    batches: () => batches,
    isHealthy: () => parts.isHealthy ?? true,
    clock,
  });
  const kindsOf = (writer: ScriptedWriter): string[] => writer.asked.map(({ kind }) => kind);
  return {
    clock,
    committer,
    keeper,
    upkeep,
    commitOne: () => {
      batches += 1;
    },
    kindsOf,
  };
}

describe('upkeep', () => {
  it('indexes with the committing thread and writes back with the other, once a second', async () => {
    const { clock, committer, keeper, commitOne, kindsOf } = setUp();
    commitOne();
    await clock.advance(1_000);
    expect(kindsOf(committer)).toEqual(['index']);
    expect(kindsOf(keeper)).toEqual(['checkpoint']);
    commitOne();
    await clock.advance(1_000);
    expect(kindsOf(keeper)).toHaveLength(2);
  });

  it('does nothing while no commits come, nor while the log is degraded', async () => {
    const idle = setUp();
    await idle.clock.advance(1_000);
    const askedFirst = idle.keeper.asked.length;
    await idle.clock.advance(60_000);
    expect(idle.keeper.asked.length).toBe(askedFirst);
    const sick = setUp({ isHealthy: false });
    sick.commitOne();
    await sick.clock.advance(60_000);
    expect(sick.committer.asked).toEqual([]);
  });

  it('has one round under way, and the next one a second after it', async () => {
    const { clock, keeper, commitOne } = setUp();
    keeper.mood = 'silent';
    commitOne();
    await clock.advance(1_000);
    commitOne();
    await clock.advance(10_000);
    expect(keeper.asked).toHaveLength(1);
    keeper.mood = null;
    keeper.release();
    await clock.advance(1_000);
    expect(keeper.asked).toHaveLength(2);
  });

  it('goes on after a fault', async () => {
    const { clock, committer, keeper, commitOne } = setUp();
    committer.mood = 'locked';
    keeper.mood = 'locked';
    commitOne();
    await clock.advance(1_000);
    committer.mood = null;
    keeper.mood = null;
    commitOne();
    await clock.advance(1_000);
    expect(keeper.asked).toHaveLength(2);
  });

  it('stops, closes its thread, and leaves no timer', async () => {
    const { clock, keeper, upkeep } = setUp();
    await upkeep.stop();
    expect(keeper.isClosed).toBe(true);
    expect(clock.pending).toBe(0);
  });
});
