/** Where in time a combination of tier, target and version occurs, from `served_slots`. */
import type { SQL } from 'drizzle-orm';
import type { ServedFilter } from '../../served-by/served-query.ts';
import type { Orm } from './database-access.ts';
import { and, desc, eq, gt, lt } from './drizzle.ts';
import { servedSlots } from './schema.ts';
import { slotMs } from './writer/slot-index.ts';

/** [from, to). */
export type TimeRange = { readonly fromMs: number; readonly toMs: number };

/** Slots read at a time: a page is mostly full after the first few. */
const slotsAtATime = 48;
/** Ranges that lie no further apart are searched as one: a query costs more than a few rows too many. */
const gapMs = 2 * slotMs;

export function hasSlotFilter(filter: ServedFilter): boolean {
  return slotConditions(filter).length > 0;
}

/** Newest first, apart from each other, without an end of its own: whoever has enough stops. */
export function* slotRanges(
  orm: Orm,
  filter: ServedFilter,
  untilMs: number | null,
): Generator<TimeRange, void, undefined> {
  const conditions = slotConditions(filter);
  if (filter.fromMs !== undefined) conditions.push(gt(servedSlots.slot_at, filter.fromMs - slotMs));
  let beforeMs = Math.min(
    filter.toMs ?? Number.MAX_SAFE_INTEGER,
    untilMs ?? Number.MAX_SAFE_INTEGER,
  );
  let open: TimeRange | null = null;
  for (;;) {
    const slots = orm
      .selectDistinct({ slotAt: servedSlots.slot_at })
      .from(servedSlots)
      .where(and(...conditions, lt(servedSlots.slot_at, beforeMs)))
      .orderBy(desc(servedSlots.slot_at))
      .limit(slotsAtATime)
      .all();
    for (const { slotAt } of slots) {
      if (open !== null && open.fromMs - (slotAt + slotMs) <= gapMs) {
        open = { fromMs: slotAt, toMs: open.toMs };
      } else {
        if (open !== null) yield open;
        open = { fromMs: slotAt, toMs: slotAt + slotMs };
      }
      beforeMs = slotAt;
    }
    if (open !== null) yield open;
    open = null;
    if (slots.length < slotsAtATime) return;
  }
}

function slotConditions(filter: ServedFilter): SQL[] {
  const pairs = [
    [servedSlots.tier, filter.tier],
    [servedSlots.provider, filter.provider],
    [servedSlots.target, filter.target],
    [servedSlots.model, filter.model],
    [servedSlots.variant, filter.variant],
    [servedSlots.config_version, filter.configVersion],
  ] as const;
  return pairs.flatMap(([column, value]) => (value === undefined ? [] : [eq(column, value)]));
}
