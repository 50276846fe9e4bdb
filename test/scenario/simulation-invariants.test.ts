import { beforeAll, describe, expect, it } from 'vitest';
import { invariants, violationsOf } from '../support/invariants.ts';
import type { Fault, RequestPlan, Schedule, TierPlan } from '../support/schedule-model.ts';
import { randomSchedule } from '../support/schedule-random.ts';
import { shrinkSchedule } from '../support/schedule-shrink.ts';
import { scheduleText } from '../support/schedule-story.ts';
import type { CallSeen, Observation, RequestSeen } from '../support/simulated-observation.ts';
import { simulate } from '../support/simulated-run.ts';

/** Plain data: a test may change what the world never does. */
type Draft<Value> = { -readonly [name in keyof Value]: Draft<Value[name]> };
type Seen = Draft<Observation>;

function draftOf(observation: Observation): Seen {
  return structuredClone(observation) as Seen;
}

function status(code: number, over: Partial<Extract<Fault, { kind: 'status' }>> = {}): Fault {
  return {
    kind: 'status',
    status: code,
    word: null,
    afterMs: 10,
    headers: {},
    hangs: false,
    ...over,
  };
}

/** Two providers; what befalls each request stands in its id. */
function schedule(): Schedule {
  const [template] = randomSchedule(1).versions;
  const policies = template?.tiers[0]?.policies;
  const target = template?.tiers[0]?.targets[0];
  if (policies === undefined || target === undefined) throw new Error('an empty schedule');
  const clocks = {
    connectMs: 3000,
    headersMs: 30_000,
    firstContentSoftMs: 10_000,
    firstContentMs: 60_000,
    idleMs: 30_000,
  };
  const concurrency = { minConcurrent: 4, maxConcurrent: 100, queueMax: 4, queueWaitMs: 100 };
  const tier: TierPlan = {
    name: 'a',
    policies: {
      ...policies,
      deadlineMs: 20_000,
      retry: {
        attempts: 4,
        attemptsTotal: 8,
        backoff: { jitter: 'none', baseMs: 100, multiplier: 2, capMs: 1000 },
        maxWaitMs: 10_000,
        hintCeilingMs: 60_000,
        cooldownMaxMs: 600_000,
        budget: { ratio: 0.2, minPerSecond: 1, max: 100 },
      },
      breaker: {
        failures: 3,
        windowMs: 30_000,
        failureRate: 0.5,
        minSpanMs: 200,
        idleWindowMs: 0,
        openForMs: 5000,
        openForMaxMs: 5000,
      },
      hedge: null,
      stream: {
        holdTokens: 5,
        holdMaxMs: 500,
        onInterrupt: 'continue',
        maxContinuations: 2,
        maxDurationMs: 600_000,
        commitAfterMs: 0,
      },
    },
    targets: ['p1', 'p2'].map((provider) => ({
      provider,
      model: 'm',
      contextWindow: null,
      acceptsPrefill: false,
      hasInstruction: true,
      clocks,
      concurrency,
    })),
  };
  const during = (atMs: number, provider: string, fault: Fault) => ({
    provider,
    key: null,
    fromMs: atMs,
    toMs: atMs + 5,
    share: 1,
    fault,
  });
  return {
    seed: 1,
    endMs: 200_000,
    providers: ['p1', 'p2'].map((name) => ({
      name,
      keys: ['one', 'two'].map((alias) => ({ alias: `${name}-${alias}`, isResolved: true })),
      latencyMs: [20, 20],
      gapMs: 10,
      tokens: [20, 20],
      allowMissingFinish: false,
      asksAgainWhenEmpty: false,
      takesPrefill: false,
      manner: 'faithful' as const,
      thinkShare: 0,
      toolShare: 0,
    })),
    phases: [
      during(10_000, 'p1', status(500)),
      during(20_000, 'p1', status(429, { headers: { 'retry-after': '2' } })),
      during(30_000, 'p1', { kind: 'silence' }),
      during(40_000, 'p1', status(400)),
      during(50_000, 'p1', { kind: 'refuse', afterMs: 0 }),
      { ...during(70_000, 'p1', status(500)), toMs: 90_000 },
      { ...during(70_000, 'p2', status(500)), toMs: 90_000 },
      during(130_000, 'p1', status(529, { headers: { 'retry-after': '2' } })),
      during(140_000, 'p1', { kind: 'cut', afterTokens: 10 }),
    ],
    poisons: [],
    drains: [],
    versions: [{ atMs: 0, tiers: [tier] }],
    requests: [
      request('served', 1000),
      request('retried', 10_000),
      request('limited', 20_000),
      request('left', 30_000, { leavesAfterMs: 500 }),
      request('refused', 40_000),
      request('moved', 50_000),
      request('whole', 60_000, { isStream: false }),
      ...[0, 1, 2, 3].map((index) => request(`down${index}`, 70_000 + 300 * index)),
      request('mended', 120_000),
      request('hinted', 130_000),
      request('continued', 140_000),
    ],
  };
}

