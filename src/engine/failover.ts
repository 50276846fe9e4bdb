/** The one loop that starts attempts, for every dialect, streamed or not. `next-step` decides, this acts. */
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { AffinityTable } from '../resilience/affinity-table.ts';
import type { Slot } from '../resilience/concurrency-limit.ts';
import type { Alerts } from './alerts.ts';
import { type AttemptBounds, type AttemptPorts, type AttemptResult, attempt } from './attempt.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { CandidateState } from './candidate-state.ts';
import type { EngineAnswer, EngineRequest, EngineRun } from './engine-request.ts';
import { type Explanation, explain } from './explain.ts';
import { flowOf } from './flow.ts';
import type { HealthRegistry } from './health-registry.ts';
import type { Step } from './history.ts';
import { nextStep } from './next-step.ts';
import type { OverrideTable } from './override-table.ts';
import { PoisonWatch } from './poison-watch.ts';
import { prepareCall, upstreamRequestOf } from './prepare.ts';
import { mayWrite } from './provider-tools.ts';
import { RequestRun } from './request-run.ts';
import { rest, restFully } from './rest.ts';
import type { TargetPermit } from './target-health.ts';

export type EnginePorts = AttemptPorts & {
  readonly random: Random;
  readonly health: HealthRegistry;
  readonly alerts: Alerts;
  readonly overrides: OverrideTable;
};

/** What the engine is given, and what it remembers over requests. */
export type EngineMemory = EnginePorts & {
  readonly affinity: AffinityTable;
  readonly poison: PoisonWatch;
};

export type Engine = {
  readonly start: (request: EngineRequest) => EngineRun;
  /** What would happen to it now; nothing is sent and nothing changes. */
  readonly explain: (request: EngineRequest) => Explanation;
};

export function createEngine(ports: EnginePorts): Engine {
  const memory: EngineMemory = {
    ...ports,
    affinity: new AffinityTable(),
    poison: new PoisonWatch(),
  };
  return {
    start: (request) => {
      ports.health.noteRequest(request.tier);
      const run = new RequestRun(request, memory);
      return { answer: answer(run, ports), trace: () => run.trace() };
    },
    explain: (request) => explain(request, memory),
  };
}

async function answer(run: RequestRun, ports: EnginePorts): Promise<EngineAnswer> {
  while (!run.isGone) {
    const history = run.history();
    const decision = nextStep(history, ports.random);
    run.leave(decision.leave);
    if (decision.step.kind === 'attempt') {
      run.notePassedOver(history.candidates.slice(0, decision.step.candidate));
    }
    const result = await act(run, decision.step, ports);
    if (result !== null) return result;
  }
  run.endGone();
  return { kind: 'gone' };
}

/** Null: something was learned, decide again. */
async function act(run: RequestRun, step: Step, ports: EnginePorts): Promise<EngineAnswer | null> {
  switch (step.kind) {
    case 'finish':
      return { kind: 'failed', failure: run.fail(step.ending) };
    case 'wait':
      if (!ports.health.waiters.enter(run.request.tier)) {
        return { kind: 'failed', failure: run.fail('resting') };
      }
      await rest(run, step.delayMs, run.candidateAt(step.candidate), ports);
      ports.health.waiters.leave(run.request.tier);
      run.forgetLast();
      return null;
    case 'attempt': {
      const candidate = run.candidateAt(step.candidate);
      await restFully(run, step.delayMs, candidate, ports);
      return run.isGone ? null : ask(run, candidate, step, ports);
    }
  }
}

type AttemptStep = Extract<Step, { kind: 'attempt' }>;

/** Null: it could not be asked, decide again. */
async function ask(
  run: RequestRun,
  candidate: CandidateState,
  step: AttemptStep,
  ports: EnginePorts,
): Promise<EngineAnswer | null> {
  const place = await placeFor(run, candidate, ports.clock);
  if (place === null) return null;
  const asked = launch(run, candidate, { ...step, ...place }, ports);
  if (asked === null) return null;
  if (!(await isSlow(run, asked, ports.clock))) return settle(run, asked, await asked.result);
  const hedge = launchHedge(run, asked, ports);
  if (hedge === null) return settle(run, asked, await asked.result);
  return race(run, asked, hedge);
}

