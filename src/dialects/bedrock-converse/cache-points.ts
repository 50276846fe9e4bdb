/** Cache marks as the points that this dialect sets behind what they stand at. */
import type { CacheMarked } from '../../chat/request.ts';
import type { ModelTraits } from './model-traits.ts';
import type { WireCachePoint } from './wire.ts';

/** `isTool`: behind the definition of a tool, where fewer models take one. */
export function cachePoints(
  { cacheControl }: CacheMarked,
  { traits, dropped }: { readonly traits: ModelTraits; readonly dropped: Set<string> },
  isTool = false,
): readonly WireCachePoint[] {
  if (cacheControl === undefined) return [];
  if (!traits.takesCachePoints || (isTool && !traits.takesToolCachePoints)) {
    dropped.add('cache_control');
    return [];
  }
  const isLong = cacheControl['ttl'] === '1h';
  if (isLong && !traits.takesLongCache) dropped.add('cache_control.ttl');
  const ttl = isLong && traits.takesLongCache ? ({ ttl: '1h' } as const) : {};
  return [{ cachePoint: { type: 'default', ...ttl } }];
}
