import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/base/random.ts';
import type { Candidate, History, LastFailure, Step } from '../../../src/engine/history.ts';
import { nextStep } from '../../../src/engine/next-step.ts';
import type { AttemptFailure, ErrorClass } from '../../../src/failure/attempt-failure.ts';

const random = seededRandom(1);

function candidate(target: string, over: Partial<Candidate> = {}): Candidate {
  return {
    target,
    obstacle: null,
    attempts: 0,
    sleptMs: 0,
    isSpent: false,
    expectedMs: null,
    contextWindow: null,
    ...over,
  };
}

function failure(errorClass: ErrorClass, over: Partial<AttemptFailure> = {}): AttemptFailure {
  return {
    errorClass,
    connection: null,
    status: 500,
    code: null,
    type: null,
    param: null,
    message: 'x',
    hint: null,
    shouldRetry: null,
    upstreamRequestId: null,
    rule: 'test',
    tokens: null,
    ...over,
  };
}

function last(of: AttemptFailure, over: Partial<LastFailure> = {}): LastFailure {
  return {
    candidate: 0,
    failure: of,
    hasOtherKey: false,
    keyRestsUntilMs: null,
    retries: 0,
    previousDelayMs: null,
    unhintedFailures: 1,
    mayHaveExecuted: false,
    isConfirmedElsewhere: false,
    isOurParameter: false,
    ...over,
  };
}

function history(over: Partial<History> = {}): History {
  return {
    nowMs: 1000,
    deadlineAtMs: 121_000,
    limits: {
      attempts: 4,
      attemptsTotal: 8,
      maxWaitMs: 10_000,
      hintCeilingMs: 60_000,
      backoff: { jitter: 'none', baseMs: 500, multiplier: 2, capMs: 30_000 },
      isFailoverOff: false,
      failsOverOnContentPolicy: false,
    },
    candidates: [candidate('p1'), candidate('p2')],
    attempts: 0,
    firstAsked: null,
    isFirstJudgement: true,
    last: null,
    ...over,
  };
}

/** The history after one failed attempt on p1, with p2 untouched. */
function afterOne(
  of: AttemptFailure,
  over: Partial<History> = {},
  lastOver: Partial<LastFailure> = {},
): History {
  return history({
    candidates: [candidate('p1', { attempts: 1 }), candidate('p2')],
    attempts: 1,
    firstAsked: 0,
    last: last(of, lastOver),
    ...over,
  });
}

function stepAfter(
  of: AttemptFailure,
  over?: Partial<History>,
  lastOver?: Partial<LastFailure>,
): Step {
  return nextStep(afterOne(of, over, lastOver), random).step;
}

function delayOf(step: Step): number {
  return step.kind === 'finish' ? Number.NaN : step.delayMs;
}

const hint = (waitMs: number) => ({ hint: { waitMs, source: 'retry-after' } });
const resting = (untilMs: number, reason = 'open') => ({ obstacle: { reason, untilMs } });

describe('the first ask', () => {
  it('R70 goes to the first candidate that can be asked, in plan order', () => {
    expect(nextStep(history(), random).step).toMatchObject({
      kind: 'attempt',
      candidate: 0,
      delayMs: 0,
    });
    const restingFirst = history({ candidates: [candidate('p1', resting(9000)), candidate('p2')] });
    expect(nextStep(restingFirst, random).step).toMatchObject({ kind: 'attempt', candidate: 1 });
  });

  it('waits for the first one back when all rest and the deadline allows', () => {
    const all = history({
      candidates: [candidate('p1', resting(9000)), candidate('p2', resting(4000))],
    });
    expect(nextStep(all, random).step).toEqual({ kind: 'wait', candidate: 1, delayMs: 3000 });
  });

  it('does not wait beyond the hint ceiling or the deadline', () => {
    const long = history({ candidates: [candidate('p1', resting(1000 + 60_001))] });
    expect(nextStep(long, random).step).toEqual({ kind: 'finish', ending: 'resting' });
    const late = history({ deadlineAtMs: 2000, candidates: [candidate('p1', resting(2500))] });
    expect(nextStep(late, random).step).toEqual({ kind: 'finish', ending: 'resting' });
  });

  it('does not wait for a target that was refused for good', () => {
    const parked = history({ candidates: [candidate('p1', resting(2000, 'parked'))] });
    expect(nextStep(parked, random).step).toEqual({ kind: 'finish', ending: 'resting' });
  });

  it('ends when nobody can serve at all', () => {
    expect(nextStep(history({ candidates: [] }), random).step).toEqual({
      kind: 'finish',
      ending: 'resting',
    });
  });
});

