import { describe, expect, it } from 'vitest';
import { fail, type Result, success } from '../../../src/base/result.ts';
import type { AttemptFailure } from '../../../src/failure/attempt-failure.ts';
import { credentialUnavailable } from '../../../src/failure/attempt-failures.ts';
import { type FetchedToken, FreshToken } from '../../../src/providers/fresh-token.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const minute = 60_000;
const hour = 60 * minute;
const sick = fail(credentialUnavailable('KEY', 'down'));

/** A source of tokens `t1`, `t2`, ... that hold for an hour and take a second to come. */
function source(lifetimeMs = hour) {
  const clock = new VirtualClock();
  const state = { fetches: 0, isSick: false, isSilent: false };
  const token = new FreshToken(clock, (signal) => {
    state.fetches += 1;
    const { fetches, isSick, isSilent } = state;
    return new Promise<Result<FetchedToken, AttemptFailure>>((resolve) => {
      if (isSilent) signal.addEventListener('abort', () => resolve(sick));
      else {
        clock.schedule(1000, () =>
          resolve(isSick ? sick : success({ token: `t${fetches}`, lifetimeMs })),
        );
      }
    });
  });
  const got = async (): Promise<string> => {
    const waiting = token.get();
    await clock.advance(1000);
    const result = await waiting;
    return result.ok ? result.value : result.fault.rule;
  };
  return { clock, token, state, got };
}

describe('a token that is kept fresh', () => {
  it('is fetched once for all who wait, and serves while it holds', async () => {
    const { clock, token, state } = source();
    const all = Array.from({ length: 50 }, () => token.get());
    await clock.advance(1000);
    for (const result of await Promise.all(all)) expect(result).toEqual(success('t1'));
    await clock.advance(50 * minute);
    expect(await token.get()).toEqual(success('t1'));
    expect(state.fetches).toBe(1);
  });

  it('is replaced ahead of its end, once, while it still serves', async () => {
    const { clock, token, state, got } = source();
    await got();
    await clock.advance(56 * minute);
    for (let ask = 0; ask < 10; ask += 1) expect(await token.get()).toEqual(success('t1'));
    expect(state.fetches).toBe(2);
    await clock.advance(1000);
    expect(await token.get()).toEqual(success('t2'));
    expect(state.fetches).toBe(2);
  });

  it('that cannot be replaced serves to its end, and the source is not asked at every request', async () => {
    const { clock, state, got } = source();
    await got();
    state.isSick = true;
    await clock.advance(56 * minute);
    for (let second = 0; second < 100; second += 1) expect(await got()).toBe('t1');
    expect(state.fetches).toBeGreaterThan(2);
    expect(state.fetches).toBeLessThan(12);
    await clock.advance(3 * minute);
    expect(await got()).toBe('credential_unavailable');
    state.isSick = false;
    expect(await got()).toMatch(/^t\d/);
  });

  it('of two minutes is replaced at half its time, and not used at its very end', async () => {
    const { clock, token, state, got } = source(2 * minute);
    expect(await got()).toBe('t1');
    await clock.advance(minute);
    expect(await token.get()).toEqual(success('t1'));
    expect(state.fetches).toBe(2);
    await clock.advance(1000);
    expect(await token.get()).toEqual(success('t2'));
    await clock.advance(2 * minute - 10_000);
    expect(await got()).toBe('t3');
  });

  it('that is dead on arrival is told to those who waited and to nobody else', async () => {
    const { got } = source(0);
    expect(await got()).toBe('t1');
    expect(await got()).toBe('t2');
  });

  it('is not waited for beyond ten seconds, whatever the source does', async () => {
    const { clock, token, state } = source();
    state.isSilent = true;
    const waiting = token.get();
    await clock.advance(9_999);
    state.isSilent = false;
    await clock.advance(1);
    expect(await waiting).toEqual(sick);
    expect(clock.pending).toBe(0);
  });

  it('that was refused is replaced, unless it is new: then its age is not why', async () => {
    const { clock, token, state, got } = source();
    await got();
    expect(token.renew('t1')).toBe(false);
    await clock.advance(2 * minute);
    expect(token.renew('t1')).toBe(true);
    expect(await got()).toBe('t2');
    // The others who were refused with the old one find the new one.
    expect(token.renew('t1')).toBe(true);
    expect(await token.get()).toEqual(success('t2'));
    expect(state.fetches).toBe(2);
  });
});
