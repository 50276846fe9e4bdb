/** The stores of a fleet, held against one suite. */
import { systemClock } from '../../../src/base/clock.ts';
import { randomHex } from '../../../src/base/ids.ts';
import { silentLog } from '../../../src/base/log-port.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { readRedisAddress } from '../../../src/store/redis/redis-address.ts';
import { RedisFleet } from '../../../src/store/redis/redis-fleet.ts';
import { MemoryFleet, MemoryFleetStore } from '../../support/memory-fleet.ts';
import { standingRedis } from '../../support/redis-server.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { fleetSuite } from './fleet-suite.ts';

const redis = await standingRedis();

fleetSuite({
  name: 'model in memory',
  open: async (instances) => {
    const clock = new SimulatedClock();
    const store = new MemoryFleetStore(clock);
    const fleets = Array.from({ length: instances }, (_, nth) => {
      return new MemoryFleet(store, clock, `instance-${nth}`);
    });
    return {
      fleets,
      target: 'provider/model',
      pass: async (ms) => {
        await clock.runUntil(clock.monotonicMs() + ms);
        for (const fleet of fleets) fleet.look();
      },
      close: async () => undefined,
    };
  },
});

if (redis !== null) {
  const address = readRedisAddress(redis);
  if (!address.ok) throw new Error(address.fault);
  fleetSuite({
    name: 'Redis',
    open: async (instances) => {
      const ports = { address: address.value, clock: systemClock, random: systemRandom };
      const fleets = Array.from({ length: instances }, () => {
        return new RedisFleet({ ...ports, log: silentLog, patienceMs: 10_000 });
      });
      await Promise.all(fleets.map((fleet) => fleet.start()));
      return {
        fleets,
        target: `test/${randomHex(8)}`,
        pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        close: async () => {
          await Promise.all(fleets.map((fleet) => fleet.close()));
        },
      };
    },
  });
}
