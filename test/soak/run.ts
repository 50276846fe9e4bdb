/** `npm run soak`: what shows only after long: many rounds of kill -9, long load, slow leaks. */
import { readCommandLine } from '../support/command-line.ts';
import { runThoroughly } from '../support/thorough-run.ts';

const help = `npm run soak -- [options] [part of a file name ...]

Runs the tests of test/process, test/load and test/scenario with their greater number of rounds
(kill -9 under load: 200), and test/soak/*.soak.ts. Takes many minutes.

  --help      this text

TIERGATE_SOAK_CLIENTS=N and TIERGATE_SOAK_CALLS=N make do with fewer, for a short look.
`;

async function main(): Promise<number> {
  const given = readCommandLine(help, {
    allowPositionals: true,
    options: { help: { type: 'boolean', default: false } },
  });
  if (typeof given === 'number') return given;
  return runThoroughly({
    config: 'test/soak/soak.config.ts',
    environment: { TIERGATE_EFFORT: 'thorough' },
    filters: given.positionals,
  });
}

process.exitCode = await main();
