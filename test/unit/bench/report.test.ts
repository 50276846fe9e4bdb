import { describe, expect, it } from 'vitest';
import { reportTable, shown, verdictAbove, verdictBelow } from '../../../bench/report.ts';
import { requestBody } from '../../../bench/scenarios.ts';
import { median, percentile } from '../../../bench/statistics.ts';

describe('statistics', () => {
  it('take the middle, not the mean', () => {
    expect(median([1, 100, 2])).toBe(2);
    expect(median([4, 1, 100, 2])).toBe(3);
    expect(median([])).toBeNaN();
    expect(percentile([1, 2, 3, 4], 0.5)).toBe(3);
    expect(percentile([1, 2, 3, 4], 1)).toBe(4);
    expect(percentile([], 0.5)).toBeNaN();
  });
});

describe('the report', () => {
  it('judges by bound and aim', () => {
    expect(verdictAbove(1.1, 0.8, 1)).toBe('aim reached');
    expect(verdictAbove(0.9, 0.8, 1)).toBe('within bounds');
    expect(verdictAbove(0.7, 0.8, 1)).toBe('TOO DEAR');
    expect(verdictAbove(Number.NaN, 0.8, 1)).toBe('no verdict');
    expect(verdictBelow(0.2, 0.3)).toBe('aim reached');
    expect(verdictBelow(0.4, 0.3)).toBe('TOO DEAR');
  });

  it('aligns its columns', () => {
    const row = {
      scenario: 'small',
      figure: shown(0.956),
      yardstick: shown(12345.6, '/s'),
      gateway: shown(34.56, '/s'),
      cpu: shown(Number.NaN),
      bound: '>= 0.8',
      verdict: 'within bounds',
    } as const;
    const lines = reportTable([row, { ...row, scenario: 'a longer name' }])
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(4);
    expect(lines[2]).toMatch(/^small {10}12346\/s +34\.6\/s +0\.96 +- +>= 0\.8 +within bounds$/);
    expect(new Set(lines.map((line) => line.indexOf('>='))).size).toBeLessThanOrEqual(2);
  });
});

describe('a request body', () => {
  it.each([200, 32_000, 1_000_000])(
    'has about %i bytes of text and ends with the user',
    (textBytes) => {
      const body = requestBody({ tier: 'same', isStream: true, textBytes });
      expect(body.length).toBeGreaterThan(textBytes);
      expect(body.length).toBeLessThan(textBytes * 1.2 + 1000);
      const { messages, stream } = JSON.parse(body) as {
        messages: { role: string }[];
        stream: boolean;
      };
      expect(stream).toBe(true);
      expect(messages.at(-1)?.role).toBe('user');
      const roles = messages.map(({ role }) => role);
      expect(roles.every((role, index) => index === 0 || role !== roles[index - 1])).toBe(true);
    },
  );
});
