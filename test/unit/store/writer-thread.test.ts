/** The writer thread: one answer a request, in order, and a new thread when one died. */
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { servedColumns } from '../../../src/store/sqlite/served-columns.ts';
import { startWriterThread } from '../../../src/store/sqlite/writer/writer-thread.ts';
import { countOf, encodedTrace, temporaryDatabase, temporaryDirectory } from './temporary-store.ts';

function setUp(entry?: URL) {
  const file = join(temporaryDirectory(), 'tiergate.db');
  const database = temporaryDatabase(file);
  const settings = { file, busyTimeoutMs: 1_000, columns: servedColumns };
  const writer = startWriterThread(settings, entry);
  onTestFinished(() => writer.close());
  const commit = (id: string) =>
    writer.ask({ kind: 'commit', rows: [encodedTrace({ id })], markers: [], ended: [] });
  return { database, writer, commit };
}

describe('the writer thread', () => {
  it('answers each request once, in order', async () => {
    const { database, writer, commit } = setUp();
    const replies = await Promise.all([
      writer.ask({ kind: 'check', instance: 'now' }),
      commit('a'),
      writer.ask({ kind: 'index' }),
      writer.ask({ kind: 'adopt', instance: 'now' }),
      writer.ask({ kind: 'checkpoint' }),
      writer.ask({
        kind: 'prune',
        beforeMs: Number.MAX_SAFE_INTEGER,
        originsBeforeMs: Number.MAX_SAFE_INTEGER,
      }),
    ]);
    expect(replies.map((reply) => (reply.ok ? reply.value : reply.fault))).toEqual([
      null,
      [],
      { isDone: true },
      0,
      { pages: expect.any(Number), writtenBack: expect.any(Number) },
      { deleted: 1, isDone: true },
    ]);
    expect(countOf(database, 'requests')).toBe(0);
  });

  it('that dies fails what it was asked, and the next request starts another', async () => {
    const frail = setUp(new URL('./frail-writer-worker.ts', import.meta.url));
    expect(await frail.commit('a')).toEqual({ ok: true, value: [] });
    const [died, waiting] = await Promise.all([
      frail.writer.ask({ kind: 'checkpoint' }),
      frail.commit('b'),
    ]);
    expect(died).toMatchObject({ ok: false, fault: { kind: 'writer_died' } });
    expect(waiting).toMatchObject({ ok: false, fault: { kind: 'writer_died' } });
    expect(await frail.commit('b')).toEqual({ ok: true, value: [] });
    expect(countOf(frail.database, 'requests')).toBe(2);
  });

  it('fails, and starts nothing, after it was closed', async () => {
    const { writer } = setUp();
    await writer.ask({ kind: 'index' });
    await writer.close();
    expect(await writer.ask({ kind: 'index' })).toMatchObject({ ok: false });
  });

  it('says what is wrong with its file', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'none.db');
    const writer = startWriterThread({ file, busyTimeoutMs: 0, columns: servedColumns });
    onTestFinished(() => writer.close());
    expect(await writer.ask({ kind: 'check', instance: 'now' })).toMatchObject({
      ok: false,
      fault: { kind: 'unwritable' },
    });
  });
});
