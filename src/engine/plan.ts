/** The ordered candidates of one request, from one snapshot, each skip with its reason. */
import type { Ability } from '../chat/requirements.ts';
import { requirementsOf } from '../chat/requirements.ts';
import { isSurelyLonger } from '../chat/token-estimate.ts';
import type { Target } from '../routing/snapshot.ts';
import { askedTarget } from './asked-target.ts';
import type { EngineRequest } from './engine-request.ts';
import type { Skip } from './trace.ts';

export type Plan = { readonly targets: readonly Target[]; readonly skipped: readonly Skip[] };

/** Only what cannot change while the request lives; breakers and cooldowns are looked at when asking. */
export function planOf(request: EngineRequest): Plan {
  const needed = requirementsOf(request.chat);
  const bound = boundTarget(request);
  const targets: Target[] = [];
  const skipped: Skip[] = [];
  for (const planned of request.tier.targets) {
    const target = askedTarget(planned, request.operation);
    const missing = `ability:${request.operation}`;
    const reason =
      target === null
        ? missing
        : (skipReason(request, target, needed) ?? boundElsewhere(target, bound));
    if (target !== null && reason === null) targets.push(ofItsAccount(target, request));
    else skipped.push({ target: planned.id, reason: reason ?? missing });
  }
  const plan = { targets, skipped };
  return request.operation === 'embeddings'
    ? ofOneModel(plan)
    : ofWindowsLargeEnough(plan, request);
}

/** The id of the one target that can serve `request`; null = it is bound to none. */
function boundTarget({ account, tier, pin, chat }: EngineRequest): string | null {
  if (account === undefined) return null;
  if (account.kind === 'made_by') return account.origin.target;
  const { dialect } = chat.original;
  const first = tier.targets.find(
    ({ id, provider }) => provider.dialect.name === dialect && (pin === null || id === pin),
  );
  return first?.id ?? null;
}

function boundElsewhere({ id }: Target, bound: string | null): string | null {
  return bound === null || id === bound ? null : 'pinned';
}

/** With the one key of the account that made what the request goes on with. */
function ofItsAccount(target: Target, { account }: EngineRequest): Target {
  if (account?.kind !== 'made_by') return target;
  const { keyAlias } = account.origin;
  const keys = target.provider.keys.filter(({ alias }) => alias === keyAlias);
  return { ...target, provider: { ...target.provider, keys } };
}

/** Where every window is too small the first is asked all the same: its provider counts, we guess. */
function ofWindowsLargeEnough(plan: Plan, { chat }: EngineRequest): Plan {
  const isTooSmall = ({ contextWindow }: Target): boolean =>
    contextWindow !== null && isSurelyLonger(chat, contextWindow);
  const large = plan.targets.filter((target) => !isTooSmall(target));
  if (large.length === 0 || large.length === plan.targets.length) return plan;
  const small = plan.targets.filter((target) => !large.includes(target));
  const skipped = small.map(({ id }) => ({ target: id, reason: 'context_window' }));
  return { targets: large, skipped: [...plan.skipped, ...skipped] };
}

/** Vectors of different models do not mix: who is down is stood in for by others of the same model alone. */
function ofOneModel({ targets, skipped }: Plan): Plan {
  const isOther = ({ model }: Target): boolean => model !== targets[0]?.model;
  const others = targets.filter(isOther);
  return {
    targets: targets.filter((target) => !isOther(target)),
    skipped: [...skipped, ...others.map(({ id }) => ({ target: id, reason: otherModel }))],
  };
}

const otherModel = 'ability:same_embedding_model';

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
  const missing = target.provider.dialect.missingAbility(request.chat, target.model);
  return missing === null ? null : `ability:${missing}`;
}
