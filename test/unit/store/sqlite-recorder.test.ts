/** The recorder's queue, its patience and its spill, with a writer that does as the test says. */
import { describe, expect, it } from 'vitest';
import type { LogFields } from '../../../src/base/log-port.ts';
import type { RecordOutcome } from '../../../src/served-by/recorder.ts';
import { servedColumns } from '../../../src/store/sqlite/served-columns.ts';
import type { Spill } from '../../../src/store/sqlite/spill-file.ts';
import { SqliteRecorder } from '../../../src/store/sqlite/sqlite-recorder.ts';
import { requestTrace } from '../../support/traces.ts';
import { settle as settleTurns, VirtualClock } from '../../support/virtual-clock.ts';
import { ScriptedWriter } from './scripted-writer.ts';

/** Rows are gathered over some turns of the event loop. */
async function settle(): Promise<void> {
  for (let round = 0; round < 4; round += 1) await settleTurns();
}

type Line = { readonly level: string; readonly message: string; readonly fields: LogFields };

/** A spill in memory: `isFull` refuses lines. */
class MemorySpill implements Spill {
  lines: string[] = [];
  isFull = false;
  #sealed: string[] = [];
  readonly append = (line: string): boolean => {
    if (!this.isFull) this.lines.push(line);
    return !this.isFull;
  };
  readonly seal = () => {
    this.#sealed.push(...this.lines);
    this.lines = [];
    const bytes = this.#sealed.reduce((sum, line) => sum + line.length, 0);
    return { paths: bytes > 0 ? ['sealed'] : [], bytes };
  };
  readonly remove = (): boolean => {
    this.#sealed = [];
    return true;
  };
  readonly close = (): void => undefined;
  idsOf(): string[] {
    return this.lines.map((line) => {
      const { request, marker } = JSON.parse(line);
      return request === undefined ? `marker ${marker.id}` : request.id;
    });
  }
}

async function setUp(
  parts: { readonly mood?: ScriptedWriter['mood']; readonly waitingRowsMax?: number } = {},
) {
  const clock = new VirtualClock();
  const scripted = new ScriptedWriter();
  scripted.mood = parts.mood ?? null;
  const spill = new MemorySpill();
  const lines: Line[] = [];
  const write =
    (level: string) =>
    (message: string, fields: LogFields = {}) => {
      lines.push({ level, message, fields });
    };
  const recorder = new SqliteRecorder({
    prepare: () => null,
    columns: servedColumns,
    writer: scripted.writer,
    spill,
    instance: 'now',
    ...(parts.waitingRowsMax === undefined ? {} : { waitingRowsMax: parts.waitingRowsMax }),
    commitWaitMs: () => 250,
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    clock,
  });
  await Promise.race([recorder.start(), settle()]);
  const outcomes = new Map<string, RecordOutcome>();
  const record = (id: string): void => {
    void recorder.record(requestTrace({ id })).then((outcome) => outcomes.set(id, outcome));
  };
  const alerts = (): unknown[] => lines.flatMap(({ fields }) => fields['alert'] ?? []);
  return { clock, scripted, spill, lines, recorder, outcomes, record, alerts };
}

describe('a healthy log', () => {
  it('commits what one turn of the event loop brings in one batch', async () => {
    const { scripted, outcomes, record, recorder } = await setUp();
    record('a');
    record('b');
    record('c');
    await settle();
    expect(scripted.commits.map(({ rows }) => rows.length)).toEqual([3]);
    expect([...outcomes]).toEqual([
      ['a', 'committed'],
      ['b', 'committed'],
      ['c', 'committed'],
    ]);
    expect(recorder.counts()).toEqual({
      committed: 3,
      spilled: 0,
      lost: 0,
      batches: 1,
      waiting: 0,
    });
    expect(recorder.degradedReason()).toBeNull();
  });

  it('has one batch under way, and puts all that comes meanwhile into the next', async () => {
    const { scripted, outcomes, record } = await setUp();
    scripted.mood = 'silent';
    record('a');
    await settle();
    record('b');
    await settle();
    record('c');
    await settle();
    expect(scripted.commits).toHaveLength(1);
    expect(outcomes.size).toBe(0);
    scripted.mood = null;
    scripted.release();
    await settle();
    expect(scripted.commits.map(({ rows }) => rows.length)).toEqual([1, 2]);
    expect(outcomes.size).toBe(3);
  });

  it('bounds a batch', async () => {
    const { scripted, record, outcomes } = await setUp();
    for (let at = 0; at < 1_200; at += 1) record(`id-${at}`);
    await settle();
    expect(scripted.commits.map(({ rows }) => rows.length)).toEqual([500, 500, 200]);
    expect(outcomes.size).toBe(1_200);
  });

  it('counts a row that the database refuses as lost, and says so', async () => {
    const { scripted, record, outcomes, recorder, alerts } = await setUp();
    scripted.refused = [1];
    record('a');
    record('b');
    await settle();
    expect(outcomes.get('a')).toBe('committed');
    expect(outcomes.get('b')).toBe('lost');
    expect(recorder.counts()).toMatchObject({ committed: 1, lost: 1 });
    expect(alerts()).toEqual(['row_lost']);
  });
});

