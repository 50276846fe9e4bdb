/**
 * A process that records as fast as it can and prints each id once its row is durable. Told `hang`, it
 * begins a request and never ends it.
 */
import { systemClock } from '../../src/base/clock.ts';
import { uuidv7 } from '../../src/base/ids.ts';
import { silentLog } from '../../src/base/log-port.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { requestTrace } from '../support/traces.ts';

const [dataDirectory = '', mode = 'record'] = process.argv.slice(2);
/** Requests under way at once, as a busy gateway has. */
const concurrency = 20;

const opened = await openSqliteStore({
  dataDirectory,
  commitWaitMs: () => 250,
  keepMs: () => Number.MAX_SAFE_INTEGER,
  log: silentLog,
  clock: systemClock,
});
if (opened.ok) await run(opened.value);
else say(`refused ${opened.fault.kind}`);

async function run({ recorder }: SqliteStore): Promise<void> {
  say('ready');
  if (mode === 'hang') {
    const id = uuidv7(systemClock.wallMs());
    recorder.begin({ id, startedAtMs: systemClock.wallMs(), tier: 'fast', keyId: null });
    say(`begun ${id}`);
    systemClock.schedule(60_000, () => undefined);
    return;
  }
  await Promise.all(Array.from({ length: concurrency }, () => recordForEver(recorder)));
}

async function recordForEver(recorder: SqliteStore['recorder']): Promise<never> {
  for (;;) {
    const id = uuidv7(systemClock.wallMs());
    const outcome = await recorder.record(requestTrace({ id, startedAtMs: systemClock.wallMs() }));
    if (outcome !== 'lost') say(id);
  }
}

/** To a pipe, which takes it at once: what was printed before the kill was printed. */
function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
