/** The cut fuzz, with many more streams. */
import { expect, it } from 'vitest';
import { cutFault } from '../support/cuts/cut-run.ts';
import { effort } from '../support/effort.ts';

/** After those of `npm test`. */
const first = Number(process.env['TIERGATE_FUZZ_SEED'] ?? '1000');
const perTest = 250;

function starts(streams: number): readonly number[] {
  return Array.from({ length: streams / perTest }, (_, index) => first + index * perTest);
}

async function faultsFrom(from: number, isRepetitive: boolean): Promise<readonly string[]> {
  const faults: string[] = [];
  for (let seed = from; seed < from + perTest; seed += 1) {
    const fault = await cutFault(seed, isRepetitive);
    if (fault !== null) faults.push(`seed ${seed}: ${fault}`);
  }
  return faults;
}

it.each(starts(effort(250, 100_000)))(
  `R41 R43 streams cut at random, seeds %i and the ${perTest - 1} after it`,
  async (from) => {
    expect(await faultsFrom(from, false)).toEqual([]);
  },
);

it.each(starts(effort(250, 10_000)))(
  `R41 texts that repeat themselves, seeds %i and the ${perTest - 1} after it`,
  async (from) => {
    expect(await faultsFrom(from, true)).toEqual([]);
  },
);
