/** The demo's end: what the served-by log says happened, read back row by row. */
import { type JsonObject, numberAt, stringAt } from '../../base/json.ts';
import { atSeconds, shownMs } from './demo-screen.ts';
import { medianOf } from './demo-tally.ts';

/** A span in which one target served. */
export type Span = {
  readonly target: string;
  readonly requests: number;
  readonly fromMs: number;
  readonly toMs: number;
};

/** Answers of another target inside a span: probes, and requests that were under way at the change. */
const strayMax = 3;

/** `rows` oldest first. Spans in the order in which answers came; a few strays do not end a span. */
export function servingSpans(rows: readonly JsonObject[]): readonly Span[] {
  const answers = rows
    .filter((row) => stringAt(row, 'outcome') === 'served')
    .map((row) => ({
      target: stringAt(row, 'target') ?? '-',
      endedMs: Date.parse(stringAt(row, 'started_at') ?? '') + (numberAt(row, 'latency_ms') ?? 0),
    }))
    .sort((a, b) => a.endedMs - b.endedMs);
  const originMs = answers[0]?.endedMs ?? 0;
  const runs: Span[] = [];
  for (const { target, endedMs } of answers) {
    const atMs = endedMs - originMs;
    const last = runs.at(-1);
    if (last?.target === target) {
      runs[runs.length - 1] = { ...last, requests: last.requests + 1, toMs: atMs };
    } else {
      runs.push({ target, requests: 1, fromMs: atMs, toMs: atMs });
    }
  }
  return joined(runs);
}

/** Short runs go, and what is then beside its like becomes one span. */
function joined(runs: readonly Span[]): readonly Span[] {
  const spans: Span[] = [];
  for (const run of runs) {
    if (run.requests < strayMax && runs.length > 1) continue;
    const last = spans.at(-1);
    if (last?.target === run.target) {
      const requests = last.requests + run.requests;
      spans[spans.length - 1] = { ...last, requests, toMs: run.toMs };
    } else {
      spans.push(run);
    }
  }
  return spans;
}

/** Whether the log shows the whole story: the primary, another one, the primary again. */
export function isWholeStory(spans: readonly Span[], primary: string): boolean {
  const [first, ...rest] = spans;
  const away = rest.findIndex(({ target }) => target !== primary);
  return first?.target === primary && away !== -1 && rest.at(-1)?.target === primary;
}

type Group = { readonly target: string; readonly outcome: string; readonly rows: JsonObject[] };

/** At most 80 columns. */
export function summaryLines(rows: readonly JsonObject[], primary: string): readonly string[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const target = stringAt(row, 'target') ?? '(none)';
    const outcome = stringAt(row, 'outcome') ?? '-';
    const key = `${target} ${outcome}`;
    const group = groups.get(key) ?? { target, outcome, rows: [] };
    group.rows.push(row);
    groups.set(key, group);
  }
  const spans = servingSpans(rows);
  return [
    'What the served-by log says (GET /admin/v1/served):',
    '',
    columnsOf('target', 'outcome', ['requests', 'retries', 'median', 'slowest']),
    ...[...groups.values()].map(groupLine),
    '',
    ...spans.map((span) => spanLine(span, primary)),
    '',
    `Every request has its row: ${rows.length} rows, ${countOf(rows, 'served')} served, ${
      rows.length - countOf(rows, 'served')
    } failed.`,
    isWholeStory(spans, primary)
      ? 'primary -> fallback -> primary: the outage came and went.'
      : 'The log does not show primary -> fallback -> primary: see the rows above.',
  ];
}

function groupLine({ target, outcome, rows }: Group): string {
  const latencies = rows.map((row) => numberAt(row, 'latency_ms') ?? 0);
  const retries = rows.reduce((sum, row) => sum + (numberAt(row, 'retry_count') ?? 0), 0);
  return columnsOf(target, outcome, [
    String(rows.length),
    String(retries),
    shownMs(medianOf(latencies)),
    shownMs(Math.max(...latencies)),
  ]);
}

function columnsOf(target: string, outcome: string, figures: readonly string[]): string {
  const name = target.length > 30 ? `${target.slice(0, 29)}…` : target.padEnd(30);
  return `  ${name} ${outcome.padEnd(11)}${figures.map((text) => text.padStart(9)).join('')}`;
}

function spanLine({ target, requests, fromMs, toMs }: Span, primary: string): string {
  const role = target === primary ? 'primary ' : 'fallback';
  const name = target.length > 30 ? `${target.slice(0, 29)}…` : target.padEnd(30);
  return `  ${atSeconds(fromMs)} - ${atSeconds(toMs)}  ${role}  ${name} ${String(requests).padStart(4)} requests`;
}

function countOf(rows: readonly JsonObject[], outcome: string): number {
  return rows.filter((row) => stringAt(row, 'outcome') === outcome).length;
}