function request(id: string, atMs: number, over: Partial<RequestPlan> = {}): RequestPlan {
  return {
    id,
    atMs,
    tier: 'a',
    isStream: true,
    deadlineMs: null,
    leavesAfterMs: null,
    returnsOnLeave: false,
    pin: null,
    isFailoverOff: false,
    maxRetries: null,
    session: null,
    isToolTurn: false,
    body: id,
    mayWrite: false,
    asks: 'text',
    readPauseMs: 0,
    ...over,
  };
}

let clean: Observation;

beforeAll(async () => {
  clean = await simulate(schedule());
});

function the(seen: Seen, id: string): Draft<RequestSeen> {
  const found = seen.requests.find(({ plan }) => plan.id === id);
  if (found === undefined) throw new Error(`no request ${id}`);
  return found;
}

function attempt(seen: Seen, id: string, n: number) {
  const found = the(seen, id).trace?.attempts[n - 1];
  if (found === undefined) throw new Error(`no attempt ${n} of ${id}`);
  return found;
}

function call(seen: Seen, id: string, index = 0): Draft<CallSeen> {
  const found = seen.calls.filter(({ requestId }) => requestId === id)[index];
  if (found === undefined) throw new Error(`no call of ${id}`);
  return found;
}

/** One more call, like the given one but for what is named. */
function addCall(seen: Seen, id: string, over: Partial<Draft<CallSeen>>): void {
  seen.calls.push({ ...structuredClone(call(seen, id)), ...over });
}