describe('a slow commit', () => {
  it('is waited for until the limit, then its rows and all that follow are spilled', async () => {
    const { clock, scripted, spill, outcomes, record, recorder, alerts } = await setUp();
    scripted.mood = 'silent';
    record('a');
    await clock.advance(100);
    record('b');
    await clock.advance(149);
    expect(outcomes.size).toBe(0);
    await clock.advance(10);
    record('c');
    await settle();
    expect([...outcomes.values()]).toEqual(['spilled', 'spilled', 'spilled']);
    expect(spill.idsOf()).toEqual(['a', 'b', 'c']);
    expect(recorder.degradedReason()).toBe('a commit took longer than 250 ms');
    expect(alerts()).toEqual(['log_degraded']);
  });

  it('whose answer is already there when the timer fires is no overrun', async () => {
    const { clock, scripted, outcomes, record, recorder } = await setUp();
    scripted.mood = 'silent';
    record('a');
    await settle();
    clock.schedule(250, () => {
      scripted.mood = null;
      scripted.release();
    });
    await clock.advance(400);
    expect(outcomes.get('a')).toBe('committed');
    expect(recorder.degradedReason()).toBeNull();
  });

  it('that succeeds after all doubles nothing and settles nothing twice', async () => {
    const { clock, scripted, spill, outcomes, record, recorder } = await setUp();
    scripted.mood = 'silent';
    record('a');
    await clock.advance(260);
    expect(outcomes.get('a')).toBe('spilled');
    scripted.mood = null;
    scripted.release();
    await settle();
    expect(recorder.counts()).toMatchObject({ committed: 0, spilled: 1 });
    await clock.advance(1_100);
    expect(spill.lines).toEqual([]);
    expect(recorder.degradedReason()).toBeNull();
  });
});

describe('a degraded log', () => {
  it('begins at once when the database fails', async () => {
    const { scripted, spill, outcomes, record } = await setUp();
    scripted.mood = 'full';
    record('a');
    await settle();
    expect(outcomes.get('a')).toBe('spilled');
    expect(spill.idsOf()).toEqual(['a']);
  });

  it('counts a row as lost when the spill takes none either', async () => {
    const { scripted, spill, outcomes, record, recorder, alerts } = await setUp();
    scripted.mood = 'full';
    spill.isFull = true;
    record('a');
    await settle();
    expect(outcomes.get('a')).toBe('lost');
    expect(recorder.counts()).toMatchObject({ lost: 1, spilled: 0 });
    expect(alerts()).toEqual(['log_degraded', 'row_lost']);
  });

  it('tries again every second, and never makes a row wait for that', async () => {
    const { clock, scripted, outcomes, record } = await setUp();
    scripted.mood = 'locked';
    record('a');
    await settle();
    for (let second = 0; second < 5; second += 1) {
      await clock.advance(1_000);
      record(`during ${second}`);
      await settle();
      expect(outcomes.get(`during ${second}`)).toBe('spilled');
    }
    expect(scripted.asked.filter(({ kind }) => kind === 'check').length).toBeGreaterThanOrEqual(5);
  });

  it('alerts once, however long it lasts', async () => {
    const { clock, scripted, record, alerts } = await setUp();
    scripted.mood = 'locked';
    for (let second = 0; second < 20; second += 1) {
      record(`id-${second}`);
      await clock.advance(1_000);
    }
    expect(alerts()).toEqual(['log_degraded']);
  });

  it('imports the spill when commits succeed again, and only then is healthy', async () => {
    const { clock, scripted, spill, record, recorder, lines, outcomes } = await setUp();
    scripted.mood = 'locked';
    record('a');
    await settle();
    scripted.mood = null;
    await clock.advance(1_000);
    expect(scripted.asked.some(({ kind }) => kind === 'import')).toBe(true);
    expect(spill.lines).toEqual([]);
    expect(recorder.degradedReason()).toBeNull();
    expect(lines.at(-1)?.message).toContain('healthy again');
    record('b');
    await settle();
    expect(outcomes.get('b')).toBe('committed');
  });

  it('holds live rows back while the last of the spill is imported, in their order', async () => {
    const { clock, scripted, record, outcomes, recorder } = await setUp();
    scripted.mood = 'locked';
    record('a');
    await settle();
    scripted.mood = 'silent';
    await clock.advance(1_000);
    scripted.mood = null;
    scripted.release();
    await settle();
    scripted.mood = 'silent';
    record('b');
    await settle();
    scripted.mood = null;
    scripted.release();
    await settle();
    expect(outcomes.get('b')).toBe('committed');
    expect(recorder.degradedReason()).toBeNull();
    const kinds = scripted.asked.map(({ kind }) => kind);
    expect(kinds.lastIndexOf('import')).toBeLessThan(kinds.lastIndexOf('commit'));
  });

  it('bounds the rows that wait', async () => {
    const { scripted, record, outcomes, recorder } = await setUp({ waitingRowsMax: 20 });
    scripted.mood = 'silent';
    record('first');
    await settle();
    for (let at = 0; at < 20; at += 1) record(`id-${at}`);
    await settle();
    expect(outcomes.size).toBe(0);
    record('one too many');
    await settle();
    expect(outcomes.size).toBe(22);
    expect(recorder.degradedReason()).toContain('more rows wait');
  });
});

