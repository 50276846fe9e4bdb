/** Streams as no provider should send them, through every upstream dialect and on to clients of every dialect. */
import { expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { upstreamDialects } from '../../src/dialects/registry.ts';
import { effort } from '../support/effort.ts';
import { bodyFault, mutatedAnswer } from '../support/mutations/body-fault.ts';
import { cutAnywhere, mutatedStream, noise } from '../support/mutations/mutate-stream.ts';
import { streamFault } from '../support/mutations/stream-fault.ts';
import { below } from '../support/schedule-draws.ts';

const first = Number(process.env['TIERGATE_FUZZ_SEED'] ?? '0');
/** A dialect: 100,000 in all. */
const streams = effort(300, 20_000);
const perTest = effort(300, 5000);
const noiseBytes = effort(50_000, 1_000_000);

const batches = [...upstreamDialects.keys()].flatMap((dialect) =>
  Array.from({ length: streams / perTest }, (_, nth) => ({ dialect, from: first + nth * perTest })),
);

it.each(batches)(
  `mutated streams of $dialect come to an end and are told for what they are, from seed $from`,
  async ({ dialect, from }) => {
    const faults: string[] = [];
    for (let seed = from; seed < from + perTest; seed += 1) {
      const random = seededRandom(seed);
      const bytes = mutatedStream(dialect, random);
      const fault = await streamFault(dialect, bytes, cutAnywhere(bytes, random));
      if (fault !== null) faults.push(`seed ${seed}: ${fault}`);
    }
    expect(faults).toEqual([]);
  },
);

it.each([...upstreamDialects.keys()])('bytes at random are no stream of %s', async (dialect) => {
  const faults: string[] = [];
  let seed = first;
  for (let told = 0; told < noiseBytes; seed += 1) {
    const random = seededRandom(seed);
    const bytes = noise(1 + below(random, 2000), random);
    told += bytes.length;
    const fault = await streamFault(dialect, bytes, cutAnywhere(bytes, random));
    if (fault !== null) faults.push(`seed ${seed}: ${fault}`);
  }
  expect(faults).toEqual([]);
});

it.each(batches)(
  'mutated whole answers of $dialect are told for what they are, from seed $from',
  ({ dialect, from }) => {
    const faults: string[] = [];
    for (let seed = from; seed < from + perTest; seed += 1) {
      const random = seededRandom(seed);
      const bytes = mutatedAnswer(dialect, random);
      const fault = bodyFault(dialect, bytes, random);
      if (fault !== null) faults.push(`seed ${seed}: ${fault}`);
    }
    expect(faults).toEqual([]);
  },
);
