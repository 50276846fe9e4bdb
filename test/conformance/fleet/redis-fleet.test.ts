/** What only a real server shows: races, foreign keys, floods, and a server that will not write. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { Log } from '../../../src/base/log-port.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { Breaker, BreakerPolicy, Permit } from '../../../src/resilience/breaker/breaker.ts';
import { createSharedBreaker } from '../../../src/resilience/breaker/shared-breaker.ts';
import { readRedisAddress } from '../../../src/store/redis/redis-address.ts';
import { RedisFleet } from '../../../src/store/redis/redis-fleet.ts';
import { startTcp } from '../../support/loopback-server.ts';
import {
  hasRedisServer,
  OwnRedis,
  openConsole,
  type RedisConsole,
} from '../../support/redis-server.ts';
import { admitted, shippedPolicy } from '../breaker/subjects.ts';

const waitMsMax = 20_000;
const policy: BreakerPolicy = {
  ...shippedPolicy,
  failures: 1,
  minSpanMs: 0,
  openForMs: 50,
  openForMaxMs: 50,
  probeLeaseMs: 60_000,
};

describe.skipIf(!hasRedisServer())('breakers over Redis', () => {
  let redis: OwnRedis;
  let console: RedisConsole;
  let fleets: RedisFleet[];
  let lines: string[];

  beforeEach(async () => {
    redis = await OwnRedis.start();
    console = await openConsole(redis.url);
    lines = [];
    fleets = [await startFleet(), await startFleet()];
  });
  afterEach(async () => {
    await Promise.all(fleets.map((fleet) => fleet.close()));
    console.close();
    await redis.kill();
  });

  async function startFleet(
    patience: { readonly patienceMs?: number } = {},
    url = redis.url,
  ): Promise<RedisFleet> {
    const address = readRedisAddress(url);
    if (!address.ok) throw new Error(address.fault);
    const note = (message: string): void => {
      lines.push(message);
    };
    const log: Log = { debug: note, info: note, warn: note, error: note };
    const ports = { clock: systemClock, random: systemRandom, log, ...patience };
    const fleet = new RedisFleet({ address: address.value, ...ports });
    await fleet.start();
    return fleet;
  }

  function breakersOf(name: string): readonly [Breaker, Breaker] {
    const [one, two] = fleets.map((fleet) => {
      return createSharedBreaker({ name, clock: systemClock, random: systemRandom, fleet });
    });
    if (one === undefined || two === undefined) throw new Error('two instances are needed');
    return [one, two];
  }

  async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    const startedMs = performance.now();
    while (!(await isSo())) {
      if (performance.now() - startedMs > waitMsMax) throw new Error(`never: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  it('BR-03 of two instances that race for a probe exactly one wins, 100 times', async () => {
    await Promise.all(fleets.splice(0).map((fleet) => fleet.close()));
    const patient = { patienceMs: waitMsMax };
    fleets = [await startFleet(patient), await startFleet(patient)];
    const races = Array.from({ length: 100 }, async (_, round) => {
      const [one, two] = breakersOf(`race/${round}`);
      admitted(one).settle('failure', policy);
      await until('both are half-open', () => {
        return one.view().state === 'half_open' && two.view().state === 'half_open';
      });
      let wins = 0;
      const ask = (breaker: Breaker): void => {
        const admission = breaker.admit();
        if (admission.isAdmitted) wins += admission.permit.isProbe ? 1 : 1_000;
      };
      const stop = performance.now() + 300;
      await until('they have tried', () => {
        for (const breaker of round % 2 === 0 ? [one, two] : [two, one]) ask(breaker);
        return performance.now() > stop && wins > 0;
      });
      one.close();
      two.close();
      return wins;
    });
    const wins = new Set(await Promise.all(races));
    // Whoever loses the server probes alone: nobody did.
    expect(lines.filter((line) => line.includes('cannot be used'))).toEqual([]);
    expect(wins).toEqual(new Set([1]));
  });

  const garbage: readonly (readonly [string, readonly string[]])[] = [
    ['a text', ['SET', 'KEY', 'open']],
    ['a list', ['RPUSH', 'KEY', '1', 'open']],
    ['an empty kind', ['HSET', 'KEY', 'generation', '5']],
    ['numbers that are none', ['HSET', 'KEY', 'generation', 'NaN', 'at', '-1', 'span', 'inf']],
    [
      'a generation beyond counting',
      [
        'HSET',
        'KEY',
        'generation',
        '9e15',
        'at',
        '1',
        'span',
        '1',
        'level',
        '0',
        'lease',
        '1',
        'kind',
        'open',
      ],
    ],
    [
      'a kind that is none',
      [
        'HSET',
        'KEY',
        'generation',
        '7',
        'at',
        '1',
        'span',
        '1',
        'level',
        '0',
        'lease',
        '1',
        'kind',
        'ajar',
      ],
    ],
    [
      'a right to probe without an end',
      [
        'HSET',
        'KEY',
        'holder',
        'x',
        'claim',
        '1',
        'held_at',
        '8000000000000000',
        'held_for',
        '8000000000000000',
      ],
    ],
  ];
  it.each(garbage)('%s in a key counts as nothing, and is written over', async (_name, command) => {
    const name = 'provider/model';
    const key = `tiergate:breaker:${name}`;
    await console.run(...command.map((word) => (word === 'KEY' ? key : word)));
    const [one, two] = breakersOf(name);
    const [good, alsoGood] = breakersOf('provider/other');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([one.view().state, two.view().state]).toEqual(['closed', 'closed']);
    admitted(good).settle('failure', policy);
    await until('a good key is read beside it', () => alsoGood.view().state !== 'closed');
    admitted(one).settle('failure', policy);
    await until('the other knows', () => two.view().state === 'half_open');
    await until('it may probe', () => two.admit().isAdmitted);
    expect(await console.run('TYPE', key)).toBe('hash');
    expect(Number(await console.run('PTTL', key))).toBeGreaterThan(0);
    expect(fleets.map((fleet) => fleet.fault())).toEqual([null, null]);
  });

  it('garbage in the set of instances is written over', async () => {
    await console.run('SET', 'tiergate:instances', 'x');
    await until('both are counted', () =>
      fleets.every((fleet) => fleet.status()['instances'] === 2),
    );
  });

  it('all that it leaves in the server has an end', async () => {
    const [one, two] = breakersOf('provider/model');
    admitted(one).settle('failure', policy);
    await until('the other knows', () => two.view().state === 'half_open');
    await until('it may probe', () => two.admit().isAdmitted);
    const keys = await console.run('KEYS', '*');
    expect(keys).toHaveLength(2);
    for (const key of keys as string[]) {
      expect(key.startsWith('tiergate:')).toBe(true);
      expect(Number(await console.run('PTTL', key))).toBeGreaterThan(0);
    }
  });

  it('a flood of messages costs few looks', async () => {
    const looks = async (): Promise<number> => {
      const told = String(await console.run('INFO', 'commandstats'));
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(told)?.[1] ?? 0);
    };
    const before = await looks();
    const startedMs = performance.now();
    for (let nth = 0; nth < 2_000; nth += 1) await console.run('PUBLISH', 'tiergate:breakers', 'x');
    const tookMs = performance.now() - startedMs;
    // Two scripts a look, two instances, one look each 20 ms.
    expect((await looks()) - before).toBeLessThan((tookMs / 20 + 10) * 4);
  });

  it('a server that only reads is known for one, once, until it writes again', async () => {
    await console.run('REPLICAOF', '127.0.0.1', '1');
    await until('it is known', () => fleets.every((fleet) => fleet.fault()?.detail === 'READONLY'));
    const told = lines.length;
    const [one, two] = breakersOf('provider/model');
    admitted(one).settle('failure', policy);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(lines).toHaveLength(told);
    expect([one.view().state, two.view().state]).toEqual(['half_open', 'closed']);
    await console.run('REPLICAOF', 'NO', 'ONE');
    await until('it writes again', () => two.view().state !== 'closed');
  });

  it('the user that the documents name may do all of it, and one that lacks a right is refused', async () => {
    const told = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');
    const rules = /`(~tiergate:\* [^`]+)`/.exec(told)?.[1]?.split(' ') ?? [];
    await console.run('ACL', 'SETUSER', 'narrow', 'on', '>word', ...rules);
    const url = redis.url.replace('//', '//narrow:word@');
    await fleets.pop()?.close();
    fleets.push(await startFleet({}, url));
    const [wide, narrow] = breakersOf('provider/model');
    admitted(narrow).settle('failure', policy);
    await until('the other knows', () => wide.view().state === 'half_open');
    let probe: Permit | null = null;
    await until('it may probe', () => {
      const admission = narrow.admit();
      if (admission.isAdmitted) probe = admission.permit;
      return admission.isAdmitted;
    });
    expect(wide.admit().isAdmitted).toBe(false);
    (probe as Permit | null)?.settle('none', policy);
    await until('the other may', () => wide.admit().isAdmitted);
    await console.run('ACL', 'SETUSER', 'narrow', '-time');
    await until('it is refused', () => fleets.at(-1)?.fault()?.kind === 'refused');
  });

  const foreign: readonly (readonly [string, string])[] = [
    ['a web server', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['one that agrees to all', '+OK\r\n'],
    ['one that pushes and agrees', '>3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$1\r\ny\r\n+OK\r\n'],
    ['one that answers too often', '+OK\r\n'.repeat(50)],
    ['one that nests without end', `${'*1\r\n'.repeat(100_000)}:1\r\n`],
    ['one that promises gigabytes', '$99999999999\r\nabc'],
  ];
  it.each(foreign)('%s is no Redis, and does no harm', async (_name, answer) => {
    const server = await startTcp((socket) => socket.on('data', () => socket.write(answer)));
    const fleet = await startFleet({}, server.origin.replace('http:', 'redis:'));
    fleets.push(fleet);
    await fleets.shift()?.close();
    const [one, two] = breakersOf('provider/model');
    expect(fleet.fault()).not.toBeNull();
    admitted(two).settle('failure', policy);
    await until('it may probe alone', () => two.admit().isAdmitted);
    expect([one.view().state, two.view().state]).toEqual(['closed', 'half_open']);
    await server.close();
  });

  it('a server that is silent for long is connected to anew', async () => {
    const idOf = async (): Promise<string> => String(await console.run('CLIENT', 'LIST'));
    const before = /id=(\d+) .*cmd=evalsha/.exec(await idOf())?.[1];
    await console.run('CLIENT', 'PAUSE', '7000', 'ALL');
    await until('it is slow', () => fleets.every((fleet) => fleet.fault()?.kind === 'slow'));
    await until('it is back', () => fleets.every((fleet) => fleet.fault() === null));
    const after = await idOf();
    expect(before).toBeDefined();
    expect(after).not.toContain(`id=${before} `);
    // Two for each instance and the one of this test: none is left behind.
    expect(after.trim().split('\n')).toHaveLength(5);
  });

  it('closing while it connects leaves nothing open', async () => {
    await console.run('CLIENT', 'PAUSE', '1500', 'ALL');
    const address = readRedisAddress(redis.url);
    if (!address.ok) throw new Error(address.fault);
    const log: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const late = new RedisFleet({
      address: address.value,
      clock: systemClock,
      random: systemRandom,
      log,
    });
    const starting = late.start();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await late.close();
    await starting;
    const clients = String(await console.run('CLIENT', 'LIST'))
      .trim()
      .split('\n');
    expect(clients).toHaveLength(5);
  });
});
