/** Streams of known text, broken at any byte, in every dialect: the exact text, or an error (R40 to R43). */
import { expect, it } from 'vitest';
import { cutFault } from '../support/cuts/cut-run.ts';
import { unspokenDialects } from '../support/cuts/cut-upstreams.ts';

const streams = 1000;
const perTest = 100;
const starts = Array.from({ length: streams / perTest }, (_, index) => index * perTest);

it.each(starts)(
  `R41 R43 streams cut at random, seeds %i and the ${perTest - 1} after it`,
  async (from) => {
    const faults: string[] = [];
    for (let seed = from; seed < from + perTest; seed += 1) {
      const fault = await cutFault(seed);
      if (fault !== null) faults.push(`seed ${seed}: ${fault}`);
    }
    expect(faults).toEqual([]);
  },
);

it('R41 in texts that repeat themselves a joint is exact, or says that it is uncertain', async () => {
  const faults: string[] = [];
  for (let seed = 0; seed < 200; seed += 1) {
    const fault = await cutFault(seed, true);
    if (fault !== null) faults.push(`seed ${seed}: ${fault}`);
  }
  expect(faults).toEqual([]);
});

it('every upstream dialect takes part', () => {
  expect(unspokenDialects).toEqual([]);
});
