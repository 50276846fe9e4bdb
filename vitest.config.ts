import { defineConfig } from 'vitest/config';
import { requirementsReporter } from './test/support/requirements-reporter.ts';

/** Tests that start processes or open many sockets: one file at a time, after all the others. */
const heavy = ['test/process/**/*.test.ts', 'test/load/**/*.test.ts', 'test/docs/**/*.test.ts'];

const isCi = process.env['CI'] === 'true';

export default defineConfig({
  test: {
    reporters: ['default', requirementsReporter()],
    pool: 'forks',
    allowOnly: !isCi,
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      {
        test: {
          name: 'logic',
          include: ['test/**/*.test.ts'],
          exclude: heavy,
          // Far above what any takes: two at a time on a busy machine are no fault of theirs.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: '100%',
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'process',
          include: heavy,
          testTimeout: 90_000,
          hookTimeout: 60_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
