/** `npm run fuzz`: the property and conformance tests with many more runs, and the fuzz files. */
import { readCommandLine } from '../support/command-line.ts';
import { runThoroughly } from '../support/thorough-run.ts';

const help = `npm run fuzz -- [options] [part of a file name ...]

Runs the tests of test/property and test/conformance, the outages of test/scenario, and
test/fuzz/*.fuzz.ts, with more runs a property, every cut of the streams' bytes, longer traces,
more schedules, longer outages, and 100,000 mutated streams, answers and bodies a dialect.

  --runs N    tries of each property (default 2000)
  --seed N    the seed of the first try, to repeat a failure
  --short     300 tries of the properties, and test/fuzz in its short form; what CI runs
  --help      this text
`;

async function main(): Promise<number> {
  const given = readCommandLine(help, {
    allowPositionals: true,
    options: {
      runs: { type: 'string' },
      seed: { type: 'string' },
      short: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (typeof given === 'number') return given;
  const { values, positionals } = given;
  const runs = values.runs ?? (values.short ? '300' : '2000');
  for (const [name, value] of [['runs', runs] as const, ['seed', values.seed ?? '0'] as const]) {
    if (/^\d{1,9}$/.test(value)) continue;
    process.stderr.write(`--${name} is "${value}", it takes a whole number\n`);
    return 2;
  }
  return runThoroughly({
    config: 'test/fuzz/fuzz.config.ts',
    environment: {
      TIERGATE_FUZZ_RUNS: runs,
      TIERGATE_EFFORT: values.short ? 'usual' : 'thorough',
      ...(values.seed === undefined ? {} : { TIERGATE_FUZZ_SEED: values.seed }),
    },
    filters: positionals,
  });
}

process.exitCode = await main();
