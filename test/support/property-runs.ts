/** Set-up of a fuzz run: how often each property is tried, and from which seed. */
import fc from 'fast-check';

const runs = Number(process.env['TIERGATE_FUZZ_RUNS'] ?? '100');
const seed = process.env['TIERGATE_FUZZ_SEED'];

/** A property that sets its own `numRuns` keeps it; the seed of a failure is printed with it. */
fc.configureGlobal({ numRuns: runs, ...(seed === undefined ? {} : { seed: Number(seed) }) });
