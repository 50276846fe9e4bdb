/** The ordered candidates of one request, from one snapshot, each skip with its reason. */
import type { Ability } from '../chat/requirements.ts';
import { requirementsOf } from '../chat/requirements.ts';
import type { Target } from '../routing/snapshot.ts';
import type { EngineRequest } from './engine-request.ts';
import type { Skip } from './trace.ts';

export type Plan = { readonly targets: readonly Target[]; readonly skipped: readonly Skip[] };

/** Only what cannot change while the request lives; breakers and cooldowns are looked at when asking. */
export function planOf(request: EngineRequest): Plan {
  const needed = requirementsOf(request.chat);
  const targets: Target[] = [];
  const skipped: Skip[] = [];
  for (const target of request.tier.targets) {
    const reason = skipReason(request, target, needed);
    if (reason === null) targets.push(target);
    else skipped.push({ target: target.id, reason });
  }
  return { targets, skipped };
}

function skipReason(
  request: EngineRequest,
  target: Target,
  needed: readonly Ability[],
): string | null {
  if (request.pin !== null && target.id !== request.pin) return 'pinned';
  const facts = target.provider.modelFacts(target.model);
  for (const ability of needed) {
    const isSupported = target.supports[ability] ?? facts.supports[ability] ?? true;
    if (!isSupported) return `ability:${ability}`;
  }
  const missing = target.provider.dialect.missingAbility(request.chat);
  return missing === null ? null : `ability:${missing}`;
}