describe('a writer that dies', () => {
  it('gets the batch again, whole', async () => {
    const { scripted, record, outcomes } = await setUp();
    scripted.mood = 'silent';
    record('a');
    record('b');
    await settle();
    scripted.mood = 'writer_died';
    scripted.release();
    scripted.mood = null;
    await settle();
    const [first, second] = scripted.commits;
    expect(second?.rows).toEqual(first?.rows);
    expect([...outcomes.values()]).toEqual(['committed', 'committed']);
  });

  it('twice degrades the log', async () => {
    const { scripted, record, outcomes, recorder } = await setUp();
    scripted.mood = 'writer_died';
    record('a');
    await settle();
    expect(outcomes.get('a')).toBe('spilled');
    expect(recorder.degradedReason()).toContain('writer');
  });
});

describe('markers', () => {
  it('of long requests join the next batch, and go with the row', async () => {
    const { clock, scripted, recorder, record } = await setUp();
    recorder.begin({ id: 'a', clientRequestId: 'c', startedAtMs: 7, tier: 'fast', keyId: 'k' });
    await clock.advance(300);
    expect(scripted.commits.at(-1)?.markers).toEqual([
      { id: 'a', instance: 'now', clientRequestId: 'c', startedAtMs: 7, tier: 'fast', keyId: 'k' },
    ]);
    record('a');
    await settle();
    expect(scripted.commits.at(-1)).toMatchObject({ markers: [], ended: ['a'] });
  });

  it('are not made of short requests, whose batch deletes nothing', async () => {
    const { clock, scripted, recorder, record } = await setUp();
    recorder.begin({ id: 'a', startedAtMs: 7, tier: 'fast', keyId: null });
    record('a');
    await clock.advance(500);
    expect(scripted.commits).toMatchObject([{ markers: [], ended: [] }]);
  });

  it('are spilled before the row that ends them', async () => {
    const { clock, scripted, spill, recorder, record } = await setUp();
    recorder.begin({ id: 'a', startedAtMs: 7, tier: 'fast', keyId: null });
    await clock.advance(150);
    scripted.mood = 'silent';
    record('stuck');
    await settle();
    await clock.advance(200);
    record('a');
    await clock.advance(60);
    expect(spill.idsOf()).toEqual(['marker a', 'stuck', 'a']);
  });
});

describe('a start', () => {
  it('with a locked database serves from the spill, and says so', async () => {
    const { record, outcomes, recorder, alerts } = await setUp({ mood: 'locked' });
    expect(recorder.degradedReason()).toContain('locked');
    record('a');
    await settle();
    expect(outcomes.get('a')).toBe('spilled');
    expect(alerts()).toEqual(['log_degraded']);
  });

  it('takes rows before the database is open, and commits them then', async () => {
    const { scripted, record, outcomes } = await setUp({ mood: 'silent' });
    record('a');
    await settle();
    expect(scripted.commits).toEqual([]);
    scripted.mood = null;
    scripted.release();
    await settle();
    expect(outcomes.get('a')).toBe('committed');
  });
});

describe('a close', () => {
  it('commits what is queued, then closes the writer, and leaves no timer', async () => {
    const { clock, scripted, recorder, record, outcomes } = await setUp();
    record('a');
    const closed = recorder.close();
    await settle();
    await closed;
    expect(outcomes.get('a')).toBe('committed');
    expect(scripted.isClosed).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('spills what cannot be committed in time', async () => {
    const { clock, scripted, spill, recorder, record, outcomes } = await setUp();
    scripted.mood = 'silent';
    record('a');
    await settle();
    const closed = recorder.close();
    await clock.advance(6_000);
    await closed;
    expect(outcomes.get('a')).toBe('spilled');
    expect(spill.idsOf()).toEqual(['a']);
    expect(clock.pending).toBe(0);
  });

  it('spills rows that come after it', async () => {
    const { spill, recorder, record, outcomes } = await setUp();
    await recorder.close();
    record('late');
    await settle();
    expect(outcomes.get('late')).toBe('spilled');
    expect(spill.idsOf()).toEqual(['late']);
  });
});
