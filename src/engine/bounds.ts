/** The clocks of one attempt as instants: own settings, the time left, and the split with who comes after. */
import { isThinkingAsked } from '../chat/request.ts';
import { attemptClocks } from '../resilience/attempt-clocks.ts';
import type { AttemptBounds } from './attempt.ts';
import type { CandidateState } from './candidate-state.ts';
import type { EngineRequest } from './engine-request.ts';

export function boundsOf(
  request: EngineRequest,
  candidate: CandidateState,
  candidates: readonly CandidateState[],
  nowMs: number,
): AttemptBounds {
  const { isStream } = request.chat;
  const remainingMs = Math.max(0, request.deadlineAtMs - nowMs);
  const clocks = attemptClocks({
    settings: candidate.target.clocks,
    isStream,
    isThinking: candidate.target.isThinking || isThinkingAsked(request.chat),
    remainingMs,
    isOtherAdmissible: !request.isFailoverOff && hasOtherAdmissible(candidate, candidates),
    isHedged: false,
    ownP99Ms: candidate.health.p99Ms(isStream),
  });
  const firstContentMs = Math.min(clocks.firstContentMs ?? clocks.wholeMs, clocks.wholeMs);
  const softMs = clocks.firstContentSoftMs;
  return {
    // Not shortened: a transport keeps connections by it, and the clocks below end the attempt in time.
    connectMs: candidate.target.clocks.connectMs,
    headersAtMs: clocks.headersMs === null ? null : nowMs + clocks.headersMs,
    firstContentAtMs: nowMs + firstContentMs,
    racedFirstContentAtMs: nowMs + clocks.ownLimitMs,
    // A hedge that starts when the attempt ends anyway has no time of its own.
    softAtMs: softMs === null || softMs >= firstContentMs ? null : nowMs + softMs,
    idleMs: clocks.idleMs,
    idleWithSignsMs: clocks.idleWithSignsMs,
    deadlineAtMs: request.deadlineAtMs,
    ownLimitMs: clocks.ownLimitMs,
    fairMs: clocks.fairMs,
    holdTokens: request.tier.stream.holdTokens,
    holdMaxMs: request.tier.stream.holdMaxMs,
  };
}

function hasOtherAdmissible(
  candidate: CandidateState,
  candidates: readonly CandidateState[],
): boolean {
  return candidates.some(
    (other) => other !== candidate && !other.isSpent && other.obstacle() === null,
  );
}
