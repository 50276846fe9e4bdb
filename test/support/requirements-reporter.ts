/** Ends a test run: which requirements have no test yet, and as the last line what passed and failed. */
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { cases, idsWithoutTest, requirements } from './requirement-ids.ts';

type Tally = { passed: number; failed: number; skipped: number; readonly namesRun: string[] };

type Options = {
  /** Where the lines go. */
  readonly write: (text: string) => void;
  /** Runs its argument when nothing else will be printed any more. */
  readonly atTheEnd: (task: () => void) => void;
};

const toTheProcess: Options = {
  write: (text) => process.stdout.write(text),
  atTheEnd: (task) => process.once('exit', task),
};

/** The list of ids is printed by a run of all files alone: a filtered run says nothing of the rest. */
export function requirementsReporter(options: Options = toTheProcess): Reporter {
  let vitest: Vitest | null = null;
  return {
    onInit: (started) => {
      vitest = started;
    },
    onTestRunEnd: async (modules, unhandledErrors) => {
      const tally = tallyOf(modules, unhandledErrors);
      const filesInAll = (await vitest?.globTestSpecifications())?.length ?? 0;
      if (modules.length >= filesInAll) options.write(missingIds(tally.namesRun));
      const isWatching = vitest?.config.watch === true;
      const closing = (): void => options.write(`${closingLine(tally)}\n`);
      if (isWatching) closing();
      else options.atTheEnd(closing);
    },
  };
}

/** A file that does not load, a broken hook and an error that nobody caught each count as one failure. */
function tallyOf(
  modules: readonly TestModule[],
  unhandledErrors: readonly SerializedError[],
): Tally {
  const tally: Tally = { passed: 0, failed: unhandledErrors.length, skipped: 0, namesRun: [] };
  for (const module of modules) {
    tally.failed += module.errors().length;
    for (const suite of module.children.allSuites()) tally.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') tally.passed += 1;
      else if (state === 'failed') tally.failed += 1;
      else tally.skipped += 1;
      if (state === 'passed' || state === 'failed') tally.namesRun.push(test.fullName);
    }
  }
  return tally;
}

/** `12 passed, 0 failed`, and what was skipped when anything was. */
function closingLine(tally: Tally): string {
  const skipped = tally.skipped === 0 ? '' : `, ${tally.skipped} skipped`;
  return `${tally.passed} passed, ${tally.failed} failed${skipped}`;
}

/** What no test's name carries yet: requirements with their words, cases by id. */
function missingIds(namesRun: readonly string[]): string {
  const lines: string[] = [];
  const bare = idsWithoutTest(requirements.keys(), namesRun);
  lines.push(`\nRequirements without a test: ${bare.length} of ${requirements.size}`);
  for (const id of bare) lines.push(`  ${id} ${requirements.get(id) ?? ''}`);
  const bareCases = idsWithoutTest(cases, namesRun);
  lines.push(`Cases without a test: ${bareCases.length} of ${cases.length}`);
  for (let at = 0; at < bareCases.length; at += 12) {
    lines.push(`  ${bareCases.slice(at, at + 12).join(' ')}`);
  }
  return `${lines.join('\n')}\n\n`;
}
