/** What opens a breaker and what does not, with real connections and real time. */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CaseGateway } from '../support/case-gateway.ts';
import { type LoopbackServer, startHttp } from '../support/loopback-server.ts';
import type { AttemptFields } from '../support/running-gateway.ts';
import { type Answer, askOnce, until } from './traffic.ts';

/** The breaker as shipped: 3 failures in 30 s, the first and the last at least 1 s apart, half of all. */
const minSpanMs = 1000;
/** One failure a request, and nobody else to ask. */
const policies = { hedge: {}, retry: { attempts: 1 } };

/** An upstream that keeps every caller waiting until it answers them all in one turn. */
class Barrier {
  readonly waiting: ServerResponse[] = [];
  calls = 0;
  readonly server: LoopbackServer;

  private constructor(server: LoopbackServer) {
    this.server = server;
  }

  static async start(): Promise<Barrier> {
    let barrier: Barrier | null = null;
    const server = await startHttp((request, response) => {
      request.resume();
      request.on('end', () => {
        if (barrier === null) return;
        barrier.calls += 1;
        barrier.waiting.push(response);
      });
    });
    barrier = new Barrier(server);
    return barrier;
  }

  /** Returns how long that took, in ms. */
  failAll(): number {
    const startedMs = performance.now();
    const body = JSON.stringify({ error: { message: 'broken', type: 'server_error' } });
    for (const response of this.waiting.splice(0)) {
      response.writeHead(500, { 'content-type': 'application/json' }).end(body);
    }
    return performance.now() - startedMs;
  }
}

let barrier: Barrier;
let cases: CaseGateway;
beforeAll(async () => {
  barrier = await Barrier.start();
  cases = await CaseGateway.start({
    providers: { p1b: { base_url: `${barrier.server.origin}/v1` } },
  });
});
afterAll(async () => {
  await cases.close();
  await barrier.server.close();
});

let nth = 0;
function ask(tier: string): Promise<Answer> {
  nth += 1;
  return askOnce(cases, tier, { nth, words: 4, isStream: nth % 2 === 0 });
}

/** What the first target did with it. */
async function firstAttempt({ id }: Answer): Promise<AttemptFields | undefined> {
  return (await cases.rowWithId(id)).attempts[0];
}

/** So long after `sinceMs` that failures before and after it lie apart as the rule wants it. */
function sleepApart(sinceMs: number): Promise<void> {
  const ms = Math.max(0, sinceMs + minSpanMs * 1.1 - performance.now());
  return new Promise((resolve) => setTimeout(resolve, ms));
}

it('R72 three failures inside one burst of 10 ms do not trip; one more after a second does', async () => {
  const tier = await cases.tier(['p1b', 'p2'], {}, { policies });
  const asked = [ask(tier), ask(tier), ask(tier)];
  await until('all three wait', () => barrier.waiting.length === 3);
  const burstMs = barrier.failAll();
  console.info(`trip rule: three failures sent within ${burstMs.toFixed(1)} ms`);
  // Written in one turn; only a machine that stands still makes more of it than a few ms.
  expect(burstMs).toBeLessThan(minSpanMs / 2);
  const answers = await Promise.all(asked);
  expect(answers.filter(({ isComplete }) => !isComplete)).toEqual([]);
  for (const answer of answers) {
    expect(answer.servedBy).toBe(cases.targetOf('p2'));
    expect(await firstAttempt(answer)).toMatchObject({ status: 500, breaker_after: 'closed' });
  }
  expect(await cases.breakerOf('p1b')).toBe('closed');

  await sleepApart(performance.now());
  const fourth = ask(tier);
  await until('the fourth is let through', () => barrier.waiting.length === 1);
  barrier.failAll();
  // The three were no success and are not forgotten: with one that lies apart they are sustained.
  expect(await firstAttempt(await fourth)).toMatchObject({
    breaker_before: 'closed',
    breaker_after: 'open',
  });
  expect((await ask(tier)).servedBy).toBe(cases.targetOf('p2'));
  expect(barrier.calls).toBe(4);
});

it('R72 three failures over more than a second do trip, at the third', async () => {
  const tier = await cases.tier(['p1', 'p2'], {}, { policies });
  cases.control.fault('p1', 'server_error');
  const failOnce = async (): Promise<unknown> => {
    const answer = await ask(tier);
    expect(answer).toMatchObject({ isComplete: true, servedBy: cases.targetOf('p2') });
    return (await firstAttempt(answer))?.['breaker_after'];
  };
  const states = [await failOnce()];
  const firstMs = performance.now();
  states.push(await failOnce());
  await sleepApart(firstMs);
  states.push(await failOnce());
  expect(states).toEqual(['closed', 'closed', 'open']);
  await ask(tier);
  expect(cases.calls('p1')).toBe(3);
});

it('R72 three failures among a thousand successes do not trip', async () => {
  const tier = await cases.tier(['p1', 'p2'], {}, { policies });
  const before = cases.control.calls('p1');
  const succeed = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done += 10) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => ask(tier)));
      for (const { servedBy } of answers) expect(servedBy).toBe(cases.targetOf('p1'));
    }
  };
  const failOnce = async (): Promise<void> => {
    cases.control.fault('p1', 'server_error', { count: 1 });
    const answer = await ask(tier);
    expect(answer).toMatchObject({ isComplete: true, servedBy: cases.targetOf('p2') });
    expect(await firstAttempt(answer)).toMatchObject({ status: 500, breaker_after: 'closed' });
  };
  await succeed(250);
  await failOnce();
  const firstMs = performance.now();
  await succeed(250);
  await failOnce();
  await succeed(250);
  await sleepApart(firstMs);
  await failOnce();
  await succeed(250);
  expect(await cases.breakerOf('p1')).toBe('closed');
  expect(cases.control.calls('p1') - before).toBe(1003);
});
