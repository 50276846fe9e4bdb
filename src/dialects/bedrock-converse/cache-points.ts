/** Cache marks as the points that this dialect sets behind what they stand at. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { CacheMarked, ChatRequest } from '../../chat/request.ts';
import type { ModelTraits } from './model-traits.ts';
import type { WireBlock, WireCachePoint, WireMessage } from './wire.ts';

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

/** The service takes no more in one request, and neither does the dialect that the marks come from. */
const pointsMax = 4;

/** A mark for all of a request of the Messages API; null = it has none. */
export function requestMark({ original }: ChatRequest): JsonObject | null {
  const mark = original.dialect === 'anthropic-messages' ? original.json['cache_control'] : null;
  return isJsonObject(mark) ? mark : null;
}

/**
 * The messages with a point behind the last block that can be cached, which is what a mark for the whole
 * request means (vendor's guide to prompt caching, 2026). A thought cannot be. `others`: what else of
 * the body holds points.
 */
export function withRequestPoint(
  messages: readonly WireMessage[],
  mark: JsonObject,
  context: {
    readonly others: readonly unknown[];
    readonly traits: ModelTraits;
    readonly dropped: Set<string>;
  },
): readonly WireMessage[] {
  const { others, dropped } = context;
  const last = messages.at(-1);
  const end = last?.content.findLastIndex((block) => !('reasoningContent' in block)) ?? -1;
  const block = last?.content[end];
  const taken = messages.reduce((sum, { content }) => sum + pointsIn(content), pointsIn(others));
  if (block !== undefined && isPoint(block)) return messages;
  if (last === undefined || block === undefined || taken >= pointsMax) {
    dropped.add('cache_control');
    return messages;
  }
  const points = cachePoints({ cacheControl: mark }, context);
  const content: readonly WireBlock[] = last.content.toSpliced(end + 1, 0, ...points);
  return [...messages.slice(0, -1), { ...last, content }];
}

function pointsIn(blocks: readonly unknown[]): number {
  return blocks.filter(isPoint).length;
}

function isPoint(block: unknown): boolean {
  return isJsonObject(block) && 'cachePoint' in block;
}
