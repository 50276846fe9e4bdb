/** What an error tells a client's SDK about asking again. */
import { describe, expect, it } from 'vitest';
import { openaiChatClient } from '../../../src/dialects/openai-chat/client.ts';
import { failureClasses } from '../../../src/failure/request-failure.ts';
import { statusOfFailure } from '../../../src/failure/summary.ts';
import { failureHeaders } from '../../../src/pipeline/answer-headers.ts';
import { requestFailure } from '../../support/traces.ts';

const identity = {
  dialect: openaiChatClient,
  id: 'id',
  clientRequestId: 'client',
  tier: 'fast',
  configVersion: 3,
};
const timing = { upstreamMs: 0, backoffMs: 0, totalMs: 0 };

function headersOf(parts: Parameters<typeof requestFailure>[0]) {
  return failureHeaders(identity, requestFailure(parts), timing);
}

describe('x-should-retry', () => {
  it.each(failureClasses)('R32 %s without a wait is not to be repeated', (failureClass) => {
    const headers = headersOf({ failureClass, status: statusOfFailure[failureClass] });
    expect(headers['x-should-retry']).toBe('false');
    expect(headers['retry-after'] ?? headers['retry-after-ms']).toBeUndefined();
  });

  it.each([
    [0.2, '1', '1', 'true'],
    [1, '1', '1', 'true'],
    [1_001, '2', '1001', 'true'],
    [60_000, '60', '60000', 'true'],
    [60_001, '61', '60001', 'false'],
    [3_600_000, '3600', '3600000', 'false'],
  ])(
    'R32 after %d ms: Retry-After %s, retry-after-ms %s, %s',
    (retryAfterMs, seconds, ms, should) => {
      for (const status of [429, 503, 409]) {
        expect(headersOf({ status, retryAfterMs })).toMatchObject({
          'retry-after': seconds,
          'retry-after-ms': ms,
          'x-should-retry': should,
        });
      }
    },
  );
});
