import { describe, expect, it } from 'vitest';
import { StackedRetries } from '../../../src/resilience/stacked-retries.ts';

function recordMany(
  stacked: StackedRetries,
  asks: { readonly requests: number; readonly repeats: number; readonly keyId?: string | null },
  nowMs = 0,
) {
  const keyId = asks.keyId === undefined ? 'key-1' : asks.keyId;
  return Array.from({ length: asks.requests }, (_, index) =>
    stacked.record({ keyId, isRepeat: index < asks.repeats, nowMs }),
  ).at(-1);
}

describe('stacked retries', () => {
  it.each([
    [20, 3, true],
    [20, 2, false],
    [30, 3, false],
    [30, 4, true],
    [19, 19, false],
  ])('R32 of %i requests %i repeats: alert %s', (requests, repeats, isStacked) => {
    const share = recordMany(new StackedRetries(), { requests, repeats });
    expect(share).toEqual({ keyId: 'key-1', requests, repeats, isStacked });
  });

  it('R32 counts the last 5 minutes, to within 30 s, and is over when they are quiet', () => {
    const stacked = new StackedRetries();
    recordMany(stacked, { requests: 40, repeats: 40 }, 29_000);
    recordMany(stacked, { requests: 40, repeats: 0 }, 200_000);
    expect(stacked.stacked(299_999).map(({ requests }) => requests)).toEqual([80]);
    expect(stacked.stacked(300_000)).toEqual([]);
    expect(recordMany(stacked, { requests: 1, repeats: 0 }, 300_000)?.requests).toBe(41);
  });

  it('a key that asks no more leaves the list by itself', () => {
    const stacked = new StackedRetries();
    recordMany(stacked, { requests: 20, repeats: 20 }, 10_000);
    expect(stacked.stacked(299_999)).toHaveLength(1);
    expect(stacked.stacked(300_000)).toEqual([]);
  });

  it('counts each key for itself, and requests without a key together', () => {
    const stacked = new StackedRetries();
    recordMany(stacked, { requests: 20, repeats: 10 });
    recordMany(stacked, { requests: 20, repeats: 0, keyId: 'key-2' });
    recordMany(stacked, { requests: 20, repeats: 5, keyId: null });
    recordMany(stacked, { requests: 1, repeats: 1, keyId: 'none' });
    expect(stacked.stacked(0).map(({ keyId, repeats }) => [keyId, repeats])).toEqual([
      ['key-1', 10],
      [null, 5],
    ]);
  });

  it('a long stream of requests is counted in ten pieces', () => {
    const stacked = new StackedRetries();
    let most = 0;
    for (let nowMs = 0; nowMs < 1_200_000; nowMs += 1_000) {
      const share = stacked.record({ keyId: 'key-1', isRepeat: nowMs % 5_000 === 0, nowMs });
      most = Math.max(most, share.requests);
    }
    expect(most).toBe(300);
    expect(stacked.stacked(1_199_000)).toEqual([
      { keyId: 'key-1', requests: 300, repeats: 60, isStacked: true },
    ]);
  });

  it('holds 1,000 keys, the one that asked longest ago out', () => {
    const stacked = new StackedRetries();
    recordMany(stacked, { requests: 20, repeats: 20, keyId: 'first' });
    for (let count = 0; count < 1_000; count += 1) {
      stacked.record({ keyId: `${count}`, isRepeat: false, nowMs: 1 });
    }
    expect(stacked.stacked(1)).toEqual([]);
  });
});
