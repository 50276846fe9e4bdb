import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { isWholeStory, servingSpans, summaryLines } from '../../../src/cli/demo/demo-summary.ts';

const primary = 'a/one';
const fallback = 'b/two';

/** A row that ended `endedMs` after the beginning. */
function row(target: string, endedMs: number, more: JsonObject = {}): JsonObject {
  const startedAt = new Date(Date.UTC(2026, 10, 30) + endedMs - 100).toISOString();
  return {
    target,
    outcome: 'served',
    started_at: startedAt,
    latency_ms: 100,
    retry_count: 0,
    ...more,
  };
}

function rowsOf(targets: readonly string[]): JsonObject[] {
  return targets.map((target, index) => row(target, 1_000 + index * 200));
}

const story = rowsOf([
  ...Array<string>(10).fill(primary),
  ...Array<string>(10).fill(fallback),
  ...Array<string>(10).fill(primary),
]);

describe('spans', () => {
  it('are told in the order of the answers', () => {
    expect(servingSpans(story).map(({ target, requests }) => [target, requests])).toEqual([
      [primary, 10],
      [fallback, 10],
      [primary, 10],
    ]);
    expect(servingSpans(story)[1]).toMatchObject({ fromMs: 2_000, toMs: 3_800 });
  });

  it('are not ended by a stray answer', () => {
    const strayed = rowsOf([primary, primary, primary, fallback, primary, primary, primary]);
    expect(servingSpans(strayed).map(({ requests }) => requests)).toEqual([6]);
  });

  it('of failed requests there are none', () => {
    expect(servingSpans(story.map((each) => ({ ...each, outcome: 'failed' })))).toEqual([]);
  });
});

describe('the summary', () => {
  it('knows the whole story from half of it', () => {
    expect(isWholeStory(servingSpans(story), primary)).toBe(true);
    expect(isWholeStory(servingSpans(story.slice(0, 20)), primary)).toBe(false);
    expect(isWholeStory(servingSpans(story.slice(10)), primary)).toBe(false);
    expect(isWholeStory(servingSpans(story.slice(0, 10)), primary)).toBe(false);
    expect(isWholeStory([], primary)).toBe(false);
  });

  it('groups by target and outcome, within 80 columns', () => {
    const rows = [...story, row(primary, 9_000, { outcome: 'failed', retry_count: 3 })];
    const lines = summaryLines(rows, primary);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    const text = lines.join('\n');
    expect(text).toMatch(/a\/one +served +20 +0 +100 ms +100 ms/);
    expect(text).toMatch(/a\/one +failed +1 +3/);
    expect(text).toContain('31 rows, 30 served, 1 failed');
    expect(text).toContain('primary -> fallback -> primary');
  });
});
