import { describe, expect, it } from 'vitest';
import { durationMs, sizeBytes } from '../../../src/routing/duration.ts';

describe('durations and sizes', () => {
  it.each([
    ['0s', 0],
    ['0ms', 0],
    ['250ms', 250],
    ['1.5s', 1500],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
  ])('CF-01 %s is %d ms, and 0 is 0', (text, expected) => {
    expect(durationMs(text)).toBe(expected);
  });

  it.each(['', '5', '5 s', '-1s', 's', '1e3s', '5S', '1.2345s', '1s1s', '9999999999s'])(
    'refuses the duration "%s"',
    (text) => {
      expect(durationMs(text)).toBeNull();
    },
  );

  it.each([
    ['0b', 0],
    ['512b', 512],
    ['32kb', 32_768],
    ['1.5mb', 1_572_864],
    ['1gb', 1_073_741_824],
  ])('%s is %d bytes', (text, expected) => {
    expect(sizeBytes(text)).toBe(expected);
  });

  it.each(['', '10', '10MB', '1 mb', '-1kb', '10m'])('refuses the size "%s"', (text) => {
    expect(sizeBytes(text)).toBeNull();
  });
});
