/** Two gateways share breakers through Redis: what one learns the other knows, and losing Redis loses no request. */
import { afterEach, describe, expect, it } from 'vitest';
import { FleetPair, pause } from '../support/fleet-pair.ts';
import { hasRedisServer, OwnRedis, openConsole, standingRedis } from '../support/redis-server.ts';

const standing = await standingRedis();
const canStart = hasRedisServer();

/** What is promised in one second is given five on a busy machine. */
const propagationMsMax = 5_000;
const quickBreaker = { min_span: '0s', open_for: '1s', open_for_max: '2s' };

let pair: FleetPair | null = null;
let own: OwnRedis | null = null;

afterEach(async () => {
  await pair?.close();
  await own?.kill();
  pair = null;
  own = null;
});

async function started(url: string, breaker = {}): Promise<FleetPair> {
  pair = await FleetPair.start(url, breaker);
  return pair;
}

async function startedApart(breaker = {}): Promise<[FleetPair, OwnRedis]> {
  own = await OwnRedis.start();
  return [await started(own.url, breaker), own];
}

describe.skipIf(standing === null)('with Redis', () => {
  it('BR-10 an open breaker is open on both instances for as long as it is', async () => {
    const fleet = await started(standing ?? '');
    await fleet.trip(0);
    const tookMs = await fleet.until('the other knows', async () => {
      return (await fleet.breaker(1)) === 'open';
    });
    expect(tookMs).toBeLessThan(propagationMsMax);
    const startedMs = performance.now();
    const asked: string[][] = [[], []];
    for (let second = 0; second < 15; second += 1) {
      const rows = await Promise.all([fleet.ask(0), fleet.ask(1)]);
      for (const [index, { outcome, attempts }] of rows.entries()) {
        expect(outcome).toBe('served');
        const atFirst = attempts.filter(({ target }) => target === fleet.target);
        asked[index]?.push(...atFirst.map(({ kind }) => kind));
      }
      await pause(startedMs + (second + 1) * 1_000 - performance.now());
    }
    const calls = asked.flat();
    expect(asked.map((kinds) => kinds.filter((kind) => kind !== 'probe'))).toEqual([[], []]);
    // Open for 5 s, 10 s, 15 s, each shortened by a fifth at most: one probe after each, for both together.
    const openMs = performance.now() - startedMs + tookMs;
    const probesMax = [4_000, 12_000, 24_000, 36_000, 48_000].filter((ms) => ms < openMs).length;
    expect(calls.length).toBeGreaterThanOrEqual(1);
    // On a machine so busy that Redis counted as slow for a moment, each probed alone.
    const wasAlone = [0, 1].some((index) => {
      return fleet.at(index).log.some(({ message }) => message.startsWith('Redis cannot be used'));
    });
    expect(calls.length).toBeLessThanOrEqual(probesMax * (wasAlone ? 2 : 1));
    expect(await fleet.breaker(0)).not.toBe('closed');
  });

  it('R72 the recovery that one sees is known to the other, without a probe of its own', async () => {
    const fleet = await started(standing ?? '', quickBreaker);
    await fleet.trip(0);
    for (const index of [0, 1]) fleet.setUpstream(index, 'well');
    await fleet.until('a probe succeeds', async () => {
      await fleet.ask(0);
      return (await fleet.breaker(0)) === 'closed';
    });
    await fleet.until('the other knows', async () => (await fleet.breaker(1)) === 'closed');
    const { attempts } = await fleet.ask(1);
    expect(attempts.map(({ kind, target }) => `${kind} ${target}`)).toEqual([
      `first ${fleet.target}`,
    ]);
  });

  it('BR-11 a request for a lone target waits for the right to probe, and is answered', async () => {
    const fleet = await started(standing ?? '', quickBreaker);
    await fleet.trip(0);
    await fleet.until('the other knows', async () => (await fleet.breaker(1)) !== 'closed');
    for (const index of [0, 1]) fleet.setUpstream(index, 'well');
    const { outcome, attempts } = await fleet.ask(1, 'lone');
    expect(outcome).toBe('served');
    expect(attempts.map(({ kind }) => kind)).toEqual(['probe']);
    await fleet.until('the first knows', async () => (await fleet.breaker(0)) === 'closed');
  });

  it('status tells what is shared, with whom, and who saw it', async () => {
    const fleet = await started(standing ?? '', quickBreaker);
    await fleet.until('both are seen', async () => {
      return Number((await fleet.status(0)).shared_state?.['instances']) >= 2;
    });
    expect((await fleet.status(1)).shared_state).toMatchObject({ state: 'shared', fault: null });
    expect(await fleet.ready(0)).toMatchObject({ status: 200, reasons: [] });
    await fleet.trip(0);
    await fleet.until('the other knows', async () => (await fleet.breaker(1)) !== 'closed');
    const { targets } = await fleet.status(1);
    expect(targets.find(({ id }) => id === fleet.target)?.breaker.reason).toContain(
      'seen by another instance',
    );
    expect((await fleet.ready(1)).reasons).toEqual(['breaker_open']);
  });

  it('closing a gateway closes its connections', async () => {
    const fleet = await started(standing ?? '', quickBreaker);
    const openSockets = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const before = openSockets();
    await fleet.at(1).app.close();
    await fleet.until('its sockets are closed', async () => openSockets() <= before - 2);
  });
});

