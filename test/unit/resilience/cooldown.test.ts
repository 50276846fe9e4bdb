import { describe, expect, it } from 'vitest';
import {
  afterRateLimit,
  afterSuccess,
  type Cooldown,
  restsUntilMs,
} from '../../../src/resilience/cooldown.ts';

const cooldownMaxMs = 600_000;

function refused(
  previous: Cooldown | null,
  nowMs: number,
  startedAtMs: number,
  hintMs: number | null = null,
): Cooldown {
  return afterRateLimit(previous, { nowMs, startedAtMs, hintMs, cooldownMaxMs });
}

describe('cooldown', () => {
  it('R07 rests for the hint, at most cooldown_max', () => {
    expect(refused(null, 1_000, 0, 2_000).untilMs).toBe(3_000);
    expect(refused(null, 1_000, 0, 3_600_000).untilMs).toBe(601_000);
    expect(restsUntilMs(refused(null, 1_000, 0, 2_000), 2_999)).toBe(3_000);
    expect(restsUntilMs(refused(null, 1_000, 0, 2_000), 3_000)).toBeNull();
    expect(restsUntilMs(null, 0)).toBeNull();
  });

  it('BR-09 two calls in flight, 1 s then 5 s: not before 5.25 s; a shorter later hint never shortens', () => {
    const first = refused(null, 0, -100, 1_000);
    const second = refused(first, 250, -50, 5_000);
    expect(second.untilMs).toBe(5_250);
    expect(refused(second, 300, -20, 1_000).untilMs).toBe(5_250);
    expect(refused(second, 300, 290, 0).untilMs).toBe(5_250);
  });

  it('without a hint rests for 1 s, doubling to 60 s, once a rest', () => {
    let cooldown: Cooldown | null = null;
    let nowMs = 0;
    const rests: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      cooldown = refused(cooldown, nowMs + 10, nowMs);
      rests.push(cooldown.untilMs - (nowMs + 10));
      nowMs = cooldown.untilMs;
    }
    expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('a refusal of an attempt begun before the present rest only extends it', () => {
    let cooldown = refused(null, 100, 0);
    for (const nowMs of [110, 120, 400]) cooldown = refused(cooldown, nowMs, 50);
    expect(cooldown).toEqual({ sinceMs: 100, untilMs: 1_400, stepMs: 1_000 });
    expect(refused(cooldown, 1_500, 1_450)).toEqual({
      sinceMs: 1_500,
      untilMs: 3_500,
      stepMs: 2_000,
    });
  });

  it('a refusal of an attempt begun within the rest is news, that of a second one is not', () => {
    const first = refused(null, 100, 0);
    const second = refused(first, 600, 500);
    expect(second).toEqual({ sinceMs: 600, untilMs: 2_600, stepMs: 2_000 });
    expect(refused(second, 650, 550)).toEqual({ sinceMs: 600, untilMs: 2_650, stepMs: 2_000 });
  });

  it('never rests beyond cooldown_max, with or without a hint', () => {
    const short = { nowMs: 0, startedAtMs: 0, hintMs: null, cooldownMaxMs: 300 };
    expect(afterRateLimit(null, short).untilMs).toBe(300);
  });

  it('a success after the rest starts the ladder anew; one from before it does not', () => {
    const cooldown = refused(refused(null, 0, -1), 2_000, 1_500);
    expect(cooldown.stepMs).toBe(2_000);
    expect(afterSuccess(cooldown, 3_000)).toBe(cooldown);
    expect(afterSuccess(cooldown, 4_000)).toBeNull();
    expect(afterSuccess(null, 0)).toBeNull();
  });
});
