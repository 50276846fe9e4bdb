/** Which account a request must go to, and who made what it names by ids. */
import { fail, type Result, success } from '../base/result.ts';
import type { AccountState } from '../chat/request.ts';
import type { AccountBinding, Origin, Origins } from '../engine/origins.ts';
import type { Tier } from '../routing/snapshot.ts';
import { accountGone, originsUnknown, type Rejection, responseNotFound } from './rejection.ts';

export type BoundRequest = {
  readonly account?: AccountBinding;
  readonly origins?: ReadonlyMap<string, Origin>;
};

/** What is not bound is served by anybody; then it does no harm that makers cannot be found out. */
export function bindToAccount(
  state: AccountState | undefined,
  tier: Tier,
  origins: Origins,
): Result<BoundRequest, Rejection> {
  if (state === undefined) return success({});
  const { isBound, previousId, conversationId, itemIds } = state;
  const ids = [previousId, conversationId, ...itemIds].filter((id) => id !== null);
  if (ids.length === 0) return success(isBound ? { account: { kind: 'first' } } : {});
  const found = origins.find(ids);
  if (!found.ok) return isBound ? fail(originsUnknown()) : success({});
  const known: BoundRequest = found.value.size === 0 ? {} : { origins: found.value };
  if (!isBound) return success(known);
  const keeper = keeperOf(state, found.value);
  if (previousId !== null && keeper === null) return fail(responseNotFound(previousId));
  if (keeper === null) return success({ ...known, account: { kind: 'first' } });
  if (!isThere(keeper, tier)) return fail(accountGone(keeper.target, tier.name));
  return success({ ...known, account: { kind: 'made_by', origin: keeper } });
}

/** Whoever keeps the answer that it goes on with; else its conversation, else the first of its items. */
function keeperOf(
  { previousId, conversationId, itemIds }: AccountState,
  origins: ReadonlyMap<string, Origin>,
): Origin | null {
  const kept = (id: string | null): Origin | null => {
    const origin = id === null ? undefined : origins.get(id);
    return origin?.isKept === true ? origin : null;
  };
  if (previousId !== null) return kept(previousId);
  for (const id of [conversationId, ...itemIds]) {
    const origin = kept(id);
    if (origin !== null) return origin;
  }
  return null;
}

function isThere({ target, provider, keyAlias }: Origin, tier: Tier): boolean {
  const found = tier.targets.find(({ id }) => id === target)?.provider;
  if (found === undefined || found.name !== provider) return false;
  const { keys } = found;
  return keyAlias === null ? keys.length === 0 : keys.some(({ alias }) => alias === keyAlias);
}
