/** Plays seeds and reports the first that breaks an invariant, with the smallest schedule that does. */
import { type Violation, violationsOf } from './invariants.ts';
import { randomSchedule } from './schedule-random.ts';
import { shrinkSchedule } from './schedule-shrink.ts';
import { scheduleText, storyOf, violationText } from './schedule-story.ts';
import { simulate } from './simulated-run.ts';

/** Null = every invariant holds; else what to print: the seed, the violations, a minimal schedule, its story. */
export async function reportOf(seed: number): Promise<string | null> {
  const violations = violationsOf(await simulate(randomSchedule(seed)));
  const [first] = violations;
  return first === undefined ? null : failureReport(seed, first, violations);
}

/** The reports of the seeds in [from, from + count), at most three. */
export async function reportsOf(from: number, count: number): Promise<readonly string[]> {
  const reports: string[] = [];
  for (let seed = from; seed < from + count && reports.length < 3; seed += 1) {
    const report = await reportOf(seed);
    if (report !== null) reports.push(report);
  }
  return reports;
}

async function failureReport(
  seed: number,
  first: Violation,
  violations: readonly Violation[],
): Promise<string> {
  const smallest = await shrinkSchedule(randomSchedule(seed), async (candidate) =>
    violationsOf(await simulate(candidate)).some(({ invariant }) => invariant === first.invariant),
  );
  const observation = await simulate(smallest);
  const left = violationsOf(observation).filter(({ invariant }) => invariant === first.invariant);
  return [
    `seed ${seed} (TIERGATE_SEED=${seed} npx vitest run test/scenario/simulation.test.ts)`,
    violationText(violations.slice(0, 10)),
    'The smallest schedule that breaks the first of them:',
    scheduleText(smallest),
    violationText(left),
    storyOf(observation),
  ].join('\n');
}
