/** The measurements: what each asks of the processes, and the row that it gives. */
import { type Child, generateLoad, memoryOf } from './children.ts';
import type { LoadJob } from './load-job.ts';
import { type ReportRow, shown, verdictAbove, verdictBelow } from './report.ts';
import { type Comparison, compareSides, type Side } from './rounds.ts';
import {
  addedLatencyMsMax,
  bytesPerSlowStreamMax,
  modestPerSecond,
  requestBody,
  type Scenario,
  scenarios,
} from './scenarios.ts';

export type Plan = {
  readonly rounds: number;
  readonly roundMs: number;
  readonly only: string;
  readonly isSmoke: boolean;
};

export type Setup = {
  readonly bare: Side;
  readonly gateway: Side;
  readonly direct: Side;
  readonly generator: Child;
  readonly adminKey: string;
};

const headers = { authorization: 'Bearer bench', 'user-agent': 'bench' };
const path = '/v1/chat/completions';

type Outcome = { readonly row: ReportRow; readonly failures: readonly string[] };
type Step = {
  readonly name: string;
  readonly run: (setup: Setup, plan: Plan) => Promise<Outcome>;
};

/** The measurements of `plan`, in order. */
export function stepsOf(plan: Plan): Step[] {
  const steps: Step[] = [
    ...scenarios.map((scenario) => ({
      name: scenario.name,
      run: (setup: Setup) => throughput(scenario, setup, plan),
    })),
    { name: 'added latency', run: addedLatency },
    { name: 'slow streams', run: slowStreams },
  ];
  return steps.filter(({ name }) => name.includes(plan.only));
}

async function throughput(scenario: Scenario, setup: Setup, plan: Plan): Promise<Outcome> {
  const { bare, gateway, generator } = setup;
  const job = {
    path,
    headers,
    body: requestBody(scenario),
    concurrency: plan.isSmoke ? 4 : scenario.concurrency,
    durationMs: plan.roundMs,
    perSecond: null,
  };
  const compared = await compareSides({
    sides: [bare, gateway],
    generator,
    job,
    rounds: plan.rounds,
  });
  const [base, ours] = figuresOf(compared, 'bare', 'gateway');
  return {
    failures: compared.failures.map((failure) => `${scenario.name}: ${failure}`),
    row: {
      scenario: scenario.name,
      yardstick: `${shown(base.perSecond)}/s`,
      gateway: `${shown(ours.perSecond)}/s`,
      figure: shown(compared.ratio),
      cpu: shown(base.cpuUs / ours.cpuUs),
      bound: `>= ${scenario.floor} (${scenario.aim})`,
      verdict: plan.isSmoke
        ? 'no verdict'
        : verdictAbove(compared.ratio, scenario.floor, scenario.aim),
    },
  };
}

function figuresOf(compared: Comparison, first: string, second: string) {
  const base = compared.sides.get(first);
  const ours = compared.sides.get(second);
  if (base === undefined || ours === undefined) throw new Error('a side has no figures');
  return [base, ours] as const;
}

async function addedLatency(setup: Setup, plan: Plan): Promise<Outcome> {
  const { direct, bare, gateway, generator } = setup;
  const compared = await compareSides({
    sides: [direct, bare, gateway],
    generator,
    job: {
      path,
      headers,
      body: requestBody({ tier: 'same', isStream: false, textBytes: 200 }),
      concurrency: 16,
      durationMs: plan.isSmoke ? plan.roundMs : plan.roundMs * 2,
      perSecond: modestPerSecond,
    },
    rounds: plan.rounds,
  });
  const [base, ours] = figuresOf(compared, 'direct', 'gateway');
  const [, yardstick] = figuresOf(compared, 'direct', 'bare');
  const added = ours.p50Ms - base.p50Ms;
  return {
    failures: compared.failures.map((failure) => `added latency: ${failure}`),
    row: {
      scenario: `median added at ${modestPerSecond}/s`,
      yardstick: `+${shown(yardstick.p50Ms - base.p50Ms)} ms`,
      gateway: `+${shown(added)} ms`,
      figure: `+${shown(added)} ms`,
      cpu: shown(yardstick.cpuUs / ours.cpuUs),
      bound: `<= ${addedLatencyMsMax} ms`,
      verdict: plan.isSmoke ? 'no verdict' : verdictBelow(added, addedLatencyMsMax),
    },
  };
}

/** Many streams whose provider takes its time: what each holds of the gateway's memory. */
async function slowStreams(setup: Setup, plan: Plan): Promise<Outcome> {
  const { gateway, generator } = setup;
  const count = plan.isSmoke ? 10 : 500;
  const child = gateway.child;
  const memory = (): number => (child === null ? Number.NaN : memoryOf(child));
  const job: LoadJob = {
    origin: gateway.origin,
    path,
    headers,
    body: requestBody({ tier: 'slow', isStream: true, textBytes: 200 }),
    concurrency: count,
    durationMs: 1,
    perSecond: null,
  };
  // The first round fills the heap's young generation, so that the second shows what a stream holds.
  await generateLoad(generator, job);
  const before = memory();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, memory());
  }, 50);
  const result = await generateLoad(generator, job);
  clearInterval(watch);
  const each = (peak - before) / count;
  return {
    failures: result.failed > 0 ? [`slow streams: ${result.firstFailure}`] : [],
    row: {
      scenario: `${count} slow streams`,
      yardstick: '-',
      gateway: `${shown(each / 1024)} kB each`,
      figure: `${shown(each / 1024)} kB`,
      cpu: '-',
      bound: `<= ${bytesPerSlowStreamMax / 1024} kB`,
      verdict: plan.isSmoke ? 'no verdict' : verdictBelow(each, bytesPerSlowStreamMax),
    },
  };
}
