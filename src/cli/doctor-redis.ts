/** The doctor on Redis: it is reached as a start would reach it, and takes what breakers write. */
import type { Clock } from '../base/clock.ts';
import { silentLog } from '../base/log-port.ts';
import type { Random } from '../base/random.ts';
import { openFleet } from '../store/redis/open-fleet.ts';
import type { RedisAddress } from '../store/redis/redis-address.ts';
import { type Finding, ok, wrong } from './doctor-report.ts';

const answerMsMax = 8_000;

const advice = {
  unreachable: 'is it running, and is REDIS_URL its address? A gateway starts without it, alone',
  refused: 'look at user and password in REDIS_URL, and at what the user may do',
  slow: 'look at its load and at the network between',
  failing: 'it must take scripts that write: no read-only replica, no full memory',
} as const;

/** Nothing where no address is set. */
export async function checkRedis(
  address: RedisAddress | null,
  ports: { readonly clock: Clock; readonly random: Random },
): Promise<Finding[]> {
  const patience = { patienceMs: answerMsMax };
  const fleet = await openFleet(address, { ...ports, ...patience, log: silentLog });
  if (fleet === null) return [];
  const startedMs = ports.clock.monotonicMs();
  await fleet.start(answerMsMax);
  const tookMs = Math.round(ports.clock.monotonicMs() - startedMs);
  const fault = fleet.fault();
  const { redis, instances } = fleet.status();
  await fleet.close();
  if (fault !== null) {
    const message = `${redis} cannot be used (${fault.kind}: ${fault.detail})`;
    return [wrong('redis', message, advice[fault.kind])];
  }
  const others = Number(instances) - 1;
  const message = `${redis} answers (${tookMs} ms); ${others} gateway(s) share breakers through it now`;
  return [ok('redis', message)];
}