/** A slot among the target's requests in flight; null: none within its queue wait, or the client left. */
async function placeFor(
  run: RequestRun,
  candidate: CandidateState,
  clock: Clock,
): Promise<{ readonly slot: Slot; readonly queuedMs: number } | null> {
  const free = candidate.health.tryAcquire();
  if (free !== null) return { slot: free, queuedMs: 0 };
  const startedMs = clock.monotonicMs();
  const leftMs = run.request.deadlineAtMs - startedMs;
  const slot = await candidate.health.acquire(run.request.signal, leftMs);
  const queuedMs = clock.monotonicMs() - startedMs;
  if (typeof slot === 'object') {
    if (queuedMs < leftMs) return { slot, queuedMs };
    slot.release('neutral');
  } else if (slot !== 'aborted') run.skipForRoom(candidate);
  run.forgetLast();
  return null;
}

type Launch = AttemptStep & {
  readonly slot: Slot;
  readonly queuedMs: number;
  readonly isHedge?: boolean;
};

/** One attempt under way. */
type Asked = {
  readonly candidate: CandidateState;
  readonly record: AttemptRecord;
  readonly permit: TargetPermit;
  readonly bounds: AttemptBounds;
  readonly result: Promise<AttemptResult>;
  /** Ends the attempt, whatever it has come to. */
  readonly cancel: () => void;
  /** The attempt is over: the client's leaving has nothing to end any more. */
  readonly unlink: () => void;
};

/** Null: it could not be asked; its slot has been given back. */
function launch(
  run: RequestRun,
  candidate: CandidateState,
  step: Launch,
  ports: EnginePorts,
): Asked | null {
  const prepared = prepareCall(run, candidate);
  // While this request slept, another one may have been told to leave the last key alone.
  const key = candidate.pickKey();
  const isRefused = prepared === null || candidate.hasRestingKeys;
  const permit = isRefused ? null : run.admit(candidate, step, key, step.slot);
  if (prepared === null || permit === null) {
    step.slot.release('neutral');
    run.forgetLast();
    return null;
  }
  const record = run.begin(candidate, step, key?.alias ?? null, permit.isProbe);
  const bounds = run.boundsFor(candidate, record);
  const upstream = upstreamRequestOf(run, candidate, prepared, key);
  const { signal, cancel, unlink } = linkTo(
    run.request.signal,
    step.isHedge === true || run.mayHedge,
  );
  const result: Promise<AttemptResult> = upstream.ok
    ? attempt(
        {
          target: candidate.target,
          upstream: upstream.value,
          authorize: key?.authorize ?? null,
          isStream: run.request.chat.isStream,
          bounds,
          isOnceOnly: mayWrite(run.request, candidate.target),
          record,
          signal,
        },
        ports,
      )
    : Promise.resolve({ kind: 'failed', failure: upstream.fault, hadContent: false });
  return { candidate, record, permit, bounds, result, cancel, unlink };
}

/** Only a racer is ever ended before the request is: another attempt goes by the request's own signal. */
function linkTo(
  signal: AbortSignal,
  isRacer: boolean,
): { readonly signal: AbortSignal; readonly cancel: () => void; readonly unlink: () => void } {
  if (!isRacer) return { signal, cancel: () => undefined, unlink: () => undefined };
  const abort = new AbortController();
  const cancel = (): void => abort.abort();
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  return {
    signal: abort.signal,
    cancel,
    unlink: () => signal.removeEventListener('abort', cancel),
  };
}

/** True at the soft clock when no content has come by then; false as soon as the attempt has ended. */
function isSlow(run: RequestRun, asked: Asked, clock: Clock): Promise<boolean> {
  const { softAtMs } = asked.bounds;
  if (softAtMs === null || !run.mayHedge) return Promise.resolve(false);
  return new Promise((resolve) => {
    const cancel = clock.schedule(softAtMs - clock.monotonicMs(), () => {
      if (asked.record.ttftMs === null) resolve(true);
    });
    void asked.result.then(() => {
      cancel();
      resolve(false);
    });
  });
}

