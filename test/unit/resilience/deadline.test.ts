import { describe, expect, it } from 'vitest';
import { attemptClocks } from '../../../src/resilience/attempt-clocks.ts';
import {
  clientPatienceMs,
  deadlineLengthMs,
  parseDeadlineMs,
} from '../../../src/resilience/deadline.ts';

describe('deadline', () => {
  const accepted: readonly (readonly [unknown, number])[] = [
    ['1', 1],
    ['2000', 2_000],
    ['2147483647', 2_147_483_647],
    [2_000, 2_000],
  ];
  it.each(accepted)('takes %j', (value, lengthMs) => {
    expect(parseDeadlineMs(value)).toEqual({ ok: true, value: lengthMs });
  });
  const refused = [
    '0',
    '-1',
    '2147483648',
    '1.5',
    '1e3',
    '',
    ' 5',
    'soon',
    '99999999999',
    0,
    -5,
    1.5,
    NaN,
    null,
    {},
    true,
  ];
  it.each(refused)('refuses %j and names the range and the value', (value) => {
    expect(parseDeadlineMs(value)).toEqual({
      ok: false,
      fault: `must be a whole number of milliseconds from 1 to 2147483647, not ${JSON.stringify(value)}`,
    });
  });

  it("R20 a whole reply is due 250 ms before the client's patience ends", () => {
    const length = (headers: Record<string, string>, isStream = false): number =>
      deadlineLengthMs({ askedMs: null, headers, isStream, tierDeadlineMs: 120_000 });
    expect(length({ 'x-stainless-timeout': '10' })).toBe(9_750);
    expect(length({ 'x-server-timeout': '5' })).toBe(4_750);
    expect(length({ 'x-stainless-read-timeout': '2.5' })).toBe(2_250);
    expect(length({ 'x-stainless-timeout': '600', 'x-stainless-read-timeout': '7' })).toBe(6_750);
    expect(length({ 'x-stainless-timeout': '0' })).toBe(750);
    expect(length({ 'x-stainless-timeout': '0.1' })).toBe(1);
    expect(length({ 'x-stainless-timeout': '600' })).toBe(120_000);
    expect(length({ 'x-stainless-timeout': 'NOT_GIVEN' })).toBe(120_000);
    expect(length({ 'x-stainless-timeout': '-5' })).toBe(120_000);
    expect(length({ 'x-stainless-timeout': '10' }, true)).toBe(120_000);
    expect(length({})).toBe(120_000);
  });

  it('what the client asked for goes before its patience, and the tier caps both', () => {
    const headers = { 'x-stainless-timeout': '1' };
    const asked = (askedMs: number): number =>
      deadlineLengthMs({ askedMs, headers, isStream: false, tierDeadlineMs: 120_000 });
    expect(asked(30_000)).toBe(30_000);
    expect(asked(500_000)).toBe(120_000);
    expect(clientPatienceMs(headers)).toBe(1_000);
    expect(clientPatienceMs({ 'x-stainless-timeout': '' })).toBeNull();
  });
});

const settings = {
  connectMs: 3_000,
  headersMs: 30_000,
  firstContentSoftMs: 10_000,
  firstContentMs: 60_000,
  idleMs: 30_000,
};

describe('attempt clocks', () => {
  const streamed = {
    settings,
    isStream: true,
    isThinking: false,
    remainingMs: 300_000,
    isOtherAdmissible: false,
    isHedged: false,
    ownP99Ms: null,
  };

  it('R20 streamed: the table, while time is plenty and nobody else is left', () => {
    expect(attemptClocks(streamed)).toEqual({
      headersMs: 30_000,
      firstContentSoftMs: 10_000,
      firstContentMs: 60_000,
      idleMs: 30_000,
      idleWithSignsMs: 120_000,
      wholeMs: 300_000,
      ownLimitMs: 60_000,
      fairMs: 1_000,
    });
  });

  it('R20 whole: only idle and the deadline', () => {
    expect(attemptClocks({ ...streamed, isStream: false })).toEqual({
      headersMs: null,
      firstContentSoftMs: null,
      firstContentMs: null,
      idleMs: 30_000,
      idleWithSignsMs: 30_000,
      wholeMs: 300_000,
      ownLimitMs: 300_000,
      fairMs: 1_000,
    });
  });

  it('a thinking model has 180 s to its first content, more where it is set', () => {
    expect(attemptClocks({ ...streamed, isThinking: true }).firstContentMs).toBe(180_000);
    const patient = { ...settings, firstContentMs: 240_000 };
    expect(attemptClocks({ ...streamed, isThinking: true, settings: patient }).firstContentMs).toBe(
      240_000,
    );
  });

  it('the soft clock follows the own p99 where that is larger', () => {
    expect(attemptClocks({ ...streamed, ownP99Ms: 25_000 }).firstContentSoftMs).toBe(25_000);
    expect(attemptClocks({ ...streamed, ownP99Ms: 4_000 }).firstContentSoftMs).toBe(10_000);
    const whole = { ...streamed, isStream: false };
    expect(attemptClocks({ ...whole, ownP99Ms: 40_000 }).firstContentSoftMs).toBe(40_000);
    expect(attemptClocks({ ...whole, ownP99Ms: 4_000 }).firstContentSoftMs).toBe(10_000);
  });

  it('R20 no clock goes beyond the deadline', () => {
    expect(attemptClocks({ ...streamed, remainingMs: 1_500 })).toMatchObject({
      headersMs: 1_500,
      firstContentSoftMs: 1_500,
      firstContentMs: 1_500,
      wholeMs: 1_500,
      ownLimitMs: 1_500,
    });
  });

  it('R20 the split leaves half of the time to the next candidate, a third before a hedge', () => {
    const split = attemptClocks({ ...streamed, remainingMs: 3_000, isOtherAdmissible: true });
    expect(split).toMatchObject({
      firstContentSoftMs: 1_000,
      firstContentMs: 1_500,
      ownLimitMs: 3_000,
    });
    const whole = attemptClocks({
      ...streamed,
      isStream: false,
      remainingMs: 3_000,
      isOtherAdmissible: true,
    });
    expect(whole).toMatchObject({ wholeMs: 1_500, firstContentMs: null, ownLimitMs: 3_000 });
  });

  it('a fair time is what nearly all answers need, at least a second, and never more than the own clocks', () => {
    const fairMs = (over: object): number => attemptClocks({ ...streamed, ...over }).fairMs;
    expect(fairMs({ remainingMs: 5 })).toBe(1_000);
    expect(fairMs({ ownP99Ms: 200 })).toBe(1_000);
    expect(fairMs({ ownP99Ms: 7_000, remainingMs: 5 })).toBe(7_000);
    expect(fairMs({ ownP99Ms: 90_000 })).toBe(30_000);
    expect(fairMs({ settings: { ...settings, firstContentMs: 400 } })).toBe(400);
    expect(fairMs({ settings: { ...settings, firstContentSoftMs: 300 } })).toBe(300);
    expect(fairMs({ isStream: false, ownP99Ms: 90_000 })).toBe(90_000);
  });

  it('a hedge that runs ends the split: both race to the deadline', () => {
    const hedged = { ...streamed, remainingMs: 3_000, isOtherAdmissible: true, isHedged: true };
    expect(attemptClocks(hedged)).toMatchObject({ firstContentMs: 3_000, wholeMs: 3_000 });
  });
});