describe.skipIf(!canStart)('without Redis for a while', () => {
  it('requests are served, readyz is degraded, and breakers are shared again on its return', async () => {
    const [fleet, redis] = await startedApart({
      ...quickBreaker,
      open_for: '60s',
      open_for_max: '60s',
    });
    await fleet.trip(0);
    await fleet.until('the other knows', async () => (await fleet.breaker(1)) === 'open');
    await redis.kill();
    await fleet.until('it is missed', async () => {
      return (await fleet.ready(0)).reasons.includes('redis_unreachable');
    });
    expect((await fleet.ready(0)).status).toBe(200);
    expect((await fleet.ask(0)).outcome).toBe('served');
    expect(await fleet.breaker(0)).toBe('open');
    expect((await fleet.status(0)).shared_state).toMatchObject({ state: 'alone', instances: null });
    const isAlerted = async (): Promise<boolean> => {
      return (await fleet.status(0)).alerts.some(({ kind }) => kind === 'redis_lost');
    };
    await fleet.until('someone is told', isAlerted);

    await redis.start();
    await fleet.until('it is back', async () => (await fleet.ready(0)).reasons.length === 1);
    const console = await openConsole(redis.url);
    await fleet.until('the open period is told again', async () => {
      return (await console.run('HGET', fleet.key, 'kind')) === 'open';
    });
    console.close();
    expect([await fleet.breaker(0), await fleet.breaker(1)]).toEqual(['open', 'open']);
    await fleet.until('the alert is over', async () => !(await isAlerted()));
  });

  it('each trips, probes and closes alone, and what one decided is told on the return', async () => {
    const [fleet, redis] = await startedApart(quickBreaker);
    await redis.kill();
    await fleet.trip(0);
    expect(await fleet.breaker(1)).toBe('closed');
    fleet.setUpstream(0, 'well');
    await fleet.until('a probe succeeds', async () => {
      await fleet.ask(0);
      return (await fleet.breaker(0)) === 'closed';
    });
    await fleet.trip(1);
    await redis.start();
    await fleet.until('the other hears of it', async () => (await fleet.breaker(0)) !== 'closed');
  });

  it('a slow Redis costs no request any time, and is one that is not there', async () => {
    const [fleet, redis] = await startedApart(quickBreaker);
    const console = await openConsole(redis.url);
    await console.run('CLIENT', 'PAUSE', '4000', 'ALL');
    const startedMs = performance.now();
    await fleet.ask(0);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    await fleet.until('it is slow', async () => {
      return (await fleet.ready(0)).reasons.includes('redis_slow');
    });
    await fleet.trip(0);
    expect(await fleet.breaker(1)).toBe('closed');
    await fleet.until('it answers again', async () => {
      return !(await fleet.ready(0)).reasons.includes('redis_slow');
    });
    console.close();
  });

  it('with a wrong password it starts and serves, and the password is in no line', async () => {
    own = await OwnRedis.start({ password: 'right-password' });
    const fleet = await started(own.url.replace('right', 'wrong'), quickBreaker);
    expect((await fleet.ready(0)).reasons).toEqual(['redis_refused']);
    expect((await fleet.ask(0)).outcome).toBe('served');
    const status = JSON.stringify(await fleet.status(0));
    expect(status).toContain('WRONGPASS');
    expect(status + JSON.stringify(fleet.at(0).log)).not.toContain('wrong-password');
  });
});
