/** The bench's result as a table for people and as JSON for scripts. */

export type Verdict = 'aim reached' | 'within bounds' | 'TOO DEAR' | 'no verdict';

export type ReportRow = {
  readonly scenario: string;
  readonly figure: string;
  readonly yardstick: string;
  readonly gateway: string;
  readonly cpu: string;
  readonly bound: string;
  readonly verdict: Verdict;
};

const columns: readonly { readonly key: keyof ReportRow; readonly title: string }[] = [
  { key: 'scenario', title: 'scenario' },
  { key: 'yardstick', title: 'bare proxy' },
  { key: 'gateway', title: 'gateway' },
  { key: 'figure', title: 'ratio' },
  { key: 'cpu', title: 'CPU ratio' },
  { key: 'bound', title: 'bound (aim)' },
  { key: 'verdict', title: 'verdict' },
];

/** One line a row, columns aligned. */
export function reportTable(rows: readonly ReportRow[]): string {
  const widths = columns.map(({ key, title }) =>
    Math.max(title.length, ...rows.map((row) => row[key].length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  const body = rows.map((row) => line(columns.map(({ key }) => row[key])));
  return `${[line(columns.map(({ title }) => title)), rule, ...body].join('\n')}\n`;
}

/** Higher is better. */
export function verdictAbove(value: number, floor: number, aim: number): Verdict {
  if (Number.isNaN(value)) return 'no verdict';
  if (value >= aim) return 'aim reached';
  return value >= floor ? 'within bounds' : 'TOO DEAR';
}

/** Lower is better. */
export function verdictBelow(value: number, max: number): Verdict {
  if (Number.isNaN(value)) return 'no verdict';
  return value <= max ? 'aim reached' : 'TOO DEAR';
}

/** Three significant digits, `-` for what could not be measured. */
export function shown(value: number, unit = ''): string {
  if (!Number.isFinite(value)) return '-';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)}${unit}`;
}
