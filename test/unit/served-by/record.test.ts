/** Rows made of traces. */
import { describe, expect, it } from 'vitest';
import { unknownUsage } from '../../../src/chat/usage.ts';
import { rowsOf } from '../../../src/served-by/record.ts';
import {
  attemptFailure,
  attemptTrace,
  requestFailure,
  requestTrace,
  traceStartMs,
} from '../../support/traces.ts';

const overloaded = attemptTrace({
  n: 1,
  status: 529,
  outcome: 'failed',
  failure: attemptFailure({ hint: { waitMs: 2_000, source: 'retry-after' } }),
  upstreamRequestId: null,
  usage: unknownUsage,
  breakerAfter: 'open',
  retryBudget: 9.2,
});
const servedByFallback = attemptTrace({
  n: 2,
  kind: 'failover',
  target: 'p2/big',
  provider: 'p2',
  model: 'big',
  variant: 'fast.p2@99887766',
  delayBeforeMs: 40.5,
  delayReason: 'backoff',
});
const failedOver = requestTrace({
  attempts: [overloaded, servedByFallback],
  serving: servedByFallback,
  failoverCount: 1,
  isFailedOver: true,
  reportedModel: 'big-2025-10-01',
});

describe('the request row', () => {
  it('R73 names the target, provider, model and variant that served, not those that were asked first', () => {
    expect(rowsOf(failedOver).request).toMatchObject({
      tier: 'fast',
      target: 'p2/big',
      provider: 'p2',
      model: 'big',
      reported_model: 'big-2025-10-01',
      variant: 'fast.p2@99887766',
      config_version: 3,
      failed_over: true,
      failover_count: 1,
      attempt_count: 2,
      retry_count: 0,
    });
  });

  it('R82 keeps one client request id, whatever the number of attempts', () => {
    const { request, attempts } = rowsOf(failedOver);
    expect(attempts).toHaveLength(2);
    expect(request.client_request_id).toBe('client-1');
    expect(rowsOf(requestTrace()).request.client_request_id).toBe('client-1');
  });

  it('counts retries and hedges by the kind of their attempts', () => {
    const attempts = [
      overloaded,
      attemptTrace({ n: 2, kind: 'retry' }),
      attemptTrace({ n: 3, kind: 'retry' }),
      attemptTrace({ n: 4, kind: 'hedge' }),
    ];
    const { request } = rowsOf(requestTrace({ attempts }));
    expect(request).toMatchObject({ attempt_count: 4, retry_count: 2, hedged: true });
  });

  it('has no target when no attempt was made, and says why it failed', () => {
    const skipped = [{ target: 'p1/large', reason: 'open' }];
    const failure = requestFailure({ failureClass: 'no_target_available', status: 503 });
    const { request, attempts } = rowsOf(
      requestTrace({
        serving: null,
        attempts: [],
        skipped,
        failure,
        outcome: 'failed',
        status: 503,
      }),
    );
    expect(request).toMatchObject({
      target: null,
      provider: null,
      model: null,
      variant: null,
      outcome: 'failed',
      error_class: 'no_target_available',
      status: 503,
      skipped,
    });
    expect(attempts).toEqual([]);
  });

  it('LG-04 of a client that left has the attempt with its start', () => {
    const attempt = attemptTrace({ outcome: 'client_gone', status: 200, durationMs: 498.7 });
    const failure = requestFailure({ failureClass: 'client_gone', status: 499 });
    const rows = rowsOf(
      requestTrace({
        attempts: [attempt],
        serving: attempt,
        outcome: 'client_gone',
        failure,
        status: 499,
      }),
    );
    expect(rows.request).toMatchObject({ outcome: 'client_gone', status: 499, target: 'p1/large' });
    expect(rows.attempts).toMatchObject([
      { outcome: 'client_gone', started_at: traceStartMs + 2, duration_ms: 499 },
    ]);
  });

  it('LG-05 of a stream that broke after content is failed, and names who wrote the part', () => {
    const failure = requestFailure({ failureClass: 'stream_interrupted' });
    const { request } = rowsOf(
      requestTrace({ isStream: true, outcome: 'failed', failure, recovery: 'failed_forward' }),
    );
    expect(request).toMatchObject({
      outcome: 'failed',
      error_class: 'stream_interrupted',
      recovery: 'failed_forward',
      target: 'p1/large',
      stream: true,
    });
  });

  it('tells unknown token counts from none', () => {
    const usage = { ...unknownUsage, inputTokens: 0, reasoningTokens: 4 };
    expect(rowsOf(requestTrace({ usage })).request).toMatchObject({
      input_tokens: 0,
      output_tokens: null,
      cached_tokens: null,
      reasoning_tokens: 4,
    });
  });

  it.each([
    ['stop', 'end_turn', 'stop'],
    ['other', 'galactic_pause', 'galactic_pause'],
    ['other', null, 'other'],
    [null, null, null],
  ] as const)('shows finish %s (said as %s) as %s', (finishReason, rawFinishReason, shown) => {
    const { request } = rowsOf(requestTrace({ finishReason, rawFinishReason }));
    expect(request.finish_reason).toBe(shown);
  });

  it('has whole milliseconds', () => {
    const { request } = rowsOf(requestTrace({ latencyMs: 14.6, ttftMs: 3.2, backoffMs: 0.4 }));
    expect(request).toMatchObject({
      latency_ms: 15,
      ttft_ms: 3,
      backoff_ms: 0,
      deadline_ms: 120_000,
    });
  });
});

describe('the attempt rows', () => {
  it('R80 hold model, provider, error class, HTTP status, retry-after, number and outcome of each', () => {
    expect(rowsOf(failedOver).attempts).toMatchObject([
      {
        n: 1,
        kind: 'first',
        provider: 'p1',
        model: 'large',
        error_class: 'overload',
        status: 529,
        retry_after_ms: 2_000,
        message: 'Overloaded',
        outcome: 'failed',
        breaker_before: 'closed',
        breaker_after: 'open',
        retry_budget: 9.2,
      },
      {
        n: 2,
        kind: 'failover',
        provider: 'p2',
        model: 'big',
        error_class: null,
        status: 200,
        retry_after_ms: null,
        message: null,
        delay_before_ms: 41,
        delay_reason: 'backoff',
        outcome: 'served',
      },
    ]);
  });

  it('take status and upstream id from the failure when the answer itself gave none', () => {
    const failure = attemptFailure({ status: 503, upstreamRequestId: 'req-in-body' });
    const attempt = attemptTrace({ status: null, upstreamRequestId: null, failure });
    const [row] = rowsOf(requestTrace({ attempts: [attempt] })).attempts;
    expect(row).toMatchObject({ status: 503, upstream_request_id: 'req-in-body' });
  });
});

describe('the size of a row', () => {
  const long = 'x'.repeat(100_000);

  it('LG-07 stays small whatever clients and providers send', () => {
    const attempt = attemptTrace({
      upstreamRequestId: long,
      failure: attemptFailure({ message: long }),
    });
    const rows = rowsOf(
      requestTrace({
        clientRequestId: long,
        requestedModel: long,
        reportedModel: long,
        evalRun: long,
        runId: long,
        session: long,
        finishReason: 'other',
        rawFinishReason: long,
        dropped: Array.from({ length: 1_000 }, () => long),
        skipped: Array.from({ length: 1_000 }, () => ({ target: 't', reason: 'open' })),
        attempts: [attempt],
      }),
    );
    expect(JSON.stringify(rows).length).toBeLessThan(30_000);
    expect(rows.attempts[0]?.message).toHaveLength(500);
  });
});
