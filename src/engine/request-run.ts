/** The state of one request while it is answered. The loop in `failover` drives it; nothing else writes it. */
import type { RequestFault } from '../dialects/dialect.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import type { RequestFailure } from '../failure/request-failure.ts';
import type { ProviderKey } from '../providers/provider.ts';
import type { Slot } from '../resilience/concurrency-limit.ts';
import { noteServed } from './affinity.ts';
import type { AttemptBounds } from './attempt.ts';
import { attemptKind } from './attempt-kind.ts';
import { AttemptRecord } from './attempt-record.ts';
import type { AttemptStream, Break } from './attempt-stream.ts';
import { boundsOf } from './bounds.ts';
import { candidatesOf } from './candidate-of.ts';
import type { CandidateState } from './candidate-state.ts';
import { Continuation } from './continuation/continuation.ts';
import type { Joiner } from './continuation/joiner.ts';
import type { AnswerHead, EngineRequest } from './engine-request.ts';
import type { EngineMemory } from './failover.ts';
import { alertOf, failureOfBreak, isFaultOfTarget } from './failure-of.ts';
import type { Candidate, Ending, History, Step } from './history.ts';
import { judgementsIn, limitsOf } from './judgement.ts';
import { lastFailureOf } from './last-failure.ts';
import { judgeOversize } from './oversize.ts';
import { mayWrite } from './provider-tools.ts';
import { goneFailure, requestFailure, shutdownFailure } from './request-end.ts';
import { SkipList } from './skip-list.ts';
import type { StreamTally } from './stream-tally.ts';
import type { TargetPermit } from './target-health.ts';
import type { Recovery, RequestOutcome, RequestTrace, Skip } from './trace.ts';
import { traceOf } from './trace-of.ts';

export type FailedAttempt = {
  readonly candidate: CandidateState;
  readonly record: AttemptRecord;
  readonly failure: AttemptFailure;
};

export type Serving = {
  readonly candidate: CandidateState;
  readonly record: AttemptRecord;
  readonly tally: StreamTally;
};

type AttemptStep = Extract<Step, { kind: 'attempt' }> & {
  /** Time in the target's queue, ms. */
  readonly queuedMs: number;
  readonly isHedge?: boolean;
};

export class RequestRun {
  readonly request: EngineRequest;
  readonly candidates: readonly CandidateState[];
  readonly records: AttemptRecord[] = [];
  readonly failures: FailedAttempt[] = [];
  readonly skipList: SkipList;
  readonly #ports: EngineMemory;
  #last: FailedAttempt | null = null;
  /** The target that was asked last: after a race, the one that was given up last. */
  #lastTarget: string | null = null;
  #isHedged = false;
  requestFault: RequestFault | null = null;
  serving: Serving | null = null;
  recovery: Recovery = 'none';
  outcome: RequestOutcome = 'failed';
  failure: RequestFailure | null = null;
  status = 200;
  endedMs: number | null = null;
  backoffMs = 0;
  failovers = 0;
  /** Retries that the retry budget did not allow. */
  refusedRetries = 0;
  ttftMs: number | null = null;
  /** Set when a stream has been committed. */
  continuation: Continuation | null = null;

  constructor(request: EngineRequest, ports: EngineMemory) {
    this.request = request;
    this.#ports = ports;
    const { candidates, skipped } = candidatesOf(request, ports);
    this.candidates = candidates;
    this.skipList = new SkipList(skipped);
  }

  get skips(): readonly Skip[] {
    return this.skipList.all();
  }

  get isGone(): boolean {
    return this.request.signal.aborted;
  }

  /** The rest of an open stream is asked for. */
  get isContinuing(): boolean {
    return this.continuation?.isUnderWay === true;
  }

  /** Until when whoever is asked now must have begun to answer (monotonic ms). */
  get deadlineAtMs(): number {
    const { continuation, request } = this;
    return continuation?.isUnderWay === true ? continuation.wholeAtMs : request.deadlineAtMs;
  }

  history(): History {
    const { isStream } = this.request.chat;
    const first = this.records[0]?.start.target.id ?? null;
    const history: History = {
      nowMs: this.#nowMs,
      deadlineAtMs: this.request.deadlineAtMs,
      limits: limitsOf(this.request),
      candidates: this.candidates.map((candidate) => candidate.view(isStream)),
      attempts: this.records.length,
      firstAsked:
        first === null ? null : this.candidates.findIndex(({ target }) => target.id === first),
      isFirstJudgement: judgementsIn(this.failures) <= 1,
      last: this.#last === null ? null : lastFailureOf(this.#last, this),
    };
    const { continuation } = this;
    if (continuation?.isUnderWay !== true) return history;
    return continuation.historyOf(history, this.candidates);
  }

  notePassedOver(candidates: readonly Candidate[]): void {
    this.skipList.noteObstacles(candidates);
  }

  candidateAt(index: number): CandidateState {
    const candidate = this.candidates[index];
    if (candidate === undefined) throw new Error(`no candidate ${index}`);
    return candidate;
  }

