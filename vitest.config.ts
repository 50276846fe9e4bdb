import { defineConfig } from 'vitest/config';
import { requirementsReporter } from './test/support/requirements-reporter.ts';

/** Far above what any takes: several at a time on a busy machine are no fault of theirs. */
const timeouts = { testTimeout: 90_000, hookTimeout: 60_000 };

/** Mostly waits, at a modest rate, and measures nothing that the others disturb. */
const outage = 'test/load/outage.test.ts';

/** One after the other, those that share the machine best first: `load` has it for itself. */
const groups = [
  {
    // Nothing that lasts in a module: files of a worker share what they import.
    name: 'logic',
    folders: ['architecture', 'unit', 'property', 'conformance', 'scenario'],
    maxWorkers: 2,
    isolate: false,
  },
  // These wait for sockets and timers more than they work.
  { name: 'http', folders: ['http'], maxWorkers: 3, isolate: false },
  { name: 'process', folders: ['process', 'docs'], also: [outage], maxWorkers: 3, isolate: true },
  { name: 'load', folders: ['load'], maxWorkers: 1, isolate: true },
];

const isCi = process.env['CI'] === 'true';

export default defineConfig({
  test: {
    reporters: ['default', requirementsReporter()],
    pool: 'forks',
    allowOnly: !isCi,
    dangerouslyIgnoreUnhandledErrors: false,
    projects: groups.map(({ folders, also = [], ...group }, groupOrder) => ({
      test: {
        ...timeouts,
        ...group,
        include: [...folders.map((folder) => `test/${folder}/**/*.test.ts`), ...also],
        ...(folders.includes('load') && { exclude: [outage] }),
        sequence: { groupOrder },
      },
    })),
  },
});
