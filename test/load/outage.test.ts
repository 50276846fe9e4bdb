/** The first target dies under traffic, in every way, and comes back: nobody goes without an answer. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { RequestRecord } from '../../src/simulator/control/request-ring.ts';
import type { FaultKind } from '../../src/simulator/faults/fault.ts';
import { CaseGateway } from '../support/case-gateway.ts';
import { effort } from '../support/effort.ts';
import type { AttemptFields } from '../support/running-gateway.ts';
import { expectOneAtATime } from './probes.ts';
import { type Answer, askOnce, nthOf, Traffic, until } from './traffic.ts';

const perSecond = 50;
/** Answers while the breaker is open, at least. */
const answersOpen = effort(50, 1000);
const failedProbes = effort(1, 2);
/** The probe that finds the primary well takes so long that any other beside it would be seen. */
const slowMs = 200;
/** For a machine that does other things. */
const slackMs = 3000;

type Policies = {
  readonly policies: JsonObject;
  readonly openMs: number;
  readonly openMsMax: number;
};
const shipped: Policies = {
  policies: { hedge: {}, retry: { attempts: 4, base: '500ms', cap: '30s' } },
  openMs: 5000,
  openMsMax: 15_000,
};
/** What is shipped, but for the time that an outage takes to be seen and to be over. */
const brisk: Policies = {
  policies: {
    ...shipped.policies,
    timeout: { headers: '3s', first_content: '3s', first_content_soft: '1s' },
    breaker: { open_for: '1s', open_for_max: '2s' },
  },
  openMs: 1000,
  openMsMax: 2000,
};

/** A whole reply has no clock of its own: it waits for half of its time before another is asked. */
const briskSilence: Policies = { ...brisk, policies: { ...brisk.policies, deadline: '16s' } };

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start({ pace: { firstTokenMs: 10, gapMs: 1 } });
  // Code that is not compiled yet cannot keep up with the rate on a slow machine.
  const tier = await cases.tier(['p2', 'p1']);
  for (let nth = 1; nth <= 200; nth += 1) {
    await askOnce(cases, tier, { nth, words: 6, isStream: nth % 2 === 0 });
  }
});
afterAll(() => cases.close());

/** What was seen of one outage; instants are monotonic ms. */
type Outage = {
  readonly tier: string;
  readonly answers: readonly Answer[];
  readonly diedMs: number;
  readonly openMs: number;
  readonly backMs: number;
  readonly closedMs: number;
  /** What the primary received between the trip and its return to traffic, of requests that began then. */
  readonly whileOpen: readonly RequestRecord[];
  /** The primary's calls, and the requests that were under way or came. */
  readonly sinceClosed: { readonly calls: number; readonly requests: number };
};

/** Keeps what the primary receives: the records of the simulation are soon those of the fallback alone. */
function watchPrimary() {
  const seen = new Set<RequestRecord>();
  const stop = cases.control.onChange(() => {
    for (const record of cases.received('p2')) seen.add(record);
  });
  const restart = (): void => {
    cases.control.forgetRequests();
    seen.clear();
  };
  return { seen, stop, restart };
}

async function liveThrough(fault: FaultKind, { policies, openMsMax }: Policies): Promise<Outage> {
  const tier = await cases.tier(['p2', 'p1'], {}, { policies });
  const primary = cases.targetOf('p2');
  const isOfPrimary = ({ servedBy }: Answer): boolean => servedBy === primary;
  const traffic = Traffic.start(cases, { tier, perSecond, words: 6, isMixed: true });
  await until('the primary serves', () => traffic.count(isOfPrimary) >= perSecond);

  cases.control.fault('p2', fault);
  const diedMs = performance.now();
  await until('the breaker opens', async () => (await cases.breakerOf('p2')) === 'open');
  const openMs = performance.now();
  const primaryWatch = watchPrimary();
  primaryWatch.restart();
  const answered = traffic.answers.length;
  await until('answers meanwhile', () => traffic.answers.length - answered >= answersOpen);
  // Nothing is received at a port that is closed: there it is time enough for probes that counts.
  await until('probes have failed', () =>
    fault === 'down'
      ? performance.now() - openMs > failedProbes * openMsMax
      : [...primaryWatch.seen].filter(({ endedMs }) => endedMs !== null).length >= failedProbes,
  );

  cases.control.clear('p2');
  cases.control.fault('p2', 'slow', { delayMs: slowMs });
  const backMs = performance.now();
  await until('the breaker closes', async () => (await cases.breakerOf('p2')) === 'closed');
  const closedMs = performance.now();
  primaryWatch.stop();
  const received = [...primaryWatch.seen];
  const before = { calls: cases.control.calls('p2'), answered: traffic.answers.length };
  cases.control.clear('p2');
  await until(
    'the primary serves again',
    () => traffic.count((one) => isOfPrimary(one) && one.beganMs > closedMs) >= perSecond,
  );
  const answers = await traffic.stop();
  // A slow machine may deliver late what was sent before the trip: only those who asked after it count.
  const began = new Map(answers.map(({ nth, beganMs }) => [nth, beganMs]));
  const whileOpen = received.filter(({ body }) => (began.get(nthOf(body)) ?? 0) > openMs);
  const calls = cases.control.calls('p2') - before.calls;
  const sinceClosed = { calls, requests: traffic.sent - before.answered };
  return { tier, answers, diedMs, openMs, backMs, closedMs, whileOpen, sinceClosed };
}

