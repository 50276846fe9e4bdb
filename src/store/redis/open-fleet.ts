/** Loads what speaks to Redis where it is wanted: nobody else pays for it in start-up time and memory. */
import type { RedisAddress } from './redis-address.ts';
import type { RedisFleet, RedisFleetPorts } from './redis-fleet.ts';

/** Not started yet, so that breakers can join first; null = there is no address, and breakers are not shared. */
export async function openFleet(
  address: RedisAddress | null,
  ports: Omit<RedisFleetPorts, 'address'>,
): Promise<RedisFleet | null> {
  if (address === null) return null;
  const loaded = await import('./redis-fleet.ts');
  return new loaded.RedisFleet({ address, ...ports });
}
