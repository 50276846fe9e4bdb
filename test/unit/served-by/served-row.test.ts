/** Rows as the API shows them. */
import { describe, expect, it } from 'vitest';
import { rowsOf } from '../../../src/served-by/record.ts';
import { servedRowOf } from '../../../src/served-by/served-row.ts';
import { requestTrace } from '../../support/traces.ts';

/** 6-log, Served-by log: JSON fields are the column names. */
const requestFields =
  'id client_request_id started_at tier config_version client_protocol requested_model stream target ' +
  'provider model reported_model variant outcome error_class status attempt_count retry_count ' +
  'failover_count hedged skipped recovery seams malformed_events deadline_ms backoff_ms ttft_ms ' +
  'latency_ms upstream_ms input_tokens output_tokens cached_tokens reasoning_tokens cost_usd ' +
  'total_cost_usd price_date finish_reason client_retry_count dropped failed_over output_valid eval_run ' +
  'run_id session tags key_id guardrail repaired escalated_from idempotent_replay body_hash';
const attemptFields =
  'n kind target provider model variant key_alias started_at delay_before_ms delay_reason status ' +
  'error_class message retry_after_ms ttfb_ms ttft_ms duration_ms upstream_request_id input_tokens ' +
  'output_tokens cached_tokens reasoning_tokens cost_usd outcome breaker_before breaker_after ' +
  'retry_budget';

describe('a shown row', () => {
  const { request, attempts } = rowsOf(requestTrace());

  it('has the documented fields, in their order', () => {
    const shown = servedRowOf(request, attempts);
    expect(Object.keys(shown)).toEqual([...requestFields.split(' '), 'attempts']);
    const [attempt] = shown['attempts'] as readonly object[];
    expect(Object.keys(attempt ?? {})).toEqual(attemptFields.split(' '));
  });

  it('has instants in RFC 3339 with milliseconds', () => {
    const shown = servedRowOf(request, attempts);
    expect(shown['started_at']).toBe('2026-01-01T12:00:00.000Z');
    expect(shown['attempts']).toMatchObject([{ started_at: '2026-01-01T12:00:00.002Z' }]);
  });

  it('has no attempts in a list', () => {
    expect(servedRowOf(request, null)).not.toHaveProperty('attempts');
  });
});
