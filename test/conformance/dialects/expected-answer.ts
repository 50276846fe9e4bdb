/** What a recorded answer must be read as: the index's words against what a dialect made of the bytes. */
import { expect } from 'vitest';
import type { Usage } from '../../../src/chat/usage.ts';
import type { UpstreamDialect } from '../../../src/dialects/dialect.ts';
import { type Decoded, decodeStream, decodeWhole, hashOf } from './decoded.ts';
import { type Expectation, isStream, type Recorded } from './recorded-fixtures.ts';

export function decode(dialect: UpstreamDialect, recorded: Recorded): Decoded {
  if (isStream(recorded)) return decodeStream(dialect, [recorded.bytes]);
  return decodeWhole(dialect, recorded.bytes);
}

export function bodyOf({ bytes }: Recorded): unknown {
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function usageOf(usage: Usage, expected: Readonly<Record<string, number>> | null | undefined) {
  const all = {
    input_total: usage.inputTokens,
    cache_read: usage.cachedTokens,
    cache_write: usage.cacheWriteTokens,
    output_total: usage.outputTokens,
    reasoning: usage.reasoningTokens,
  };
  if (expected === null || expected === undefined) return all;
  return Object.fromEntries(Object.entries(all).filter(([name]) => Object.hasOwn(expected, name)));
}

const unknownUsage = {
  input_total: null,
  cache_read: null,
  cache_write: null,
  output_total: null,
  reasoning: null,
};

export function expectAnswer(decoded: Decoded, expected: Expectation): void {
  const { canonical } = expected;
  if (expected.text_sha256 !== undefined) expect(hashOf(decoded.text)).toBe(expected.text_sha256);
  expect([...decoded.reasoning].length).toBe(expected.reasoning_chars ?? 0);
  // One server fills the fields that it does not use: a call without a name is none.
  const calls = (expected.tool_calls ?? []).filter(({ name, server }) => name !== '' && !server);
  expect(decoded.toolCalls).toEqual(calls.map(({ name, args }) => ({ name, args })));
  if (expected.refusal !== undefined) expect(decoded.refusal).toBe(expected.refusal);
  if (canonical === undefined) return;
  // A response that is worked on elsewhere: the index and the events have different words for it.
  if (canonical.finish === 'pending') expect(decoded.finish).toBe('paused');
  else if (canonical.finish !== 'error') expect(decoded.finish).toBe(canonical.finish);
  const usage = canonical.usage_sum_of_iterations ?? canonical.usage;
  expect(usageOf(decoded.usage, usage)).toEqual(usage ?? unknownUsage);
}
