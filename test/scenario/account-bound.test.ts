/** Requests that one account alone can serve: never another target, and never another key. */
import { describe, expect, it } from 'vitest';
import type { AccountBinding, Origin } from '../../src/engine/origins.ts';
import {
  EngineHarness,
  ok,
  plainProvider,
  plainTarget,
  plainTier,
  retryPolicy,
  status,
} from '../support/engine-harness.ts';
import { plainDialect } from '../support/plain-dialect.ts';
import type { ScriptedCall } from '../support/scripted-transport.ts';

const madeBy = (keyAlias: string | null, target = 'p1/m', provider = 'p1'): AccountBinding => ({
  kind: 'made_by',
  origin: { target, provider, keyAlias, isKept: true },
});

/** p1 has two keys, p2 none; `script` sees who is asked with which key. */
function twoAccounts(script: (asked: string) => ScriptedCall) {
  const keys = ['KEY_A', 'KEY_B'].map((alias) => ({ alias, resolve: () => alias }));
  const tier = plainTier(
    [plainTarget('p1', { provider: plainProvider('p1', { keys }) }), plainTarget('p2')],
    { retry: { ...retryPolicy, attempts: 2 } },
  );
  const harness: EngineHarness = new EngineHarness(tier, (name) =>
    script(harness.transport.requests.at(-1)?.headers['authorization'] ?? name),
  );
  return harness;
}

const askedOf = (harness: EngineHarness) =>
  harness.transport.requests.map(({ headers }) => headers['authorization'] ?? 'no key');

describe('what one account keeps', () => {
  it('is asked of that account by its own key, whichever stands first', async () => {
    const harness = twoAccounts(() => ok());
    const { trace } = await harness.askWithin(100, { account: madeBy('KEY_B') });
    expect(askedOf(harness)).toEqual(['KEY_B']);
    expect(trace).toMatchObject({
      outcome: 'served',
      skipped: [{ target: 'p2/m', reason: 'pinned' }],
      serving: { target: 'p1/m', keyAlias: 'KEY_B' },
    });
  });

  it.each([401, 403, 402, 429, 500, 503])(
    'a %s of its key is no reason to ask another key or target',
    async (code) => {
      const harness = twoAccounts((asked) => (asked === 'KEY_B' ? status(code) : ok()));
      const { answer } = await harness.askWithin(200_000, { account: madeBy('KEY_B') });
      expect(answer.kind).toBe('failed');
      expect(new Set(askedOf(harness))).toEqual(new Set(['KEY_B']));
    },
  );

  it('is waited for while its key rests, or is a 503', async () => {
    const limited = status(429, { headers: { 'retry-after': '20' } });
    const harness = twoAccounts((asked) =>
      asked === 'KEY_B' && harness.transport.requests.length === 1 ? limited : ok(),
    );
    const account = madeBy('KEY_B');
    const first = await harness.askWithin(30_000, { account });
    expect(first.answer.kind).toBe('stream');
    expect(askedOf(harness)).toEqual(['KEY_B', 'KEY_B']);
    const down = twoAccounts(() => status(401));
    await down.askWithin(100, { account });
    const { answer } = await down.askWithin(100, { account });
    expect(answer).toMatchObject({
      kind: 'failed',
      failure: { status: 503, failureClass: 'no_target_available' },
    });
  });

  it('that is gone from the tier is a 503, and nobody is asked', async () => {
    const harness = twoAccounts(() => ok());
    const { answer } = await harness.askWithin(100, { account: madeBy(null, 'p9/m', 'p9') });
    expect(answer).toMatchObject({ kind: 'failed', failure: { status: 503 } });
    expect(askedOf(harness)).toEqual([]);
  });

  it('is begun at the first target that speaks the dialect, and at no other', async () => {
    const dialect = { ...plainDialect, name: 'other', missingAbility: () => 'stored_responses' };
    const tier = plainTier([
      plainTarget('p0', { provider: plainProvider('p0', { dialect }) }),
      plainTarget('p1'),
      plainTarget('p2'),
    ]);
    const harness = new EngineHarness(tier, () => status(500));
    const original = { dialect: plainDialect.name, bytes: Buffer.from('{}'), json: {} };
    const { trace, answer } = await harness.askWithin(100_000, {
      account: { kind: 'first' },
      chat: { original },
      maxRetries: 0,
    });
    expect(answer).toMatchObject({ kind: 'failed', failure: { status: 502 } });
    expect(trace.attempts.map(({ target }) => target)).toEqual(['p1/m']);
    expect(trace.skipped).toEqual([
      { target: 'p0/m', reason: 'ability:stored_responses' },
      { target: 'p2/m', reason: 'pinned' },
    ]);
  });

  it('that no target can keep is a fault of the request', async () => {
    const dialect = { ...plainDialect, missingAbility: () => 'stored_responses' };
    const tier = plainTier([plainTarget('p1', { provider: plainProvider('p1', { dialect }) })]);
    const harness = new EngineHarness(tier, () => ok());
    const { answer } = await harness.askWithin(100, { account: { kind: 'first' } });
    expect(answer).toMatchObject({ kind: 'failed', failure: { status: 400 } });
  });
});

describe('the ids that a request brings', () => {
  it('are told to the encoder as the account that is asked knows them, for each key anew', async () => {
    const told: { readonly kept: boolean; readonly elsewhere: boolean }[] = [];
    const dialect: typeof plainDialect = {
      ...plainDialect,
      encodeCall: (call) => {
        told.push({
          kept: call.items?.isKeptHere('rs_1') ?? false,
          elsewhere: call.items?.isMadeElsewhere('rs_1') ?? false,
        });
        return plainDialect.encodeCall(call);
      },
    };
    const keys = ['KEY_A', 'KEY_B'].map((alias) => ({ alias, resolve: () => alias }));
    const provider = plainProvider('p1', { keys, dialect });
    const tier = plainTier([plainTarget('p1', { provider })]);
    const harness: EngineHarness = new EngineHarness(tier, () =>
      harness.transport.requests.length === 1 ? status(401) : ok(),
    );
    const origin: Origin = { target: 'p1/m', provider: 'p1', keyAlias: 'KEY_B', isKept: true };
    await harness.askWithin(1000, { origins: new Map([['rs_1', origin]]) });
    expect(askedOf(harness)).toEqual(['KEY_A', 'KEY_B']);
    expect(told).toEqual([
      { kept: false, elsewhere: true },
      { kept: true, elsewhere: false },
    ]);
  });
});
