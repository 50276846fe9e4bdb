/** A gateway as a process with `REDIS_URL`: it starts and ends whatever Redis does, and tells no password. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startTcp } from '../support/loopback-server.ts';
import { hasRedisServer, OwnRedis } from '../support/redis-server.ts';
import { Workplace } from './gateway-process.ts';

const place = new Workplace();
const minute = 60_000;
/** Promised in a second, on a busy machine. */
const endMsMax = 10_000;

let own: OwnRedis | null = null;
afterEach(async () => {
  await place.close();
  await own?.kill();
  own = null;
});

async function readiness(origin: string): Promise<string> {
  const response = await fetch(`${origin}/readyz`);
  return `${response.status} ${await response.text()}`;
}

it(
  'starts and ends in time beside a Redis that takes connections and says nothing',
  async () => {
    const silent = await startTcp(() => undefined);
    const redis = `redis://:secret-word@${new URL(silent.origin).host}`;
    const gateway = place.run(['serve', '--port', '0'], place.directory(), { REDIS_URL: redis });
    const origin = await gateway.origin();
    expect(await readiness(origin)).toMatch(/^200 .*"redis_unreachable"/);
    const startedMs = performance.now();
    gateway.signal('SIGTERM');
    expect(await gateway.ended).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(endMsMax);
    expect(gateway.out + gateway.err).not.toContain('secret-word');
    await silent.close();
  },
  minute,
);

it(
  'a REDIS_URL that is none is refused at once, and not quoted',
  async () => {
    const variables = { REDIS_URL: 'redis://:secret-word@' };
    const gateway = place.run(['serve', '--port', '0'], place.directory(), variables);
    expect(await gateway.ended).toBe(2);
    expect(gateway.err).toContain('REDIS_URL is no address of the form redis://');
    expect(gateway.err).not.toContain('secret-word');
  },
  minute,
);

describe.skipIf(!hasRedisServer())('with a Redis of its own', () => {
  it(
    'shares, goes on when it is killed, and ends in order',
    async () => {
      own = await OwnRedis.start({ password: 'secret-word' });
      const variables = { REDIS_URL: own.url };
      const gateway = place.run(['serve', '--port', '0'], place.directory(), variables);
      const origin = await gateway.origin();
      await gateway.says(/breakers are shared with the other instances/);
      expect(await readiness(origin)).toMatch(/^200 .*"ok"/);
      await own.kill();
      await gateway.says(/Redis cannot be used/);
      expect(await readiness(origin)).toMatch(/^200 .*"redis_unreachable"/);
      gateway.signal('SIGTERM');
      expect(await gateway.ended).toBe(0);
      expect(gateway.out + gateway.err).not.toContain('secret-word');
    },
    minute,
  );

  it(
    'the doctor says whether it answers',
    async () => {
      own = await OwnRedis.start({ password: 'secret-word' });
      const directory = place.directory();
      writeFileSync(join(directory, 'tiergate.yaml'), 'providers: {}\ntiers: {}\n');
      const doctor = async (url: string): Promise<string> => {
        const run = place.run(['doctor', '--port', '0'], directory, { REDIS_URL: url });
        await run.ended;
        return run.out;
      };
      const wrong = own.url.replace('secret-word', 'wrong-word');
      const [well, refused] = await Promise.all([doctor(own.url), doctor(wrong)]);
      expect(well).toMatch(/ok +redis +127\.0\.0\.1:\d+\/0 answers \(\d+ ms\); 0 gateway/);
      expect(refused).toMatch(/WRONG +redis .*refused: WRONGPASS/);
      expect(well + refused).not.toMatch(/(secret|wrong)-word/);
      await own.kill();
      expect(await doctor(own.url)).toMatch(/WRONG +redis .*unreachable: ECONNREFUSED/);
    },
    2 * minute,
  );
});
