import { describe, expect, it } from 'vitest';
import type { AccountState } from '../../../src/chat/request.ts';
import type { Origin } from '../../../src/engine/origins.ts';
import { bindToAccount } from '../../../src/pipeline/account-binding.ts';
import { plainProvider, plainTarget, plainTier } from '../../support/engine-harness.ts';
import { MemoryOrigins } from '../../support/memory-origins.ts';

const keys = [{ alias: 'KEY_A', resolve: () => 'a' }];
const tier = plainTier([
  plainTarget('p1', { provider: plainProvider('p1', { keys }) }),
  plainTarget('p2'),
]);
const kept: Origin = { target: 'p1/m', provider: 'p1', keyAlias: 'KEY_A', isKept: true };
const elsewhere: Origin = { target: 'p2/m', provider: 'p2', keyAlias: null, isKept: true };

function bind(state: Partial<AccountState>, known: Readonly<Record<string, Origin>> = {}) {
  const origins = new MemoryOrigins();
  for (const [id, origin] of Object.entries(known)) origins.known.set(id, origin);
  return bindToAccount(stateWith(state), tier, origins);
}

function stateWith(change: Partial<AccountState>): AccountState {
  return {
    isBound: false,
    isKept: false,
    previousId: null,
    conversationId: null,
    itemIds: [],
    ...change,
  };
}

const bound = { isBound: true, isKept: true };

describe('a request', () => {
  it('of a dialect that knows no such thing, or that names nothing, goes anywhere', () => {
    expect(bindToAccount(undefined, tier, new MemoryOrigins())).toEqual({ ok: true, value: {} });
    expect(bind({})).toEqual({ ok: true, value: {} });
    expect(bind({ itemIds: ['rs_1'] })).toEqual({ ok: true, value: {} });
  });

  it('that brings items goes anywhere, with what is known of their makers', () => {
    expect(bind({ itemIds: ['rs_1', 'rs_2'] }, { rs_1: kept })).toEqual({
      ok: true,
      value: { origins: new Map([['rs_1', kept]]) },
    });
  });

  it.each([
    ['begins something', {}, 'first', null],
    [
      'names a conversation that nobody here has begun',
      { conversationId: 'conv_9' },
      'first',
      null,
    ],
    ['names items that nobody here has made', { itemIds: ['msg_9'] }, 'first', null],
    ['names items that were made and not kept', { itemIds: ['rs_gone'] }, 'first', null],
    ['goes on with an answer', { previousId: 'resp_1' }, 'made_by', kept],
    ['goes on with a conversation', { conversationId: 'conv_1' }, 'made_by', elsewhere],
    ['refers to an item', { itemIds: ['msg_9', 'msg_1'] }, 'made_by', kept],
    [
      'goes on with an answer and refers to an item of another account',
      { previousId: 'resp_1', itemIds: ['msg_2'] },
      'made_by',
      kept,
    ],
  ])('that %s is bound so', (_what, state, kind, origin) => {
    const result = bind(
      { ...bound, ...state },
      {
        resp_1: kept,
        msg_1: kept,
        conv_1: elsewhere,
        msg_2: elsewhere,
        rs_gone: { ...kept, isKept: false },
      },
    );
    expect(result).toMatchObject({
      ok: true,
      value: { account: { kind, ...(origin === null ? {} : { origin }) } },
    });
  });

  it.each([
    ['an answer that nobody is known to have made', {}],
    ['an answer that was not kept', { resp_1: { ...kept, isKept: false } }],
  ])('that goes on with %s is a 400', (_what, known) => {
    const result = bind({ ...bound, previousId: 'resp_1', itemIds: ['msg_1'] }, known);
    expect(result).toMatchObject({
      ok: false,
      fault: { status: 400, param: 'previous_response_id' },
    });
  });

  it.each([
    ['the target', { ...kept, target: 'p9/m' }],
    ['the key', { ...kept, keyAlias: 'KEY_OLD' }],
    ['the provider behind the target', { ...kept, provider: 'p9' }],
    ['that the provider wants a key', { ...kept, keyAlias: null }],
  ])(
    'is a 503 where %s is another one now, and no SDK is told to try again at once',
    (_what, origin) => {
      const result = bind({ ...bound, previousId: 'resp_1' }, { resp_1: origin });
      expect(result).toMatchObject({
        ok: false,
        fault: { status: 503, failureClass: 'no_target_available', retryAfterMs: 300_000 },
      });
    },
  );

  it('while nothing can be looked up is a 503 if it is bound, and goes anywhere if it is not', () => {
    const origins = new MemoryOrigins();
    origins.isOutOfOrder = true;
    const state = stateWith({ itemIds: ['rs_1'] });
    expect(bindToAccount(state, tier, origins)).toEqual({ ok: true, value: {} });
    expect(bindToAccount({ ...state, ...bound }, tier, origins)).toMatchObject({
      ok: false,
      fault: { status: 503, retryAfterMs: 1000 },
    });
  });
});
