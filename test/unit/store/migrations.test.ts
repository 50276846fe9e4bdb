/** The journal of migrations: complete, in order, and able to bring an old file up. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { describe, expect, it } from 'vitest';
import * as schema from '../../../src/store/sqlite/schema.ts';
import { temporaryDatabase, temporaryDirectory } from './temporary-store.ts';

const folder = resolve('migrations/sqlite');

type JournalEntry = { readonly idx: number; readonly when: number; readonly tag: string };

function journalEntries(): readonly JournalEntry[] {
  const text = readFileSync(join(folder, 'meta/_journal.json'), 'utf8');
  return (JSON.parse(text) as { readonly entries: readonly JournalEntry[] }).entries;
}

describe('the journal', () => {
  it('has rising times, without gaps', () => {
    const entries = journalEntries();
    expect(entries.length).toBeGreaterThan(0);
    expect(entries.map(({ idx }) => idx)).toEqual(entries.map((_, at) => at));
    const times = entries.map(({ when }) => when);
    expect(times).toEqual([...new Set(times)].sort((left, right) => left - right));
  });

  it('names every SQL file, and no other', () => {
    const files = readdirSync(folder).filter((name) => name.endsWith('.sql'));
    expect(files.sort()).toEqual(
      journalEntries()
        .map(({ tag }) => `${tag}.sql`)
        .sort(),
    );
  });
});

describe('the schema', () => {
  it('has the columns that the database has', () => {
    const database = temporaryDatabase();
    const tables = Object.values(schema).filter((value) => is(value, SQLiteTable));
    expect(tables.length).toBeGreaterThan(5);
    for (const table of tables) {
      const found = database.pragma(`table_info(${getTableName(table)})`) as { name: string }[];
      const wanted = Object.values(getTableColumns(table)).map(({ name }) => name);
      expect(found.map(({ name }) => name)).toEqual(wanted);
    }
  });
});

describe('an old database', () => {
  it.each(journalEntries().map(({ idx }) => idx))(
    'of migration %i upgrades, rows and all',
    (last) => {
      const directory = temporaryDirectory();
      const file = join(directory, 'tiergate.db');
      const oldFolder = join(directory, 'migrations');
      mkdirSync(join(oldFolder, 'meta'), { recursive: true });
      const entries = journalEntries().slice(0, last + 1);
      for (const { tag } of entries)
        cpSync(join(folder, `${tag}.sql`), join(oldFolder, `${tag}.sql`));
      const journal = { version: '7', dialect: 'sqlite', entries };
      writeFileSync(join(oldFolder, 'meta/_journal.json'), JSON.stringify(journal));
      const old = new Database(file);
      migrate(drizzle(old), { migrationsFolder: oldFolder });
      old.exec(
        `insert into requests (id, started_at, tier, outcome) values ('before', 1, 'fast', 'served')`,
      );
      old.exec(
        `insert into attempts (request_seq, n, kind, target, provider, model, started_at, outcome)
         values (1, 1, 'first', 'p1/m', 'p1', 'm', 1, 'served')`,
      );
      old.close();
      const upgraded = temporaryDatabase(file);
      expect(upgraded.prepare('select id from requests').pluck().all()).toEqual(['before']);
      expect(upgraded.prepare('select target, retry_budget from attempts').all()).toEqual([
        { target: 'p1/m', retry_budget: null },
      ]);
      const applied = upgraded.prepare('select count(*) from __drizzle_migrations').pluck().get();
      expect(applied).toBe(journalEntries().length);
    },
  );
});
