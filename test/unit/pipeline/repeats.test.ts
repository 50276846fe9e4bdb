/** What the pipeline makes of a client that repeats its calls. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PipelineUnderTest } from './pipeline-under-test.ts';

const hashes: string[] = [];
const { createHash } = crypto;
beforeAll(() => {
  crypto.createHash = (algorithm, options) => {
    hashes.push(algorithm);
    return createHash(algorithm, options);
  };
  syncBuiltinESMExports();
});
afterAll(() => {
  crypto.createHash = createHash;
  syncBuiltinESMExports();
});

let under: PipelineUnderTest;
beforeEach(() => {
  under = new PipelineUnderTest();
});

const broken = {
  kind: 'failed',
  failure: { failureClass: 'upstream_failed', status: 502 },
} as const;

function busy(retryAfterMs: number) {
  const seconds = Math.ceil(retryAfterMs / 1000);
  const message = `No target could answer. Tried: p1/m. Repeat the request in ${seconds} s.`;
  const failure = {
    failureClass: 'no_target_available',
    status: 503,
    message,
    retryAfterMs,
  } as const;
  return { kind: 'failed', failure: { ...failure, requestId: 'the-first' } } as const;
}

describe('a repeat that its SDK counts', () => {
  it('R32 is asked once of each target, and its row has the count', async () => {
    await under.call({ headers: { 'x-stainless-retry-count': '2' } });
    expect(under.asked[0]).toMatchObject({ clientRetryCount: 2, maxRetries: 0 });
    expect(under.lastTrace.clientRetryCount).toBe(2);
  });

  it.each(['0', '-1', '1.5', 'two', '', '99999'])('R32 %j counts as none', async (count) => {
    await under.call({ headers: { 'x-stainless-retry-count': count } });
    expect(under.asked[0]).toMatchObject({ clientRetryCount: 0, maxRetries: null });
  });

  it('leaves the caller its own bound otherwise', async () => {
    await under.call({ headers: { 'x-tiergate-max-retries': '3' } });
    expect(under.asked[0]).toMatchObject({ clientRetryCount: 0, maxRetries: 3 });
  });

  it('counts in the row of a refusal too, with what the caller said of itself', async () => {
    const headers = {
      'x-stainless-retry-count': '1',
      'x-tiergate-pin': 'nobody/m',
      'x-tiergate-eval-run': 'run-1',
      'x-tiergate-session': 's-1',
      'x-tiergate-run-id': 'r-1',
      'x-tiergate-tags': 'team=a',
    };
    expect((await under.call({ headers })).status).toBe(400);
    expect(under.lastTrace).toMatchObject({
      clientRetryCount: 1,
      evalRun: 'run-1',
      session: 's-1',
      runId: 'r-1',
      tags: { team: 'a' },
    });
  });
});

describe('a repeat that only its bytes show', () => {
  it('R32 is counted, and asked once of each target', async () => {
    under.script = [broken];
    for (const [afterMs, count] of [
      [0, 0],
      [500, 1],
      [59_000, 2],
    ]) {
      await under.clock.advance(afterMs ?? 0);
      expect((await under.call()).status).toBe(502);
      expect(under.lastTrace.clientRetryCount).toBe(count);
      expect(under.asked.at(-1)?.maxRetries).toBe(count === 0 ? null : 0);
    }
  });

  it('R32 the larger of both counts is the count', async () => {
    under.script = [broken];
    await under.call();
    await under.call({ headers: { 'x-stainless-retry-count': '5' } });
    expect(under.lastTrace.clientRetryCount).toBe(5);
    await under.call({ headers: { 'x-stainless-retry-count': '0' } });
    expect(under.lastTrace.clientRetryCount).toBe(6);
  });

  it('is a new request 60 s later', async () => {
    under.script = [broken];
    await under.call();
    await under.clock.advance(60_000);
    await under.call();
    expect(under.lastTrace.clientRetryCount).toBe(0);
  });

  it('R32 is a new request once it was served', async () => {
    under.script = [broken, { kind: 'served' }];
    await under.call();
    await under.call();
    expect(under.lastTrace).toMatchObject({ outcome: 'served', clientRetryCount: 1 });
    await under.call();
    expect(under.lastTrace.clientRetryCount).toBe(0);
  });

  it('R32 is a new request once a stream of it has ended well', async () => {
    under.script = [broken, { kind: 'stream', isBroken: false }];
    const body = { stream: true };
    for (const count of [0, 1, 0]) {
      await under.call({ body });
      expect(under.lastTrace.clientRetryCount).toBe(count);
    }
  });

  it.each([
    ['key', { keyId: 'key-2' }],
    ['absence of a key', { keyId: null }],
    ['path', { tierInPath: 'fast' }],
    ['body', { body: { temperature: 1 } }],
    ['target that is pinned', { headers: { 'x-tiergate-pin': 'p2/m' } }],
    ['failover', { headers: { 'x-tiergate-failover': 'off' } }],
    ['set of variables', { headers: { 'x-tiergate-variables': '{"city":"Oslo"}' } }],
  ])('another %s is another request', async (_name, over) => {
    under.script = [busy(30_000)];
    await under.call();
    await under.call(over);
    expect(under.asked).toHaveLength(2);
    expect(under.lastTrace.clientRetryCount).toBe(0);
  });

  it.each([
    [
      'a fault of the request',
      { kind: 'failed', failure: { failureClass: 'invalid_request', status: 400 } },
    ],
    [
      'a prompt too long',
      { kind: 'failed', failure: { failureClass: 'context_length', status: 400 } },
    ],
    [
      'a refused prompt',
      { kind: 'failed', failure: { failureClass: 'content_policy', status: 400 } },
    ],
    ['a client that left', { kind: 'gone' }],
    ['a stream that broke, and invited to ask again', { kind: 'stream', isBroken: true }],
  ] as const)('%s leaves no entry', async (_name, step) => {
    under.script = [step];
    await under.call();
    await under.call();
    expect(under.asked.map(({ clientRetryCount }) => clientRetryCount)).toEqual([0, 0]);
  });

  it('what is refused before anybody is asked leaves none either', async () => {
    await under.call({ headers: { 'x-tiergate-pin': 'nobody/m' } });
    await under.call();
    expect(under.lastTrace.clientRetryCount).toBe(0);
  });

  it('R32 a healthy process hashes nothing, and refusals of ours do not change that', async () => {
    const before = hashes.length;
    await under.call();
    await under.call({ headers: { 'x-stainless-retry-count': '1' } });
    await under.call({ headers: { 'x-tiergate-pin': 'nobody/m' } });
    await under.call({ body: { stream: true } });
    expect(hashes).toHaveLength(before);
    under.script = [broken, { kind: 'served' }];
    await under.call();
    await under.call({ body: { temperature: 0.5 } });
    expect(hashes).toHaveLength(before + 1);
    await under.call();
    expect(hashes.length).toBeGreaterThan(before + 1);
  });
});

describe('while the wait of the failure runs', () => {
  it('R32 its repeat gets it again at once, under its own id, in its own row, with what is left', async () => {
    under.script = [busy(20_000)];
    const first = await under.call();
    expect(first.headers).toMatchObject({ 'retry-after': '20', 'x-should-retry': 'true' });
    await under.clock.advance(7_500.5);
    const again = await under.call({
      headers: { 'x-stainless-retry-count': '1', 'x-tiergate-tags': 'team=a' },
    });
    expect(under.asked).toHaveLength(1);
    expect(again.status).toBe(503);
    expect(again.headers).toMatchObject({
      'retry-after': '13',
      'retry-after-ms': '12500',
      'x-should-retry': 'true',
      'x-tiergate-attempts': '0',
    });
    const id = again.headers['x-tiergate-request-id'];
    expect(id).not.toBe(first.headers['x-tiergate-request-id']);
    expect(again.message).toBe(
      `No target could answer. Tried: p1/m. Nobody was asked again: the wait that request the-first was told still runs. Repeat the request in 13 s. (request ${id})`,
    );
    expect(again.tiergate).toMatchObject({ class: 'no_target_available', attempts: [] });
    expect(under.recorder.traces).toHaveLength(2);
    expect(under.lastTrace).toMatchObject({
      id,
      outcome: 'failed',
      status: 503,
      attempts: [],
      clientRetryCount: 1,
      tags: { team: 'a' },
      keyId: 'key-1',
    });
  });

  it('R32 the providers are asked from its end on', async () => {
    under.script = [busy(2_000)];
    await under.call();
    await under.clock.advance(1_999.5);
    const last = await under.call();
    expect(last.headers).toMatchObject({ 'retry-after': '1', 'retry-after-ms': '1' });
    expect(under.asked).toHaveLength(1);
    await under.clock.advance(0.5);
    await under.call();
    expect(under.asked).toHaveLength(2);
    expect(under.asked[1]).toMatchObject({ clientRetryCount: 2, maxRetries: 0 });
  });

  it('R32 a wait of ten minutes is told for as long as it runs, and encourages nobody', async () => {
    under.script = [busy(600_000)];
    await under.call();
    for (let count = 1; count < 15; count += 1) {
      await under.clock.advance(40_000);
      const { headers } = await under.call();
      expect(headers['x-should-retry']).toBe(count < 14 ? 'false' : 'true');
    }
    expect(under.asked).toHaveLength(1);
    await under.clock.advance(40_000);
    await under.call();
    expect(under.asked).toHaveLength(2);
  });

  it('R32 a rate limit is told as one', async () => {
    under.script = [
      {
        kind: 'failed',
        failure: { ...busy(5_000).failure, failureClass: 'rate_limited', status: 429 },
      },
    ];
    await under.call();
    expect((await under.call()).status).toBe(429);
    expect(under.lastTrace).toMatchObject({ outcome: 'rejected', attempts: [] });
  });

  it('an operator who changes something is obeyed at once', async () => {
    under.script = [busy(30_000), { kind: 'served' }];
    await under.call();
    await under.clock.advance(1_000);
    under.decide();
    expect((await under.call()).status).toBe(200);
    expect(under.lastTrace.clientRetryCount).toBe(1);
  });

  it('a failure after that decision holds', async () => {
    under.script = [busy(30_000)];
    under.decide();
    await under.clock.advance(1);
    await under.call();
    await under.call();
    expect(under.asked).toHaveLength(1);
  });

  it('a long wait that no provider named is looked into again', async () => {
    under.script = [{ kind: 'failed', failure: { ...busy(600_000).failure, attempts: [] } }];
    await under.call();
    await under.call();
    expect(under.asked.map(({ clientRetryCount }) => clientRetryCount)).toEqual([0, 1]);
  });
});
