/** A conversation stays where a failover moved it, until a new turn finds the preferred target closed. */
import type { ChatRequest } from '../chat/request.ts';
import type { AffinityTable, TierSession } from '../resilience/affinity-table.ts';
import type { CandidateState } from './candidate-state.ts';
import type { EngineRequest } from './engine-request.ts';

/** Null: the request names no session, or the caller chose its target. */
export function sessionOf(request: EngineRequest): TierSession | null {
  if (request.session === null || request.pin !== null || request.account !== undefined)
    return null;
  return { keyId: request.keyId, tier: request.tier.name, session: request.session };
}

/** The candidates, with the one first that answered the session last, where it still counts. */
export function inSessionOrder(
  candidates: readonly CandidateState[],
  request: EngineRequest,
  table: AffinityTable,
  nowMs: number,
): readonly CandidateState[] {
  const session = sessionOf(request);
  const [preferred] = candidates;
  if (session === null || preferred === undefined) return candidates;
  const last = table.lookup(session, nowMs);
  const stayed = candidates.find(({ target }) => target.id === last);
  if (stayed === undefined || stayed === preferred) return candidates;
  const isClosed = preferred.obstacle() === null && preferred.health.breakerState() === 'closed';
  if (isNewTurn(request.chat) && isClosed) return candidates;
  return [stayed, ...candidates.filter((candidate) => candidate !== stayed)];
}

/** Only a session that has left its preferred target needs to be remembered. */
export function noteServed(
  servedBy: string,
  request: EngineRequest,
  table: AffinityTable,
  nowMs: number,
): void {
  const session = sessionOf(request);
  if (session === null) return;
  if (servedBy === request.tier.targets[0]?.id) table.forget(session);
  else table.remember(session, servedBy, nowMs);
}

/** The last message is the user's: no tool loop would be torn apart by a change of model. */
function isNewTurn({ messages }: ChatRequest): boolean {
  return messages.at(-1)?.role === 'user';
}
