/** The one loop that starts attempts, for every dialect, streamed or not. `next-step` decides, this acts. */
import type { Clock } from '../base/clock.ts';
import { sleep } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { Transport } from '../transport/transport.ts';
import type { Alerts } from './alerts.ts';
import { type AttemptResult, attempt } from './attempt.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { CandidateState } from './candidate-state.ts';
import type { EngineAnswer, EngineRequest, EngineRun } from './engine-request.ts';
import { flowOf } from './flow.ts';
import type { Step } from './history.ts';
import { nextStep } from './next-step.ts';
import { prepareCall, upstreamRequestOf } from './prepare.ts';
import { RequestRun } from './request-run.ts';
import type { HealthRegistry, TargetPermit } from './target-health.ts';

export type EnginePorts = {
  readonly clock: Clock;
  readonly random: Random;
  readonly transport: Transport;
  readonly health: HealthRegistry;
  readonly alerts: Alerts;
};

export type Engine = { readonly start: (request: EngineRequest) => EngineRun };

export function createEngine(ports: EnginePorts): Engine {
  return {
    start: (request) => {
      const run = new RequestRun(request, ports);
      return { answer: answer(run, ports), trace: () => run.trace() };
    },
  };
}

async function answer(run: RequestRun, ports: EnginePorts): Promise<EngineAnswer> {
  while (!run.isGone) {
    const decision = nextStep(run.history(), ports.random);
    run.leave(decision.leave);
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
      await rest(run, step.delayMs, run.candidateAt(step.candidate), ports.clock);
      run.forgetLast();
      return null;
    case 'attempt': {
      const candidate = run.candidateAt(step.candidate);
      await restFully(run, step.delayMs, candidate, ports.clock);
      return run.isGone ? null : ask(run, candidate, step, ports);
    }
  }
}

/** A wait is never cut short but by the client or by a target that can no longer be asked. */
async function restFully(
  run: RequestRun,
  delayMs: number,
  candidate: CandidateState,
  clock: Clock,
): Promise<void> {
  const untilMs = clock.monotonicMs() + delayMs;
  for (;;) {
    const leftMs = untilMs - clock.monotonicMs();
    if (leftMs <= 0 || run.isGone || isBarred(candidate)) return;
    await rest(run, leftMs, candidate, clock);
  }
}

function isBarred(candidate: CandidateState): boolean {
  const obstacle = candidate.obstacle();
  return obstacle !== null && obstacle.reason !== 'cooling';
}

/** Sleeps, but wakes at once when the client leaves or the target's health changes. */
async function rest(
  run: RequestRun,
  delayMs: number,
  candidate: CandidateState,
  clock: Clock,
): Promise<void> {
  const wake = new AbortController();
  const onGone = (): void => wake.abort();
  const stopListening = candidate.health.onChange(onGone);
  run.request.signal.addEventListener('abort', onGone, { once: true });
  const startedMs = clock.monotonicMs();
  await sleep(clock, delayMs, wake.signal);
  run.request.signal.removeEventListener('abort', onGone);
  stopListening();
  const sleptMs = clock.monotonicMs() - startedMs;
  candidate.sleptMs += sleptMs;
  run.addBackoff(sleptMs);
}

type AttemptStep = Extract<Step, { kind: 'attempt' }>;

async function ask(
  run: RequestRun,
  candidate: CandidateState,
  step: AttemptStep,
  ports: EnginePorts,
): Promise<EngineAnswer | null> {
  const prepared = prepareCall(run, candidate);
  if (prepared === null) return null;
  const key = candidate.pickKey();
  const permit = run.admit(candidate, step, key);
  if (permit === null) {
    run.forgetLast();
    return null;
  }
  const record = run.begin(candidate, step, key?.alias ?? null, permit.isProbe);
  const upstream = upstreamRequestOf(run, candidate, prepared, key);
  if (!upstream.ok) {
    return onFailed(run, candidate, record, permit, upstream.fault, false);
  }
  const result = await attempt(
    {
      target: candidate.target,
      upstream: upstream.value,
      isStream: run.request.chat.isStream,
      bounds: run.boundsFor(candidate, record),
      record,
      signal: run.request.signal,
    },
    ports,
  );
  return settle(run, candidate, record, permit, result);
}

function settle(
  run: RequestRun,
  candidate: CandidateState,
  record: AttemptRecord,
  permit: TargetPermit,
  result: AttemptResult,
): EngineAnswer | null {
  switch (result.kind) {
    case 'gone':
      permit.abandon();
      record.end('client_gone', candidate.health.breakerState());
      return null;
    case 'failed':
      return onFailed(run, candidate, record, permit, result.failure, result.hadContent);
    case 'whole': {
      permit.succeed(record, run.request.chat.isStream);
      record.end('served', candidate.health.breakerState());
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
        batches: flowOf(run, candidate, record, permit, result),
      };
  }
}

function onFailed(
  run: RequestRun,
  candidate: CandidateState,
  record: AttemptRecord,
  permit: TargetPermit,
  failure: Extract<AttemptResult, { kind: 'failed' }>['failure'],
  hadContent: boolean,
): null {
  record.failure = failure;
  permit.fail(record, failure);
  record.end('failed', candidate.health.breakerState());
  run.noteFailure(candidate, record, failure, hadContent);
  return null;
}
