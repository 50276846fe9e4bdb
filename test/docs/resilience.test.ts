/** What docs/resilience.md claims, held to the code: defaults, the breaker's examples, the two diagrams. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { alertKinds } from '../../src/engine/alert-board.ts';
import { TripWindow } from '../../src/resilience/breaker/trip-window.ts';
import { documentSchema } from '../../src/routing/document.ts';
import { durationMs } from '../../src/routing/duration.ts';
import { Counters } from '../../src/telemetry/counters.ts';
import { readRepositoryFile } from '../architecture/repository-files.ts';
import { codeBlocks, documentPaths } from './documents.ts';

const path = 'docs/resilience.md';
const page = readRepositoryFile(path);
const document = documentSchema.parse({
  providers: {},
  tiers: { one: { targets: [{ provider: 'one', model: 'm' }] } },
});
const tier = document.tiers['one'];
const target = tier?.targets[0];

/** Cells of every table whose first columns are named so. */
function rowsUnder(...columns: readonly string[]): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let isInside = false;
  for (const line of page.split('\n')) {
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (columns.every((column, index) => cells[index] === column)) isInside = true;
    else if (cells.length === 0) isInside = false;
    else if (isInside && cells[0]?.startsWith('---') === false) rows.push(cells);
  }
  return rows;
}

/** A key of the tier, of its target, or of the whole document; undefined where there is none. */
function valueAt(key: string): unknown {
  for (const root of [tier, target, document]) {
    const value = key
      .split('.')
      .reduce<unknown>((at, name) => (at as JsonObject | undefined | null)?.[name], root);
    if (value !== undefined) return value;
  }
  return undefined;
}

const bare = (cell: string | undefined): string => (cell ?? '').replaceAll('`', '');
const table = rowsUnder('key', 'default').map(([key, value]) => [bare(key), bare(value)] as const);
/** `key` (value), anywhere in the text. */
const inText = [...page.matchAll(/`([a-z_.]+)` \(([^)\s`]+)\)/g)].map(
  ([, key, value]) => [key ?? '', value ?? ''] as const,
);

describe(path, () => {
  it.each([...table, ...inText])('%s is %s by default', (key, value) => {
    expect(String(valueAt(key))).toBe(value);
  });

  it('tells every key of its mechanisms', () => {
    const told = new Set([...table, ...inText].map(([key]) => key));
    const branches = ['hedge', 'retry', 'retry.budget', 'breaker', 'timeout', 'failover'];
    const keys = branches.flatMap((branch) =>
      Object.keys(valueAt(branch) as JsonObject).map((key) => `${branch}.${key}`),
    );
    const other = ['deadline', 'max_concurrent', 'min_concurrent', 'queue', 'queue_wait'];
    const elsewhere = ['retry.budget', 'failover.on_content_policy'];
    const missing = [...keys, ...other].filter((key) => !told.has(key) && !elsewhere.includes(key));
    expect(missing).toEqual([]);
  });

  it('gives examples of the trip rule that come out as it says', () => {
    const examples = rowsUnder('example', 'failures at (s)');
    expect(examples).toHaveLength(3);
    for (const [name = '', times = '', successes = '', opens = ''] of examples) {
      const failures = times.split(', ').map((seconds) => Number(seconds) * 1000);
      expect(`${name}: ${isTripped(failures, Number(successes)) ? 'yes' : 'no'}`).toBe(
        `${name}: ${opens.split(':')[0]}`,
      );
    }
  });

  it('draws the life of a request twice, and the same', () => {
    const blocks = codeBlocks(path);
    const chart = blocks.find(({ info }) => info[0] === 'mermaid')?.text ?? '';
    const plain = blocks.find(({ info }) => info[0] === 'text')?.text ?? '';
    const nodes = [...chart.matchAll(/[[{]([^\]}]+)[\]}]/g)].map((match) => match[1] ?? '');
    const edges = [...chart.matchAll(/-- (.+?) -->/g)].map((match) => match[1] ?? '');
    expect(nodes.length).toBeGreaterThan(10);
    expect(edges.length).toBeGreaterThan(10);
    expect([...nodes, ...edges].filter((label) => !plain.includes(label))).toEqual([]);
    expect(plain.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('names every running total', () => {
    const totals = Object.keys(new Counters().totals());
    expect(totals.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('docs/operations.md', () => {
  it('tells every kind of alert', () => {
    const operations = readRepositoryFile('docs/operations.md');
    expect(alertKinds.filter((kind) => !operations.includes(`| \`${kind}\` |`))).toEqual([]);
  });
});

describe('decision records', () => {
  const records = documentPaths().filter((record) => record.startsWith('docs/decisions/'));

  it.each(records)('%s is dated, and one page', (record) => {
    expect(record).toMatch(/\/\d{4}-\d{2}-\d{2}-[a-z-]+\.md$/);
    const text = readRepositoryFile(record);
    expect(text).toMatch(/^# .+\n/);
    expect(text.split(/\s+/).length).toBeLessThan(900);
  });
});

/** The successes lie between the first failure and the last. */
function isTripped(failuresMs: readonly number[], successes: number): boolean {
  const { breaker } = tier ?? {};
  if (breaker === undefined) throw new Error('there is no tier');
  const ms = (text: string): number => durationMs(text) ?? Number.NaN;
  const policy = {
    failures: breaker.failures,
    windowMs: ms(breaker.window),
    failureRate: breaker.failure_rate,
    minSpanMs: ms(breaker.min_span),
    idleWindowMs: ms(breaker.idle_window),
    openForMs: ms(breaker.open_for),
    openForMaxMs: ms(breaker.open_for_max),
  };
  const window = new TripWindow();
  let hasTripped = false;
  failuresMs.forEach((atMs, index) => {
    if (index === 1) for (let n = 0; n < successes; n += 1) window.addSuccess(atMs, policy);
    window.addFailure(atMs, policy);
    hasTripped ||= window.isTripped(atMs, policy);
  });
  return hasTripped;
}
