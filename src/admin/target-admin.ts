/** `PUT /admin/v1/targets/{id}/override`: an operator drains a target, forces it, or gives it back to the breaker. */
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { Log } from '../base/log-port.ts';
import type { HealthRegistry } from '../engine/health-registry.ts';
import type { OverrideTable } from '../engine/override-table.ts';
import type { Snapshot, Target, Tier } from '../routing/snapshot.ts';
import { checkBody } from './checked-body.ts';
import { overridesText } from './kept-overrides.ts';
import { overrideView } from './status.ts';
import type { ConfigFault } from './tier-admin.ts';

export type TargetAdminPorts = {
  readonly snapshot: () => Snapshot;
  readonly overrides: OverrideTable;
  readonly health: HealthRegistry;
  readonly clock: Clock;
  readonly log: Log;
  /** Keeps the text for the next start; false = it could not. */
  readonly keep: (text: string) => boolean;
};

export type OverrideResult =
  /** `isKept` false: in force, but the next start will not know of it. */
  | { readonly kind: 'set'; readonly override: JsonObject; readonly isKept: boolean }
  | { readonly kind: 'invalid'; readonly errors: readonly ConfigFault[] }
  | { readonly kind: 'unknown_target'; readonly known: readonly string[] }
  | { readonly kind: 'full' };

export type TargetAdmin = {
  readonly override: (write: {
    readonly target: string;
    readonly body: JsonObject;
    readonly author: string;
  }) => OverrideResult;
};

const noteLengthMax = 500;
const expectedTime = 'must be an RFC 3339 time such as 2026-01-31T12:00:00Z, or null';

const overrideSchema = z.strictObject({
  state: z.enum(['auto', 'drained', 'forced'], { error: 'must be auto, drained or forced' }),
  until: z.iso
    .datetime({ offset: true, error: expectedTime })
    .transform((text) => Date.parse(text))
    .nullable()
    .default(null),
  note: z
    .string({ error: 'must be text' })
    .max(noteLengthMax, `must be at most ${noteLengthMax} characters`)
    .nullable()
    .default(null),
});

export function createTargetAdmin(ports: TargetAdminPorts): TargetAdmin {
  const { snapshot, overrides, health, clock, log, keep } = ports;
  return {
    override: ({ target: id, body, author }) => {
      const places = placesOf(snapshot(), id);
      if (places.length === 0) return { kind: 'unknown_target', known: targetIds(snapshot()) };
      const checked = checkBody(overrideSchema, body);
      if (!checked.ok) return { kind: 'invalid', errors: checked.fault };
      const { state, until: untilMs, note } = checked.value;
      const fault = timeFault(state, untilMs, clock.wallMs());
      if (fault !== null) return { kind: 'invalid', errors: [{ path: 'until', message: fault }] };
      if (!overrides.set(id, state, { untilMs, note })) return { kind: 'full' };
      if (state === 'auto') {
        for (const { target, tier } of places) health.of(target, tier).clearRests();
      }
      const isKept = keep(overridesText(overrides));
      const until = untilMs === null ? null : new Date(untilMs).toISOString();
      log.info('the override of a target was changed', {
        target: id,
        state,
        until,
        note,
        by: author,
        kept: isKept,
      });
      return { kind: 'set', override: overrideView(overrides.get(id, clock.wallMs())), isKept };
    },
  };
}

function timeFault(state: string, untilMs: number | null, nowMs: number): string | null {
  if (untilMs === null) return null;
  if (state === 'auto') return 'only drained and forced end by themselves';
  return untilMs > nowMs ? null : 'lies in the past';
}

/** Where the target stands: several tiers may name it. */
function placesOf(
  snapshot: Snapshot,
  id: string,
): readonly { readonly target: Target; readonly tier: Tier }[] {
  return [...snapshot.tiers.values()].flatMap((tier) =>
    tier.targets.filter((target) => target.id === id).map((target) => ({ target, tier })),
  );
}

function targetIds(snapshot: Snapshot): readonly string[] {
  const tiers = [...snapshot.tiers.values()];
  return [...new Set(tiers.flatMap((tier) => tier.targets.map(({ id }) => id)))];
}