const firstAsk: AttemptStep = {
  kind: 'attempt',
  candidate: -1,
  isRetry: false,
  delayMs: 0,
  delayReason: null,
};

/** The next candidate is asked as well; null when there is none, or the tier's hedge budget is spent. */
function launchHedge(run: RequestRun, slow: Asked, ports: EnginePorts): Asked | null {
  const candidate = run.hedgeCandidate(slow.candidate);
  const slot = candidate?.health.tryAcquire() ?? null;
  if (candidate === null || slot === null) return null;
  if (!ports.health.drawHedge(run.request.tier)) {
    slot.release('neutral');
    return null;
  }
  const hedge = launch(run, candidate, { ...firstAsk, slot, queuedMs: 0, isHedge: true }, ports);
  if (hedge === null) return null;
  run.noteHedge();
  slow.bounds.firstContentAtMs = slow.bounds.racedFirstContentAtMs;
  hedge.bounds.firstContentAtMs = hedge.bounds.racedFirstContentAtMs;
  return hedge;
}

/** The first to commit wins, the other is cancelled; until then both are kept apart. */
async function race(run: RequestRun, slow: Asked, hedge: Asked): Promise<EngineAnswer | null> {
  const [first, other, result] = await Promise.race([
    slow.result.then((ended) => [slow, hedge, ended] as const),
    hedge.result.then((ended) => [hedge, slow, ended] as const),
  ]);
  if (result.kind === 'failed') {
    settle(run, first, result);
    run.giveUp(first.candidate);
    const ended = await other.result;
    if (isAnswer(ended) && other === hedge) run.noteHedgeWin();
    return settle(run, other, ended);
  }
  if (isAnswer(result)) {
    if (first === hedge) run.noteHedgeWin();
    lose(other);
  } else {
    settle(run, other, { kind: 'gone' });
  }
  return settle(run, first, result);
}

function isAnswer(result: AttemptResult): boolean {
  return result.kind === 'whole' || result.kind === 'stream';
}

/** Not an attempt's failure, unless its target had not even answered: that silence is what it is marked for. */
function lose(loser: Asked): void {
  loser.permit.lose(loser.record);
  loser.record.end('cancelled', loser.candidate.breakerStanding());
  loser.cancel();
  loser.unlink();
  void loser.result.then((result) => {
    if (result.kind === 'stream') result.stream.cancel();
  });
}

function settle(run: RequestRun, asked: Asked, result: AttemptResult): EngineAnswer | null {
  const { candidate, record, permit, unlink } = asked;
  if (result.kind !== 'stream') unlink();
  switch (result.kind) {
    case 'gone':
      permit.abandon();
      record.end('client_gone', candidate.breakerStanding());
      return null;
    case 'failed': {
      const failure = run.judge(candidate, result.failure);
      record.failure = failure;
      permit.fail(record, failure, run.isLastClosed(candidate));
      record.end('failed', candidate.breakerStanding());
      run.noteFailure(candidate, record, failure, result.hadContent);
      return null;
    }
    case 'whole': {
      permit.succeed(record, run.request.chat.isStream);
      // Also where a whole reply is the answer to a stream.
      permit.release();
      record.end('served', candidate.breakerStanding());
      run.serve(candidate, record, result.tally);
      const { dialect } = candidate.target.provider;
      const original = dialect.name === run.request.clientDialect ? result.body : null;
      return { kind: 'whole', head: run.head(candidate), parts: result.parts, original };
    }
    case 'stream':
      permit.succeed(record, run.request.chat.isStream);
      run.commit(candidate, record, result.stream);
      return {
        kind: 'stream',
        head: run.head(candidate),
        batches: flowOf(run, { candidate, record, permit, committed: result, onEnd: unlink }),
      };
  }
}
