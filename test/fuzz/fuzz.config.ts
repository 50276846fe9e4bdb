import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { effort } from '../support/effort.ts';

export default defineConfig({
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    // These do more in a thorough run alone: a short one would only repeat `npm test`.
    include: [
      'test/property/**/*.test.ts',
      'test/fuzz/**/*.fuzz.ts',
      ...effort([], ['test/conformance/**/*.test.ts', 'test/scenario/amplification.test.ts']),
    ],
    setupFiles: ['test/support/property-runs.ts'],
    reporters: ['default'],
    pool: 'forks',
    maxWorkers: '100%',
    testTimeout: 600_000,
    hookTimeout: 60_000,
    passWithNoTests: true,
  },
});
