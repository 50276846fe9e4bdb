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
  if (isNewTurn(request.chat) && isWell(preferred)) return candidates;
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

/** Half-open is not well yet; forced is, by an operator's word. */
function isWell(target: CandidateState): boolean {
  return target.obstacle() === null && target.breakerStanding() !== 'half_open';
}

/**
 * The user's words come last, and no tool's result since the model last spoke: no tool loop would be torn apart
 * by a change of model. Some agents add words of their own to the results that they send.
 */
function isNewTurn({ messages }: ChatRequest): boolean {
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
  const since = messages.slice(lastAnswer + 1);
  return since.at(-1)?.role === 'user' && since.every(({ role }) => role !== 'tool');
}
