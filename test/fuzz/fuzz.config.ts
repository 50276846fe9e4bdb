import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    include: [
      'test/property/**/*.test.ts',
      'test/conformance/**/*.test.ts',
      'test/fuzz/**/*.fuzz.ts',
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
