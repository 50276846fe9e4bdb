import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    include: [
      'test/process/**/*.test.ts',
      'test/load/**/*.test.ts',
      'test/scenario/**/*.test.ts',
      'test/soak/**/*.soak.ts',
    ],
    reporters: ['default'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    passWithNoTests: true,
  },
});
