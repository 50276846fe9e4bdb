/** Who made what, written by the writer thread and read by the main one. */
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../../src/base/log-port.ts';
import type { Origin } from '../../../src/engine/origins.ts';
import { DatabaseAccess } from '../../../src/store/sqlite/database-access.ts';
import { originsKeptMs, SqliteOrigins } from '../../../src/store/sqlite/sqlite-origins.ts';
import { OriginWriter } from '../../../src/store/sqlite/writer/origin-writer.ts';
import type { WriterRequest } from '../../../src/store/sqlite/writer/writer-protocol.ts';
import type { Writer } from '../../../src/store/sqlite/writer/writer-thread.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { ScriptedWriter } from './scripted-writer.ts';
import { countOf, temporaryDatabase, temporaryDirectory } from './temporary-store.ts';

const origin: Origin = { target: 'a/m', provider: 'a', keyAlias: 'KEY', isKept: true };

/** With a database, and a writer that writes into it at once, as long as it is healthy. */
function setUp() {
  const file = join(temporaryDirectory(), 'tiergate.db');
  const database = temporaryDatabase(file);
  const clock = new VirtualClock();
  const access = new DatabaseAccess(file, clock);
  onTestFinished(() => access.close());
  const scripted = new ScriptedWriter();
  const origins = new OriginWriter(database);
  const ask = async (request: WriterRequest) => {
    const reply = await scripted.writer.ask(request);
    if (reply.ok && request.kind === 'note_origins') origins.note(request.rows);
    return reply;
  };
  const writer: Writer = { ...scripted.writer, ask: ask as Writer['ask'] };
  const open = () => new SqliteOrigins({ access, writer, clock, log: silentLog });
  return { database, clock, access, scripted, open };
}

function found(origins: SqliteOrigins, ...ids: readonly string[]) {
  const result = origins.find(ids);
  if (!result.ok) throw new Error(result.fault);
  return Object.fromEntries(result.value);
}

describe('origins', () => {
  it('are known at once, and to a process that starts later', async () => {
    const { open } = setUp();
    const first = open();
    const noted = first.note(['resp_1', 'rs_1'], origin);
    expect(found(first, 'resp_1', 'resp_2')).toEqual({ resp_1: origin });
    await noted;
    const later = found(open(), 'resp_1', 'rs_1', 'resp_2');
    expect(later).toMatchObject({ resp_1: origin, rs_1: origin });
    expect(Object.keys(later)).toHaveLength(2);
  });

  it('of an id that is made again are those of the last maker', async () => {
    const { open, database } = setUp();
    await open().note(['conv_1'], origin);
    await open().note(['conv_1'], { ...origin, keyAlias: null, isKept: false });
    expect(found(open(), 'conv_1')).toMatchObject({ conv_1: { keyAlias: null, isKept: false } });
    expect(countOf(database, 'origins')).toBe(1);
  });

  it('are forgotten after 30 days', async () => {
    const { open, clock } = setUp();
    const origins = open();
    await origins.note(['resp_1'], origin);
    await clock.advance(originsKeptMs + 1);
    expect(found(origins, 'resp_1')).toEqual({});
    expect(found(open(), 'resp_1')).toEqual({});
  });

  it('wait for a database that is out of order, and nobody waits for them longer than a moment', async () => {
    const { open, clock, scripted } = setUp();
    scripted.mood = 'silent';
    const origins = open();
    let isAnswered = false;
    const noted = origins.note(['resp_1'], origin).then(() => {
      isAnswered = true;
    });
    await clock.advance(249);
    await Promise.resolve();
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    await noted;
    scripted.mood = 'locked';
    scripted.release();
    await Promise.resolve();
    expect(found(origins, 'resp_1')).toEqual({ resp_1: origin });
    scripted.mood = null;
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    await clock.advance(1000);
    await origins.close();
    expect(found(open(), 'resp_1')).toMatchObject({ resp_1: origin });
  });

  it('are at most so many while they wait, and an id without end is nobody’s', async () => {
    const { open, scripted, database } = setUp();
    scripted.mood = 'locked';
    const origins = open();
    await origins.note(
      Array.from({ length: 20_500 }, (_, at) => `resp_${at}`),
      origin,
    );
    await origins.note(['x'.repeat(257)], origin);
    scripted.mood = null;
    await origins.close();
    expect(countOf(database, 'origins')).toBe(20_000);
    expect(countOf(database, "origins where id = 'resp_0'")).toBe(0);
    expect(found(origins, 'x'.repeat(257))).toEqual({});
  });

  it('cannot be found out while the database cannot be read, but for what memory holds', async () => {
    const { open, access } = setUp();
    const origins = open();
    await origins.note(['resp_1'], origin);
    access.close();
    const missing = new DatabaseAccess(
      join(temporaryDirectory(), 'none', 'no.db'),
      new VirtualClock(),
    );
    const blind = new SqliteOrigins({
      access: missing,
      writer: new ScriptedWriter().writer,
      clock: new VirtualClock(),
      log: silentLog,
    });
    expect(blind.find(['resp_1']).ok).toBe(false);
    await blind.note(['resp_2'], origin);
    expect(found(blind, 'resp_2')).toEqual({ resp_2: origin });
  });
});