describe('after a failure', () => {
  const retried: readonly ErrorClass[] = [
    'transient_infra',
    'overload',
    'malformed_response',
    'stream_interrupted',
  ];
  it.each(retried)(
    'R10 R91 %s is asked again on the same target after the backoff',
    (errorClass) => {
      expect(stepAfter(failure(errorClass))).toMatchObject({
        kind: 'attempt',
        candidate: 0,
        isRetry: true,
        delayMs: 500,
        delayReason: 'backoff',
      });
    },
  );

  const movesOn: readonly ErrorClass[] = [
    'timeout',
    'auth',
    'permission',
    'quota_exhausted',
    'not_found',
  ];
  it.each(movesOn)(
    'R12 R13 R91 %s goes to the next target at once, without a sleep',
    (errorClass) => {
      expect(stepAfter(failure(errorClass))).toMatchObject({
        kind: 'attempt',
        candidate: 1,
        delayMs: 0,
      });
    },
  );

  it.each(['invalid_request', 'content_policy'] as const)(
    'R91 a %s of the first judge is final',
    (errorClass) => {
      expect(stepAfter(failure(errorClass))).toEqual({ kind: 'finish', ending: 'request_fault' });
    },
  );

  it('a 400 about a parameter that the client did not send moves on', () => {
    expect(stepAfter(failure('invalid_request'), {}, { isOurParameter: true })).toMatchObject({
      candidate: 1,
    });
  });

  it('a 400 of a later judge moves on, one attempt each', () => {
    const step = stepAfter(failure('invalid_request'), { isFirstJudgement: false });
    expect(step).toMatchObject({ kind: 'attempt', candidate: 1 });
  });

  it('a refused connection is asked again only while no other candidate is admissible', () => {
    const refused = failure('connection', { connection: 'refused' });
    expect(stepAfter(refused)).toMatchObject({ candidate: 1 });
    const alone = { candidates: [candidate('p1', { attempts: 1 })] };
    expect(stepAfter(refused, alone)).toMatchObject({
      kind: 'attempt',
      candidate: 0,
      isRetry: true,
    });
  });

  it('R13 another key of the same provider is tried at once', () => {
    const step = stepAfter(failure('auth'), {}, { hasOtherKey: true });
    expect(step).toMatchObject({ kind: 'attempt', candidate: 0, delayMs: 0, isRetry: true });
  });

  it('context_length goes only to a larger or unknown window, one attempt each', () => {
    const candidates = [
      candidate('p1', { attempts: 1, contextWindow: 200 }),
      candidate('p2', { contextWindow: 100 }),
      candidate('p3', { contextWindow: 400 }),
    ];
    expect(stepAfter(failure('context_length'), { candidates })).toMatchObject({ candidate: 2 });
    const small = { candidates: candidates.slice(0, 2) };
    expect(stepAfter(failure('context_length'), small)).toMatchObject({ kind: 'finish' });
  });

  it('content_policy fails over only when the tier says so', () => {
    const limits = { ...history().limits, failsOverOnContentPolicy: true };
    expect(stepAfter(failure('content_policy'), { limits })).toMatchObject({ candidate: 1 });
  });

  it('x-should-retry: false leaves the target, true keeps it', () => {
    expect(stepAfter(failure('overload', { shouldRetry: false }))).toMatchObject({ candidate: 1 });
  });

  it('failover off ends with the first target', () => {
    const limits = { ...history().limits, isFailoverOff: true };
    expect(stepAfter(failure('auth'), { limits })).toMatchObject({ kind: 'finish' });
    expect(stepAfter(failure('overload'), { limits })).toMatchObject({
      kind: 'attempt',
      candidate: 0,
    });
  });

  it('failover off asks nobody else, also when the first target is left without a failure of its own', () => {
    const limits = { ...history().limits, isFailoverOff: true };
    const spent = [candidate('p1', { attempts: 1, isSpent: true }), candidate('p2')];
    const over = { limits, candidates: spent, attempts: 1, firstAsked: 0 };
    expect(nextStep(history(over), random).step).toEqual({ kind: 'finish', ending: 'resting' });
  });

  it('with failover off the target that was asked is waited for, when that fits', () => {
    const limits = { ...history().limits, isFailoverOff: true };
    const rests = candidate('p1', { attempts: 1, ...resting(6000) });
    const candidates = [rests, candidate('p2')];
    const step = stepAfter(failure('overload'), { limits, candidates });
    expect(step).toEqual({ kind: 'wait', candidate: 0, delayMs: 5000 });
  });
});

