import { describe, expect, it } from 'vitest';
import { fail, success } from '../../src/base/result.ts';
import { unresolvedSecret } from '../../src/failure/attempt-failures.ts';
import type { Authorize } from '../../src/providers/credential.ts';
import type { ProviderKey } from '../../src/providers/provider.ts';
import {
  EngineHarness,
  ok,
  plainProvider,
  plainTarget,
  plainTier,
  status,
} from '../support/engine-harness.ts';
import type { ScriptedCall } from '../support/scripted-transport.ts';

/** p1 whose only key authorizes by itself, then p2. */
function selfAuthorizing(
  authorize: Authorize,
  script: (call: number) => ScriptedCall,
  renew?: NonNullable<ProviderKey['renew']>,
) {
  const renewed = renew === undefined ? {} : { renew };
  const keys = [{ alias: 'SIGNER', resolve: () => 'secret', authorize, ...renewed }];
  const targets = [
    plainTarget('p1', { provider: plainProvider('p1', { keys }) }),
    plainTarget('p2'),
  ];
  const tier = plainTier(targets, { hedge: null });
  return new EngineHarness(tier, (name, call) => (name === 'p1' ? script(call) : ok('p2')));
}

const sentProofs = (harness: EngineHarness) =>
  harness.transport.requests.map(({ headers }) => headers['authorization']);

describe('a key that authorizes by itself', () => {
  it('is asked with the request as it will be sent, and its headers go with it', async () => {
    const seen: unknown[] = [];
    const harness = selfAuthorizing(
      async (request) => {
        seen.push(request);
        return success({ authorization: 'proof' });
      },
      () => ok('p1'),
    );
    const { text, trace } = await harness.askWithin(100);
    expect(text).toBe('p1');
    expect(trace.attempts.map(({ keyAlias }) => keyAlias)).toEqual(['SIGNER']);
    expect(sentProofs(harness)).toEqual(['proof']);
    expect(seen).toEqual([
      {
        url: 'http://p1/chat',
        headers: { 'x-client-request-id': expect.any(String) },
        body: expect.any(String),
      },
    ]);
  });

  it('is asked anew for every sending, on a stale socket as well', async () => {
    let count = 0;
    const harness = selfAuthorizing(
      async () => {
        count += 1;
        return success({ authorization: `proof ${count}` });
      },
      (call) => (call === 0 ? { kind: 'stale' } : ok('p1')),
    );
    expect((await harness.askWithin(100)).text).toBe('p1');
    expect(sentProofs(harness)).toEqual(['proof 1', 'proof 2']);
  });

  it('without a proof nothing is sent, the key rests, and the next target answers', async () => {
    const harness = selfAuthorizing(
      async () => fail(unresolvedSecret('TOKEN')),
      () => ok('p1'),
    );
    const { text, trace } = await harness.askWithin(100);
    expect(text).toBe('p2');
    expect(trace.attempts[0]?.failure?.errorClass).toBe('auth');
    expect(harness.transport.calls('p1')).toBe(0);
    expect((await harness.askWithin(100)).trace.skipped).toEqual([
      { target: 'p1/m', reason: 'parked' },
    ]);
  });

  it('whose proof is refused though it should hold makes another, once, and nobody hears of it', async () => {
    let count = 0;
    const refused: unknown[] = [];
    const harness = selfAuthorizing(
      async () => {
        count += 1;
        return success({ authorization: `proof ${count}` });
      },
      (call) => (call === 0 ? status(401) : ok('p1')),
      (proof) => refused.push(proof) > 0,
    );
    const { text, trace } = await harness.askWithin(100);
    expect(text).toBe('p1');
    expect(sentProofs(harness)).toEqual(['proof 1', 'proof 2']);
    expect(refused).toEqual([{ authorization: 'proof 1' }]);
    expect(trace.attempts).toHaveLength(1);
  });

  it.each([
    [true, 2],
    [false, 1],
  ])(
    'that is refused for good rests: another proof to be had %s, sent %i times',
    async (canRenew, sent) => {
      const harness = selfAuthorizing(
        async () => success({ authorization: 'proof' }),
        () => status(401),
        () => canRenew,
      );
      const { text, trace } = await harness.askWithin(100);
      expect(text).toBe('p2');
      expect(harness.transport.calls('p1')).toBe(sent);
      expect(trace.attempts[0]?.failure?.errorClass).toBe('auth');
      expect((await harness.askWithin(100)).trace.skipped).toEqual([
        { target: 'p1/m', reason: 'parked' },
      ]);
    },
  );

  it('one that never settles is cut by the clocks of the attempt', async () => {
    const harness = selfAuthorizing(
      () => new Promise(() => undefined),
      () => ok('p1'),
    );
    const { text, trace } = await harness.askWithin(61_000);
    expect(text).toBe('p2');
    expect(trace.attempts[0]?.failure).toMatchObject({ errorClass: 'timeout' });
    expect(harness.transport.calls('p1')).toBe(0);
  });

  it('the client that leaves meanwhile is not waited for', async () => {
    const abort = new AbortController();
    const harness = selfAuthorizing(
      () => new Promise(() => undefined),
      () => ok('p1'),
    );
    const asked = harness.ask({ signal: abort.signal });
    await harness.clock.advance(10);
    abort.abort();
    expect((await asked).answer.kind).toBe('gone');
  });
});