/** Breaks each invariant alone, in the way that a faulty engine would. */
const breaches: { readonly [invariant: string]: (seen: Seen) => void } = {
  neverHangsNorThrows: (seen) => {
    seen.fault = '1 requests never end';
  },
  answersByTheDeadline: (seen) => {
    const { answered, deadlineAtMs } = the(seen, 'served');
    if (answered !== null) answered.atMs = deadlineAtMs + 2;
  },
  startsNoAttemptAfterTheDeadline: (seen) => {
    call(seen, 'served').at.atMs = the(seen, 'served').deadlineAtMs;
  },
  asksNobodyBesideTheWriter: (seen) => {
    const { atMs = 0, seq = 0 } = the(seen, 'served').answered ?? {};
    addCall(seen, 'served', { provider: 'p2', at: { atMs: atMs + 1, seq: seq + 0.5 } });
  },
  asksForTheRestOnlyWhereItMay: (seen) => {
    the(seen, 'continued').plan.asks = 'json';
  },
  asksForTheRestOfWhatWasSent: (seen) => {
    const { partial } = call(seen, 'continued', 1);
    if (partial !== undefined) partial.text = partial.text.slice(1);
  },
  thinksAnewAtHome: (seen) => {
    const rest = call(seen, 'continued', 1);
    rest.provider = 'p2';
    for (const batch of the(seen, 'continued').batches) {
      if (batch.seq > rest.at.seq) continue;
      batch.text = '';
      batch.types = ['reasoning'];
    }
  },
  keepsOneAnswer: (seen) => {
    the(seen, 'continued').batches.at(-1)?.ids.push('another');
  },
  tellsItsRecovery: (seen) => {
    const { trace } = the(seen, 'continued');
    if (trace !== null) trace.recovery = 'none';
  },
  marksDoubtfulJoints: (seen) => {
    const joint = the(seen, 'continued').trace?.seams[1];
    if (joint !== undefined) joint.uncertain = true;
  },
  addsUpItsUsage: (seen) => {
    const { trace } = the(seen, 'continued');
    if (trace !== null) trace.usage.outputTokens = 1;
  },
  rescuesWhileSomebodyCan: (seen) => {
    const continued = the(seen, 'continued');
    const rest = call(seen, 'continued', 1);
    continued.failure = the(seen, 'refused').failure;
    seen.calls = seen.calls.filter((one) => one !== rest);
  },
  endsItsExchanges: (seen) => {
    call(seen, 'left').ended = null;
  },
  chargesNobodyForLeaving: (seen) => {
    const permit = seen.permits.find(({ requestId }) => requestId === 'left');
    const seq = (the(seen, 'left').left?.seq ?? 0) + 0.5;
    permit?.endings.push({ how: 'fail', atMs: 30_500, seq, obstacles: {} });
  },
  leavesNothingBehind: (seen) => {
    if (seen.left[0] !== undefined) seen.left[0].timers = 1;
  },
  endsEveryPermitOnce: (seen) => {
    if (seen.permits[0] !== undefined) seen.permits[0].endings = [];
  },
  retriesNoForbiddenClass: (seen) => {
    const { failure } = attempt(seen, 'retried', 1);
    if (failure !== null) failure.errorClass = 'invalid_request';
  },
  undercutsNoHintOfItsOwn: (seen) => {
    const { failure } = attempt(seen, 'hinted', 1);
    if (failure !== null) failure.hint = { waitMs: 10_000, source: 'x' };
  },
  usesNoCoolingKey: (seen) => {
    addCall(seen, 'limited', { requestId: 'other', at: { atMs: 21_000, seq: 0 } });
  },
  boundsItsAttempts: (seen) => {
    the(seen, 'retried').tier.policies.retry.attempts = 1;
  },
  repeatsNoWritingTool: (seen) => {
    const { plan, trace } = the(seen, 'retried');
    plan.mayWrite = true;
    const failure = trace?.attempts[0]?.failure;
    if (failure) failure.errorClass = 'timeout';
  },
  keepsTheRetryBudget: (seen) => {
    const none = { ratio: 0, minPerSecond: 0, max: 0 };
    for (const { tiers } of seen.schedule.versions) {
      for (const { policies } of tiers) policies.retry.budget = none;
    }
  },
  returnsOnlyToTheResting: (seen) => {
    const first = attempt(seen, 'moved', 1);
    const back = { ...structuredClone(first), n: 3, startedAfterMs: 500 };
    the(seen, 'moved').trace?.attempts.push(back);
  },
  asksWithItsKeys: (seen) => {
    call(seen, 'served').key = null;
  },
  asksNobodyDrained: (seen) => {
    const { atMs } = call(seen, 'served').at;
    seen.schedule.drains.push({ target: 'p1/m', fromMs: atMs - 1, toMs: atMs + 1 });
  },
  countsEveryCall: (seen) => {
    seen.calls = seen.calls.filter(({ requestId }) => requestId !== 'served');
  },
  probesOneAtATime: (seen) => {
    const probe = seen.permits.find(({ breakerBefore }) => breakerBefore === 'half_open');
    if (probe === undefined) throw new Error('no probe');
    const second = { ...structuredClone(probe), at: { ...probe.at, seq: probe.at.seq + 0.1 } };
    seen.permits.push(second);
  },
  letsOnlyProbesThrough: (seen) => {
    if (seen.permits[0] !== undefined) seen.permits[0].breakerBefore = 'open';
  },
  recoversInTime: (seen) => {
    const [first] = seen.recoveries;
    if (first !== undefined) first.obstacles = { ...first.obstacles, 'p1/m': 'open' };
  },
  hasOneOutcome: (seen) => {
    const { trace } = the(seen, 'served');
    if (trace !== null) trace.outcome = 'failed';
  },
  hasTheClassOfItsAttempts: (seen) => {
    const failure = the(seen, 'refused').trace?.failure;
    if (failure) failure.failureClass = 'upstream_auth';
  },
  numbersItsAttempts: (seen) => {
    attempt(seen, 'retried', 2).kind = 'failover';
  },
  countsItsFailovers: (seen) => {
    const { trace } = the(seen, 'moved');
    if (trace !== null) trace.failoverCount = 0;
  },
  explainsItsSkips: (seen) => {
    the(seen, 'served').trace?.skipped.push({ target: 'p2/m', reason: 'no mood' });
  },
  measuresItsTimes: (seen) => {
    const { trace } = the(seen, 'served');
    if (trace !== null) trace.latencyMs += 60_000;
  },
  givesOneText: (seen) => {
    the(seen, 'served').text += call(seen, 'moved', 1).tokens.join('');
  },
  takesSoundAnswers: (seen) => {
    call(seen, 'retried').fault = null;
  },
  answersWhileSomebodyCan: (seen) => {
    const down = the(seen, 'down0');
    const { trace } = down;
    if (trace === null) return;
    trace.attempts = trace.attempts.filter(({ target }) => target === 'p1/m');
    seen.schedule.phases = seen.schedule.phases.filter(({ provider }) => provider === 'p1');
    seen.changes = [];
    down.obstaclesAtEnd = {};
  },
  asksInOrder: (seen) => {
    attempt(seen, 'served', 1).target = 'p2/m';
  },
  keepsToOneTargetWhenTold: (seen) => {
    the(seen, 'moved').plan.isFailoverOff = true;
  },
  tellsOfTheWantOfRoom: (seen) => {
    const { trace } = the(seen, 'refused');
    const failure = trace?.failure;
    if (failure) failure.failureClass = 'upstream_failed';
    trace?.skipped.push({ target: 'p2/m', reason: 'full' });
  },
  waitsForTheFirstBack: (seen) => {
    const refused = the(seen, 'refused');
    const { failure, trace } = refused;
    if (failure === null || trace === null) return;
    trace.attempts = [];
    failure.retryAfterMs = 1000;
    refused.obstaclesAtEnd = { 'p1/m': 'open', 'p2/m': 'cooling' };
  },
  callsPoisonedWhatFailsAgain: (seen) => {
    const { failure } = attempt(seen, 'retried', 1);
    if (failure !== null) failure.errorClass = 'poisoned';
  },
};