/**
 * Everybody has an answer, and every answer its row. A stream whose client was reading when the primary
 * died is the one exception: it is continued, or its client is told so in the stream. Returns those told.
 */
async function expectAllServed({ tier, answers, diedMs }: Outage): Promise<readonly Answer[]> {
  const cut = answers.filter(
    ({ isStream, status, error, beganMs }) =>
      isStream && status === 200 && error === 'stream_interrupted' && beganMs < diedMs,
  );
  expect(answers.filter((one) => !one.isComplete && !cut.includes(one))).toEqual([]);
  const rows = await cases.rowsOfTier(tier);
  expect([...rows.keys()].sort()).toEqual(answers.map(({ id }) => id).sort());
  for (const answer of answers) {
    const row = rows.get(answer.id);
    const outcome = cut.includes(answer) ? 'failed' : 'served';
    expect(row).toMatchObject({ outcome, status: 200 });
    // The header names who began; a stream that was continued was ended by another.
    if (row?.['recovery'] !== 'continued') expect(row).toMatchObject({ target: answer.servedBy });
  }
  return cut;
}

/** The attempts that the rows call probes, of requests that met the breaker open. */
async function probesOf({ tier, answers, openMs, closedMs }: Outage): Promise<AttemptFields[]> {
  const rows = await cases.rowsOfTier(tier);
  const met = answers.filter(({ beganMs }) => beganMs > openMs && beganMs < closedMs);
  const asked = met.filter(
    ({ id, servedBy }) =>
      servedBy === cases.targetOf('p2') || rows.get(id)?.['attempt_count'] !== 1,
  );
  const full = await Promise.all(asked.map(({ id }) => cases.rowWithId(id)));
  return full
    .flatMap(({ attempts }) => attempts)
    .filter(({ target, kind }) => target === cases.targetOf('p2') && kind === 'probe');
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const stories: readonly (readonly [string, FaultKind, Policies])[] = [
  ['refuses connections', 'down', effort(brisk, shipped)],
  ['is silent', 'silent', effort(briskSilence, shipped)],
  ['answers 500', 'server_error', effort(brisk, shipped)],
  ['resets connections', 'reset', effort(brisk, shipped)],
  ['answers 529 (policies as shipped)', 'overload', shipped],
];

it.each(stories)(
  `R72 R73 primary %s under ${perSecond} requests a second: all answered, and back without a stampede`,
  async (name, fault, policies) => {
    const outage = await liveThrough(fault, policies);
    const cut = await expectAllServed(outage);
    const { openMs: periodMs, openMsMax } = policies;
    const { whileOpen, sinceClosed } = outage;
    const seen = { backMs: outage.backMs, wellMs: slowMs, openMs: periodMs };
    const backAfterMs =
      (expectOneAtATime(whileOpen, seen).at(-1)?.startedMs ?? Number.NaN) - outage.backMs;
    expect(backAfterMs).toBeLessThan(openMsMax + slackMs);
    // Then one call a request: what was kept back meanwhile does not come on top.
    expect(sinceClosed.calls).toBeLessThanOrEqual(sinceClosed.requests);
    const probes = await probesOf(outage);
    const { answers, diedMs, openMs, backMs, closedMs } = outage;
    // A period is never shorter than 0.8 of the first; the trip itself may be seen a little late.
    const periods = (closedMs - openMs + slowMs) / (periodMs * 0.8);
    expect(probes.length).toBeGreaterThan(failedProbes);
    expect(probes.length).toBeLessThanOrEqual(Math.ceil(periods) + 1);
    const slowest = Math.max(...answers.map(({ tookMs }) => tookMs));
    console.info(
      `outage, primary ${name}: ${answers.length - cut.length} of ${answers.length} answered (${cut.length} streams were cut while read); open after ${seconds(openMs - diedMs)}, ` +
        `${probes.length} probes in ${seconds(closedMs - openMs)}, asked again ${seconds(backAfterMs)} after its return, ` +
        `closed after ${seconds(closedMs - backMs)}; slowest answer ${seconds(slowest)}`,
    );
  },
);