describe('a full target', () => {
  const full = candidate('p2', resting(2000, 'full'));
  const spent = candidate('p1', { attempts: 1 });

  it.each(['auth', 'not_found', 'context_length'] as const)(
    'that nothing but its want of room kept from being asked after %s is to be come back to',
    (errorClass) => {
      const step = stepAfter(failure(errorClass), { candidates: [spent, full] });
      expect(step).toEqual({ kind: 'finish', ending: 'resting' });
    },
  );

  it('is no other admissible one: a timeout is asked again where it was', () => {
    const step = stepAfter(failure('timeout'), { candidates: [spent, full] });
    expect(step).toMatchObject({ kind: 'attempt', candidate: 0 });
  });

  it('does not count where it could not have served either', () => {
    const small = { ...full, contextWindow: 1000 };
    const candidates = [{ ...spent, contextWindow: 8000 }, small];
    const step = stepAfter(failure('context_length'), { candidates });
    expect(step).toEqual({ kind: 'finish', ending: 'spent' });
  });
});

describe('hints', () => {
  it('R06 R08 Retry-After: 2 is waited for, never less, and stays on the target', () => {
    const step = stepAfter(failure('rate_limit', hint(2000)));
    expect(step).toMatchObject({ kind: 'attempt', candidate: 0, delayReason: 'hint' });
    expect(step.kind === 'attempt' && step.delayMs).toBeGreaterThanOrEqual(2000);
    expect(step.kind === 'attempt' && step.delayMs).toBeLessThanOrEqual(2000 * 1.1 + 250);
  });

  it('R07 Retry-After: 3600 never parks the request: it moves on, and alone it ends', () => {
    expect(stepAfter(failure('rate_limit', hint(3_600_000)))).toMatchObject({
      candidate: 1,
      delayMs: 0,
    });
    const alone = {
      candidates: [candidate('p1', { attempts: 1, ...resting(601_000, 'cooling') })],
    };
    expect(stepAfter(failure('rate_limit', hint(3_600_000)), alone)).toEqual({
      kind: 'finish',
      ending: 'resting',
    });
  });

  it('waits on one target at most max_wait in all while another is admissible', () => {
    const slept = {
      candidates: [candidate('p1', { attempts: 2, sleptMs: 9000 }), candidate('p2')],
      attempts: 2,
    };
    expect(stepAfter(failure('rate_limit', hint(2000)), slept)).toMatchObject({ candidate: 1 });
  });

  it.each([
    ['a hint', {}, hint(40_000), {}, 40_000],
    ['a key at rest', {}, {}, { keyRestsUntilMs: 41_000 }, 40_000],
    ['a hint as long as the ceiling', {}, hint(60_000), {}, 60_000],
    [
      'the first one back',
      { candidates: [candidate('p1', resting(41_000, 'cooling'))] },
      null,
      {},
      40_000,
    ],
  ] as const)(
    'R08 a crowd that waits for %s comes back spread, nobody early, nobody late',
    (_, over, failed, lastOver, waitMs) => {
      const lone = { candidates: [candidate('p1', { attempts: 1 })], ...over };
      const delays = Array.from({ length: 100 }, () =>
        delayOf(
          failed === null
            ? nextStep(history(lone), random).step
            : stepAfter(failure('rate_limit', failed), lone, lastOver),
        ),
      );
      expect(Math.min(...delays)).toBeGreaterThanOrEqual(waitMs);
      expect(Math.max(...delays)).toBeLessThanOrEqual(60_000);
      if (waitMs < 60_000) expect(new Set(delays).size).toBeGreaterThan(90);
    },
  );

  it('R08 R20 a wait that the deadline allows is not spread beyond what it leaves', () => {
    const only = candidate('p1', { expectedMs: 800 });
    for (let nth = 0; nth < 100; nth += 1) {
      const over = { deadlineAtMs: 42_000 };
      const [told, back] = [
        stepAfter(failure('rate_limit', hint(40_000)), {
          ...over,
          candidates: [{ ...only, attempts: 1 }],
        }),
        nextStep(
          history({ ...over, candidates: [{ ...only, ...resting(41_000, 'cooling') }] }),
          random,
        ).step,
      ];
      for (const step of [told, back]) {
        expect(delayOf(step)).toBeGreaterThanOrEqual(40_000);
        expect(delayOf(step)).toBeLessThan(40_200);
      }
    }
  });

  it('a rate limit without a hint is retried once while another is admissible', () => {
    const cooling = { keyRestsUntilMs: 2000 };
    expect(delayOf(stepAfter(failure('rate_limit'), {}, cooling))).toBeGreaterThanOrEqual(1000);
    expect(stepAfter(failure('rate_limit'), {}, cooling)).toMatchObject({ candidate: 0 });
    const twice = { ...cooling, unhintedFailures: 2 };
    expect(stepAfter(failure('rate_limit'), {}, twice)).toMatchObject({ candidate: 1 });
  });
});