describe('the invariants of the simulation', () => {
  it('hold of a sound run that has retries, hints, failovers, open breakers, a continuation and a leaving client', () => {
    expect(violationsOf(clean)).toEqual([]);
    expect(clean.requests.at(-1)?.trace?.recovery).toBe('continued');
    const states = clean.changes.map(({ breaker }) => breaker);
    expect(states).toEqual(expect.arrayContaining(['open', 'half_open', 'closed']));
  });

  it.each(invariants.map(({ name }) => name))('%s fails when it is broken', (name) => {
    const seen = draftOf(clean);
    const breach = breaches[name];
    expect(breach).toBeDefined();
    breach?.(seen);
    const broken = violationsOf(seen as Observation).map(({ invariant }) => invariant);
    expect(broken).toContain(name);
  });

  it('a failing schedule shrinks to the one request and the one fault that it takes', async () => {
    const isRefused = async (candidate: Schedule): Promise<boolean> => {
      const { requests } = await simulate(candidate);
      return requests.some(({ trace }) => trace?.failure?.failureClass === 'invalid_request');
    };
    const smallest = await shrinkSchedule(schedule(), isRefused);
    expect(smallest.requests.map(({ id }) => id)).toEqual(['refused']);
    expect(smallest.phases).toHaveLength(1);
    expect(smallest.versions[0]?.tiers[0]?.targets).toHaveLength(1);
    expect(JSON.parse(scheduleText(smallest))).toEqual(smallest);
  });
});
