/** `npm run simulate:long`: seeded schedules in virtual time by the hundred thousand, on every core. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { readCommandLine } from '../support/command-line.ts';

const help = `npm run simulate:long -- [options]

Plays random schedules against the engine in virtual time and checks every invariant of each.

  --schedules N  how many (default 100000)
  --seed N       the first seed (default 1000000)
  --help         this text
`;

const perTask = 500;

async function main(): Promise<number> {
  const given = readCommandLine(help, {
    options: {
      schedules: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '1000000' },
      help: { type: 'boolean', default: false },
    },
  });
  if (typeof given === 'number') return given;
  const { schedules, seed } = given.values;
  for (const [name, value] of Object.entries({ schedules, seed })) {
    if (/^\d{1,9}$/.test(value)) continue;
    process.stderr.write(`--${name} is "${value}", it takes a whole number\n`);
    return 2;
  }
  const reports = await playAll(Number(seed), Number(schedules));
  for (const report of reports) process.stdout.write(`\n${report}\n`);
  process.stdout.write(
    reports.length === 0
      ? `${schedules} schedules, every invariant holds\n`
      : `\n${reports.length} failing seeds\n`,
  );
  return reports.length === 0 ? 0 : 1;
}

async function playAll(first: number, count: number): Promise<readonly string[]> {
  const starts = Array.from({ length: Math.ceil(count / perTask) }, (_, index) => index * perTask);
  const reports: string[] = [];
  let played = 0;
  const work = async (): Promise<void> => {
    for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
      const size = Math.min(perTask, count - start);
      reports.push(...(await playInWorker(first + start, size)));
      played += size;
      process.stdout.write(`${played} of ${count} schedules\n`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return reports;
}

function playInWorker(from: number, count: number): Promise<readonly string[]> {
  const url = new URL('simulation-worker.ts', import.meta.url);
  const worker = new Worker(url, { workerData: { from, count } });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error(`the worker for seed ${from} ended early`)));
  });
}

process.exitCode = await main();
