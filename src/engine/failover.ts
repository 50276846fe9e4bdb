/** The one loop that starts attempts, for every dialect, streamed or not. `next-step` decides, this acts. */
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { AffinityTable } from '../resilience/affinity-table.ts';
import type { Alerts } from './alerts.ts';
import type { AttemptPorts, AttemptResult } from './attempt.ts';
import type { CandidateState } from './candidate-state.ts';
import { resume } from './continuation/resume.ts';
import type { EngineAnswer, EngineRequest, EngineRun } from './engine-request.ts';
import { type Explanation, explain } from './explain.ts';
import { flowOf } from './flow.ts';
import type { HealthRegistry } from './health-registry.ts';
import { hedgeCandidate } from './hedge-candidate.ts';
import type { AttemptStep, Step } from './history.ts';
import { type Asked, launch, placeFor, settleAsked, writerOf } from './launch.ts';
import { nextStep } from './next-step.ts';
import type { OverrideTable } from './override-table.ts';
import { PoisonWatch } from './poison-watch.ts';
import { RequestRun } from './request-run.ts';
import { restFully, waitFor } from './rest.ts';

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
    run.skipList.noteLate(history.candidates, decision.late);
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
    case 'wait': {
      const hasWaited = await waitFor(run, step, ports);
      return hasWaited ? null : { kind: 'failed', failure: run.fail('resting') };
    }
    case 'attempt': {
      const candidate = run.candidateAt(step.candidate);
      if (!run.affordsRetry(candidate, step)) return null;
      const isRested = await restFully(run, step.delayMs, candidate, ports);
      return isRested ? ask(run, candidate, step, ports) : null;
    }
  }
}

/** Null: it could not be asked, decide again. */
async function ask(
  run: RequestRun,
  candidate: CandidateState,
  step: AttemptStep,
  ports: EnginePorts,
): Promise<EngineAnswer | null> {
  const place = await placeFor(run, candidate, ports);
  if (place === null) return null;
  const asked = launch(run, candidate, { ...step, ...place }, ports);
  if (asked === null) return null;
  if (!(await isSlow(run, asked, ports.clock)))
    return settle(run, asked, await asked.result, ports);
  const hedge = launchHedge(run, asked, ports);
  if (hedge === null) return settle(run, asked, await asked.result, ports);
  return race(run, asked, hedge, ports);
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
  const candidate = hedgeCandidate(run, slow.candidate);
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
async function race(
  run: RequestRun,
  slow: Asked,
  hedge: Asked,
  ports: EnginePorts,
): Promise<EngineAnswer | null> {
  const [first, other, result] = await Promise.race([
    slow.result.then((ended) => [slow, hedge, ended] as const),
    hedge.result.then((ended) => [hedge, slow, ended] as const),
  ]);
  if (result.kind === 'failed') {
    settle(run, first, result, ports);
    // The request has gone on without it.
    first.candidate.isSpent = true;
    const ended = await other.result;
    if (isAnswer(ended) && other === hedge) run.noteHedgeWin();
    return settle(run, other, ended, ports);
  }
  if (isAnswer(result)) {
    if (first === hedge) run.noteHedgeWin();
    lose(other);
  } else {
    settle(run, other, { kind: 'gone' }, ports);
  }
  return settle(run, first, result, ports);
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

function settle(
  run: RequestRun,
  asked: Asked,
  result: AttemptResult,
  ports: EnginePorts,
): EngineAnswer | null {
  const answered = settleAsked(run, asked, result);
  if (answered === null) return null;
  const { candidate, record } = asked;
  if (answered.kind === 'whole') {
    record.end('served', candidate.breakerStanding());
    run.serve({ candidate, record, tally: answered.tally });
    const { dialect } = candidate.target.provider;
    const original = dialect.name === run.request.clientDialect ? answered.body : null;
    return { kind: 'whole', head: run.head(candidate), parts: answered.parts, original };
  }
  const writer = writerOf(run, asked, answered);
  const batches = flowOf(run, writer, { resume: () => resume(run, ports) });
  return { kind: 'stream', head: run.head(candidate), batches };
}