  /** How the target of the last failure is left, when the next step goes elsewhere. */
  leave(how: 'spent' | 'resting' | null): void {
    if (how === 'spent' && this.#last !== null) this.#last.candidate.isSpent = true;
  }

  forgetLast(): void {
    this.#last = null;
  }

  addBackoff(sleptMs: number): void {
    this.backoffMs += sleptMs;
  }

  skipForPrompt(candidate: CandidateState, fault: string): void {
    this.skipList.skip(candidate, 'prompt');
    this.#ports.alerts.raise({
      kind: 'internal_error',
      subject: candidate.target.id,
      message: `the prompt variant of ${candidate.target.id} cannot be rendered: ${fault}`,
      requestId: this.request.id,
    });
  }

  skipForFault(candidate: CandidateState, fault: RequestFault): void {
    this.skipList.skip(candidate, 'translation');
    this.requestFault ??= fault;
  }

  /** Null: refused at the last moment by the breaker, a parking or the retry budget. */
  admit(
    candidate: CandidateState,
    step: AttemptStep,
    key: ProviderKey | null,
    slot: Slot,
  ): TargetPermit | null {
    const { tier } = this.request;
    // While it queued the first key may have come back: then this is a plain retry.
    const isKeySwitch = step.isKeySwitch === true && key?.alias !== candidate.lastKey;
    const permit = candidate.health.admit(tier, key, slot, candidate.isForced);
    if (permit === null || isKeySwitch || this.isContinuing) return permit;
    const isFree = step.isRetry && permit.isProbe;
    if (isFree || candidate.health.drawBudget(tier, step.isRetry)) return permit;
    this.#refuseRetry(candidate);
    permit.abandon();
    return null;
  }

  /** Nobody sleeps for a retry that the budget would not allow: then the request goes on without it. */
  affordsRetry(candidate: CandidateState, step: Omit<AttemptStep, 'queuedMs'>): boolean {
    const isFree = !step.isRetry || step.isKeySwitch === true || this.isContinuing;
    if (isFree || candidate.health.breakerState() !== 'closed') return true;
    if (candidate.health.retryTokens(this.request.tier) >= 1) return true;
    this.#refuseRetry(candidate);
    this.forgetLast();
    return false;
  }

  #refuseRetry(candidate: CandidateState): void {
    this.refusedRetries += 1;
    candidate.isSpent = true;
  }

  /** A hedge is no change of target until it wins. */
  begin(
    candidate: CandidateState,
    step: AttemptStep,
    keyAlias: string | null,
    isProbe: boolean,
  ): AttemptRecord {
    const isHedge = step.isHedge ?? false;
    const previous = this.#lastTarget;
    const isChange = previous !== null && previous !== candidate.target.id;
    if (isChange && !isHedge) this.failovers += 1;
    if (!isHedge) this.#lastTarget = candidate.target.id;
    const record = new AttemptRecord(
      {
        n: this.records.length + 1,
        kind: attemptKind({
          isContinuing: this.isContinuing,
          isHedge,
          isProbe,
          previous,
          target: candidate.target.id,
        }),
        target: candidate.target,
        keyAlias,
        delayBeforeMs: step.delayMs + step.queuedMs,
        delayReason: step.delayReason ?? (step.queuedMs > 0 ? 'queue' : null),
        arrivedAtMs: this.request.arrivedAtMs,
        breakerBefore: candidate.breakerStanding(),
        retryBudget: candidate.health.retryTokens(this.request.tier),
      },
      this.#ports.clock,
    );
    if (this.isContinuing) this.continuation?.noteAsk(candidate);
    else candidate.attempts += 1;
    candidate.lastKey = keyAlias;
    if (step.delayMs > 0) candidate.previousDelayMs = step.delayMs;
    this.records.push(record);
    return record;
  }

  /** Whether no candidate but this one is closed. */
  isLastClosed(candidate: CandidateState): boolean {
    return this.candidates.every(
      (other) => other === candidate || other.health.breakerState() !== 'closed',
    );
  }

  /** The failure as it counts from here on. */
  judge(candidate: CandidateState, failure: AttemptFailure): AttemptFailure {
    const judged = judgeOversize(candidate, this.request, failure);
    return this.#ports.poison.judge(candidate, this.request, judged, this.#nowMs);
  }

  /** `candidate` has answered, or begun to. */
  noteAnswer(candidate: CandidateState): void {
    this.#ports.poison.noteSuccess(candidate, this.request, this.#nowMs);
  }

  boundsFor(candidate: CandidateState, record: AttemptRecord): AttemptBounds {
    const { request, candidates, deadlineAtMs } = this;
    const bounds = boundsOf({ ...request, deadlineAtMs }, candidate, candidates, this.#nowMs);
    record.ownLimitMs = bounds.ownLimitMs;
    record.fairMs = bounds.fairMs;
    return bounds;
  }

  noteFailure(
    candidate: CandidateState,
    record: AttemptRecord,
    failure: AttemptFailure,
    hadContent: boolean,
  ): void {
    candidate.noteFailure(failure);
    if (hadContent && !this.isContinuing) this.recovery = 'restarted';
    this.#note({ candidate, record, failure });
  }

  /** One hedge a request, and none where the caller chose the target or a second run may write twice. */
  get mayHedge(): boolean {
    const { tier, pin, isFailoverOff } = this.request;
    if (tier.hedge === null || pin !== null || isFailoverOff || this.#isHedged) return false;
    if (this.isContinuing) return false;
    return !this.candidates.some(({ target }) => mayWrite(this.request, target));
  }

  noteHedge(): void {
    this.#isHedged = true;
  }

  noteHedgeWin(): void {
    this.failovers += 1;
  }

  /** The answer flows, or its rest: then what joins it to what was sent is returned. */
  commit(serving: Serving, stream: AttemptStream | null): Joiner | null {
    const { maxDurationMs } = this.request.tier.stream;
    this.continuation ??= new Continuation(this.request, this.#nowMs + maxDurationMs);
    const joiner = this.continuation.commit(serving, stream);
    if (joiner !== null) this.recovery = 'continued';
    this.ttftMs ??= this.#nowMs - this.request.arrivedAtMs;
    this.serving = serving;
    return joiner;
  }

  serve({ candidate, record, tally }: Serving): void {
    this.serving = { candidate, record, tally };
    this.ttftMs ??= this.#nowMs - this.request.arrivedAtMs;
    noteServed(candidate.target.id, this.request, this.#ports.affinity, this.#nowMs);
    this.#end('served', 200);
  }

  fail(ending: Ending): RequestFailure {
    this.notePassedOver(this.history().candidates);
    const failure = requestFailure(this, ending, this.#nowMs);
    this.failure = failure;
    const isRejected = this.records.length === 0 && failure.status < 500;
    this.#end(isRejected ? 'rejected' : 'failed', failure.status);
    return failure;
  }

  /** The stream broke after the client had seen some of it; whether its rest may be asked for. */
  noteBreak({ candidate, record }: Serving, permit: TargetPermit, cause: Break): boolean {
    const broken = failureOfBreak({
      provider: candidate.target.provider,
      cause,
      headers: {},
      nowWallMs: this.#ports.clock.wallMs(),
      afterMs: record.elapsedMs(),
      isCommitted: true,
    });
    record.failure = broken;
    if (isFaultOfTarget(cause)) permit.breakAfterSuccess(record, broken);
    record.end('failed', candidate.breakerStanding());
    this.#note({ candidate, record, failure: broken });
    this.continuation?.noteBreak(candidate, this.#nowMs);
    return this.isContinuing;
  }

  /** Whether one more may be asked for the rest. */
  get maySeekRest(): boolean {
    return this.continuation?.bar(this.#nowMs) === null;
  }

  /** Nobody writes the rest: what was sent stands, and the client is told. */
  failForward(): RequestFailure {
    this.recovery = 'failed_forward';
    const failure = requestFailure(this, 'interrupted', this.#nowMs);
    this.failure = failure;
    this.#end('failed', 200);
    return failure;
  }

  /** The flow stopped without its last batch: the client has gone. */
  endUnlessEnded({ candidate, record }: Serving): void {
    if (this.endedMs !== null) return;
    record.end('client_gone', candidate.breakerStanding());
    this.endGone();
  }

  /** The client has gone, or the process ends and the client is told so by whoever writes to it. */
  endGone(): void {
    if (this.endedMs !== null) return;
    const isShutdown = this.request.signal.reason === 'shutdown';
    this.failure = isShutdown ? shutdownFailure(this) : goneFailure(this);
    this.#end(isShutdown ? 'failed' : 'client_gone', this.failure.status);
  }

  head(candidate: CandidateState): AnswerHead {
    return {
      target: candidate.target.id,
      variant: candidate.target.variant?.identity ?? null,
      attempts: this.records.length,
      failovers: this.failovers,
      isRestarted: this.recovery === 'restarted',
      dropped: candidate.encoded?.dropped ?? [],
    };
  }

  trace(): RequestTrace {
    return traceOf(this, this.endedMs ?? this.#nowMs);
  }

  get #nowMs(): number {
    return this.#ports.clock.monotonicMs();
  }

  #end(outcome: RequestOutcome, status: number): void {
    if (this.endedMs !== null) return;
    this.endedMs = this.#nowMs;
    this.outcome = outcome;
    this.status = status;
  }

  /** Also one inside a stream that has begun; whom it concerns is told. */
  #note(last: FailedAttempt): void {
    const { candidate, record, failure } = last;
    this.failures.push(last);
    this.#last = last;
    this.#lastTarget = candidate.target.id;
    const alert = alertOf(failure, candidate.target, record.start.keyAlias, this.request.id);
    if (alert !== null) this.#ports.alerts.raise(alert);
  }
}
