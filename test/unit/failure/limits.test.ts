import { describe, expect, it } from 'vitest';
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import type { LimitHeader } from '../../../src/failure/error-rule.ts';
import { readHint } from '../../../src/failure/hints.ts';
import { nowWallMs } from './failed-answers.ts';

const waitMs = 7_000;
const tables = [...upstreamDialects].filter(([, { hints }]) => hints.limits.length > 0);
const rows = tables.flatMap(([name, { hints }]) =>
  hints.limits.map((limit) => [name, limit.reset, limit, hints] as const),
);

function resetIn(ms: number, format: LimitHeader['format']): string {
  switch (format) {
    case 'duration':
      return `${ms / 1000}s`;
    case 'rfc3339':
      return new Date(nowWallMs + ms).toISOString();
    case 'epoch_seconds':
      return String((nowWallMs + ms) / 1000);
  }
}

describe('the limits that a protocol tells', () => {
  it('are known for every protocol whose providers tell them in headers', () => {
    expect(tables.map(([name]) => name)).toEqual([
      'openai-chat',
      'openai-responses',
      'anthropic-messages',
    ]);
  });

  it.each(rows)('R06 %s: %s counts when nothing else is used up', (_name, reset, used, hints) => {
    const headers: Record<string, string> = {};
    for (const limit of hints.limits) {
      headers[limit.remaining] = limit === used ? '0' : '12';
      headers[limit.reset] = resetIn(limit === used ? waitMs : 900_000, limit.format);
    }
    const answer = { headers, body: null, message: '', table: hints, status: 429, nowWallMs };
    expect(readHint(answer)).toEqual({ hint: { waitMs, source: reset }, odd: 0 });
    headers[used.remaining] = '1';
    expect(readHint(answer)).toEqual({ hint: null, odd: 0 });
  });
});