describe('bounds', () => {
  it('R04 a target is asked at most `attempts` times', () => {
    const used = { candidates: [candidate('p1', { attempts: 4 }), candidate('p2')], attempts: 4 };
    expect(stepAfter(failure('overload'), used)).toMatchObject({ candidate: 1 });
  });

  it('FO-02 R04 attempts_total leaves room for the first asks that are due, and nothing returns', () => {
    const limits = { ...history().limits, attempts: 3, attemptsTotal: 5 };
    const asked: number[] = [];
    const state = ['p1', 'p2', 'p3'].map((target) => ({ target, attempts: 0, isSpent: false }));
    let lastFailure: LastFailure | null = null;
    for (;;) {
      const decision = nextStep(
        history({
          limits,
          candidates: state.map(({ target, ...rest }) => candidate(target, rest)),
          attempts: asked.length,
          firstAsked: asked[0] ?? null,
          isFirstJudgement: asked.length <= 1,
          last: lastFailure,
        }),
        random,
      );
      const left = lastFailure === null ? undefined : state[lastFailure.candidate];
      if (decision.leave === 'spent' && left !== undefined) left.isSpent = true;
      if (decision.step.kind !== 'attempt') break;
      asked.push(decision.step.candidate);
      const current = state[decision.step.candidate];
      if (current !== undefined) current.attempts += 1;
      lastFailure = last(failure('transient_infra'), { candidate: decision.step.candidate });
    }
    expect(asked).toEqual([0, 0, 0, 1, 2]);
  });

  it('R20 R21 a retry whose delay does not fit the deadline is not started', () => {
    expect(stepAfter(failure('overload'), { deadlineAtMs: 1400 })).toMatchObject({ candidate: 1 });
    const alone = { deadlineAtMs: 1400, candidates: [candidate('p1', { attempts: 1 })] };
    expect(stepAfter(failure('overload'), alone)).toEqual({ kind: 'finish', ending: 'no_time' });
  });

  it('R21 a failover is not started in less time than the target ever needed, but the last first ask is', () => {
    const slow = { expectedMs: 5000 };
    const candidates = [
      candidate('p1', { attempts: 1 }),
      candidate('p2', slow),
      candidate('p3', slow),
    ];
    const tight = { deadlineAtMs: 3000, candidates };
    expect(stepAfter(failure('auth'), tight)).toEqual({ kind: 'finish', ending: 'no_time' });
    const lastLeft = { deadlineAtMs: 3000, candidates: candidates.slice(0, 2) };
    expect(stepAfter(failure('auth'), lastLeft)).toMatchObject({ candidate: 1 });
  });

  it('R22 nothing is started at or after the deadline', () => {
    expect(stepAfter(failure('auth'), { deadlineAtMs: 1000 })).toMatchObject({ kind: 'finish' });
  });

  it('R72 an open breaker ends the stay; the request returns only to what it left resting', () => {
    const open = {
      candidates: [candidate('p1', { attempts: 3, ...resting(6000) }), candidate('p2')],
      attempts: 3,
    };
    expect(nextStep(afterOne(failure('overload'), open), random)).toMatchObject({
      step: { kind: 'attempt', candidate: 1 },
      leave: 'resting',
    });
    const alone = { candidates: open.candidates.slice(0, 1), attempts: 3 };
    expect(stepAfter(failure('overload'), alone)).toEqual({
      kind: 'wait',
      candidate: 0,
      delayMs: 5000,
    });
  });
});
