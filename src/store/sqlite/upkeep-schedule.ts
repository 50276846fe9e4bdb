/** What keeps commits fast while rows come: ids are indexed in bulk, and a second thread waits for the disk. */
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Writer } from './writer/writer-thread.ts';

const everyMs = 1_000;
/** Portions a round; what is left waits for the next. */
const portionsMax = 20;
/** Pages (4 kB) that the write-ahead log may hold before a commit is asked to begin it anew. */
const pagesMax = 16_000;

/** `stop` waits until nothing of it runs. */
export type UpkeepSchedule = { readonly stop: () => Promise<void> };

/**
 * `writer` commits rows; `keeper` is a thread of its own on the same file. `batches` counts commits: a
 * round that finds no new ones does nothing.
 */
export function scheduleUpkeep(options: {
  readonly writer: Writer;
  readonly keeper: Writer;
  readonly batches: () => number;
  readonly isHealthy: () => boolean;
  readonly clock: Clock;
}): UpkeepSchedule {
  const { writer, keeper, clock } = options;
  let isStopped = false;
  let cancel: CancelTimer = () => undefined;
  let round: Promise<void> = Promise.resolve();
  let seen = -1;

  const next = (): void => {
    if (!isStopped) cancel = clock.schedule(everyMs, begin);
  };
  const begin = (): void => {
    const batches = options.batches();
    if (batches === seen || !options.isHealthy()) {
      next();
      return;
    }
    seen = batches;
    round = keepUp().then(next);
  };
  const keepUp = async (): Promise<void> => {
    for (let portion = 0; portion < portionsMax && !isStopped; portion += 1) {
      const indexed = await writer.ask({ kind: 'index' });
      if (!indexed.ok || indexed.value.isDone) break;
    }
    const written = await keeper.ask({ kind: 'checkpoint' });
    /** Commits went on meanwhile: only the thread that makes them can write back the rest and begin anew. */
    if (written.ok && written.value.pages > pagesMax) await writer.ask({ kind: 'checkpoint' });
  };

  next();
  return {
    stop: async () => {
      isStopped = true;
      cancel();
      await round;
      await keeper.close();
    },
  };
}
