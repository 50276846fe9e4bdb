import { expect, it } from 'vitest';
import { effort } from '../support/effort.ts';
import { reportsOf } from '../support/schedule-check.ts';

/** After those of `npm test`. */
const first = Number(process.env['TIERGATE_FUZZ_SEED'] ?? '1000');
const schedules = effort(500, 10_000);
const perTest = 500;
const starts = Array.from({ length: schedules / perTest }, (_, index) => first + index * perTest);

it.each(starts)(
  `every invariant holds in virtual time for seeds %i and the ${perTest - 1} after it`,
  async (from) => {
    expect((await reportsOf(from, perTest)).join('\n\n')).toBe('');
  },
);
