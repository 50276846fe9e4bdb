/** Rows of the served-by log as JSON lines or CSV, for notebooks and spreadsheets. */
import type { ServedRow } from '../served-by/served-query.ts';

/** The columns of a CSV, in the log's own order (a row holds at least those it has values for). */
export const servedColumns = [
  'id',
  'client_request_id',
  'started_at',
  'tier',
  'config_version',
  'client_protocol',
  'requested_model',
  'stream',
  'target',
  'provider',
  'model',
  'reported_model',
  'variant',
  'outcome',
  'error_class',
  'status',
  'attempt_count',
  'retry_count',
  'failover_count',
  'hedged',
  'skipped',
  'recovery',
  'seams',
  'malformed_events',
  'deadline_ms',
  'backoff_ms',
  'ttft_ms',
  'latency_ms',
  'upstream_ms',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'cost_usd',
  'total_cost_usd',
  'price_date',
  'finish_reason',
  'client_retry_count',
  'dropped',
  'failed_over',
  'output_valid',
  'eval_run',
  'run_id',
  'session',
  'tags',
  'key_id',
  'guardrail',
  'repaired',
  'escalated_from',
  'idempotent_replay',
  'body_hash',
] as const;

/** One JSON object a line. */
export function toJsonLines(rows: readonly ServedRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** RFC 4180 with a header line; objects as JSON. Text that a spreadsheet would run as a formula is quoted. */
export function toCsv(rows: readonly ServedRow[]): string {
  const lines = rows.map((row) => servedColumns.map((name) => cell(row[name])).join(','));
  return [servedColumns.join(','), ...lines].map((line) => `${line}\r\n`).join('');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
