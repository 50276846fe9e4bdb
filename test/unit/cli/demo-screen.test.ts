import { describe, expect, it } from 'vitest';
import type { BreakerWord, DemoAnswer } from '../../../src/cli/demo/demo-gateway.ts';
import { liveLines, liveScreen, plainScreen, timeLine } from '../../../src/cli/demo/demo-screen.ts';
import { demoTally } from '../../../src/cli/demo/demo-tally.ts';

const primary = 'a-provider/a-model-with-a-long-name-2026-11';
const fallback = 'b/model';

function answer(target: string | null, more: Partial<DemoAnswer> = {}): DemoAnswer {
  return { isServed: target !== null, target, attempts: 1, failovers: 0, latencyMs: 100, ...more };
}

function view() {
  const tally = demoTally([primary, fallback]);
  for (let atMs = 0; atMs < 5_000; atMs += 200) tally.record(answer(primary), atMs);
  tally.record(answer(fallback, { attempts: 3, failovers: 1, latencyMs: 2_345 }), 6_000);
  tally.record(answer(null, { attempts: 2 }), 6_500);
  const breakers = new Map<string, BreakerWord>([
    [primary, 'half_open'],
    [fallback, 'closed'],
  ]);
  return { elapsedMs: 6_500, tally, waiting: 12, breakers };
}

function bare(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours are control characters
  return line.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
}

describe('the live picture', () => {
  it.each([200, 80, 60])('fits a terminal of %i columns and never more than 80', (columns) => {
    const told = [`  5.0 s  ${'x'.repeat(200)}`];
    const lines = liveLines(view(), told, { columns, tier: 'smart', timeColumns: 42 }).map(bare);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(Math.min(80, columns));
  });

  it('shows who serves, the breakers, and what it took', () => {
    const options = { columns: 80, tier: 'smart', timeColumns: 42 };
    const text = liveLines(view(), [], options).map(bare).join('\n');
    expect(text).toMatch(/a-provider\/a-model-with-… █.* half-open/);
    expect(text).toMatch(/b\/model .* closed/);
    expect(text).toMatch(/26 answered {2}1 failed {2}12 waiting {2}2 retries {2}1 failovers/);
    expect(text).toMatch(/median 2\.3 s/);
  });

  it('goes up by what it drew, and shows the cursor again', () => {
    const written: string[] = [];
    const write = (text: string): void => void written.push(text);
    const screen = liveScreen({ write, columns: 80, tier: 'smart', timeColumns: 42 });
    screen.draw(view());
    screen.tell(1_000, 'something');
    screen.draw(view());
    screen.close();
    const lines = (written[0]?.split('\n').length ?? 0) - 1;
    expect(written[0]).toContain('\u001b[?25l');
    expect(written[1]?.startsWith(`\u001b[${lines}A\r\u001b[0J`)).toBe(true);
    expect(written[2]).toBe('\u001b[?25h');
  });
});

describe('plain lines', () => {
  it('come once a second, with no control characters', () => {
    let text = '';
    const write = (part: string): void => {
      text += part;
    };
    const screen = plainScreen({ write, tier: 'smart' });
    screen.tell(0, 'it begins');
    for (let elapsedMs = 0; elapsedMs < 3_000; elapsedMs += 100) {
      screen.draw({ ...view(), elapsedMs });
    }
    screen.close();
    const lines = text.trimEnd().split('\n');
    expect(lines).toHaveLength(6);
    expect(lines[2]).toBe('  0.0 s  * it begins');
    expect(lines[3]).toMatch(/^ {2}0\.0 s {2}b\/model +half-open {2}26 ok, 1 failed/);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    expect(text).toBe(bare(text));
  });
});

describe('the tally', () => {
  it('tells retries from failovers', () => {
    const tally = demoTally([primary]);
    tally.record(answer(primary, { attempts: 5, failovers: 1 }), 0);
    expect(tally.totals()).toMatchObject({ retries: 3, failovers: 1 });
  });

  it('says since when the newest target has served', () => {
    const tally = demoTally([primary, fallback]);
    tally.record(answer(primary), 100);
    tally.record(answer(fallback), 900);
    tally.record(answer(null), 950);
    tally.record(answer(fallback), 1_000);
    expect(tally.serving()).toEqual({ target: fallback, sinceMs: 900 });
  });

  it('keeps a column for each half second', () => {
    const tally = demoTally([primary]);
    for (const atMs of [0, 499, 500, 2_000]) tally.record(answer(primary), atMs);
    tally.recordBreaker(primary, 'open', 1_000);
    tally.recordBreaker(primary, 'half_open', 2_100);
    const columns = tally.byTarget()[0]?.columns ?? [];
    expect(columns.map(({ answers }) => answers)).toEqual([2, 1, 0, 0, 1]);
    expect(timeLine(columns, 10)).toBe('█▄x·▄');
    expect(timeLine(columns, 3)).toBe('█▄x');
  });
});
