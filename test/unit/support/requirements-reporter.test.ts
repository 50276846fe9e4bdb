import { describe, expect, it } from 'vitest';
import type { TestModule } from 'vitest/node';
import { cases, idsWithoutTest, requirements } from '../../support/requirement-ids.ts';
import { requirementsReporter } from '../../support/requirements-reporter.ts';

type FakeTest = { readonly fullName: string; readonly state: string };

/** A module as the reporter reads it: its tests, and how many errors it and a suite of it had. */
function moduleWith(tests: readonly FakeTest[], errors = 0, suiteErrors = 0): TestModule {
  const errorList = (count: number): unknown[] => Array.from({ length: count }, () => new Error());
  return {
    errors: () => errorList(errors),
    children: {
      allTests: () => tests.map(({ fullName, state }) => ({ fullName, result: () => ({ state }) })),
      allSuites: () => [{ errors: () => errorList(suiteErrors) }],
    },
  } as unknown as TestModule;
}

async function report(modules: TestModule[], unhandled = 0): Promise<string[]> {
  let text = '';
  const tasks: (() => void)[] = [];
  const reporter = requirementsReporter({
    write: (part) => {
      text += part;
    },
    atTheEnd: (task) => tasks.push(task),
  });
  const errors = Array.from({ length: unhandled }, () => ({ message: 'nobody caught this' }));
  await reporter.onTestRunEnd?.(modules, errors, unhandled > 0 ? 'failed' : 'passed');
  for (const task of tasks) task();
  return text.trimEnd().split('\n');
}

describe('the closing line', () => {
  it('counts what passed and failed', async () => {
    const tests = [
      { fullName: 'a', state: 'passed' },
      { fullName: 'b', state: 'failed' },
      { fullName: 'c', state: 'passed' },
    ];
    expect((await report([moduleWith(tests)])).at(-1)).toBe('2 passed, 1 failed');
  });

  it('says what was skipped', async () => {
    const tests = [
      { fullName: 'a', state: 'passed' },
      { fullName: 'b', state: 'skipped' },
    ];
    expect((await report([moduleWith(tests)])).at(-1)).toBe('1 passed, 0 failed, 1 skipped');
  });

  it('counts a file that does not load, a broken hook and an error that nobody caught', async () => {
    const lines = await report([moduleWith([], 1, 1)], 1);
    expect(lines.at(-1)).toBe('0 passed, 3 failed');
  });
});

describe('ids without a test', () => {
  it('are those that stand in no name of a test that ran', async () => {
    const tests = [
      { fullName: 'backoff > R-less name', state: 'passed' },
      { fullName: 'a suite > holds RH-01 and BR-13', state: 'passed' },
    ];
    const lines = await report([moduleWith(tests)]);
    expect(lines).toContain(`Cases without a test: ${cases.length - 2} of ${cases.length}`);
    expect(lines).toContain(
      `Requirements without a test: ${requirements.size} of ${requirements.size}`,
    );
  });

  it('hold an id whose only test was skipped', async () => {
    const skipped = [...requirements.keys()][0] ?? '';
    const lines = await report([moduleWith([{ fullName: `${skipped} later`, state: 'skipped' }])]);
    expect(lines.some((line) => line.startsWith(`  ${skipped} `))).toBe(true);
  });

  it('are found whole, not within longer words', () => {
    expect(idsWithoutTest(['R01', 'R02'], ['xR01 and R011', 'R02: fine'])).toEqual(['R01']);
  });

  it('come from lists without a repetition', () => {
    expect(requirements.size).toBe(42);
    expect(new Set(cases).size).toBe(118);
  });
});
