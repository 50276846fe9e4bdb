/** Runs retention: every few minutes, in portions with a pause between, only while the log is healthy. */
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log-port.ts';
import { originsKeptMs } from './sqlite-origins.ts';
import type { Writer } from './writer/writer-thread.ts';

const firstAfterMs = 60_000;
const everyMs = 5 * 60_000;
/** Between two portions as long as the last one took, within these bounds: live rows get their turn. */
const pauseMinMs = 5;
const pauseMaxMs = 250;

export type RetentionSchedule = { readonly stop: () => void };

/** `keepMs` is read for each run, since the config may change it. */
export function scheduleRetention(options: {
  readonly writer: Writer;
  readonly keepMs: () => number;
  readonly isHealthy: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}): RetentionSchedule {
  const { writer, clock, log } = options;
  let isStopped = false;
  let cancel: CancelTimer = () => undefined;
  let deleted = 0;

  const after = (delayMs: number): void => {
    if (!isStopped) cancel = clock.schedule(delayMs, () => void step());
  };
  const step = async (): Promise<void> => {
    if (!options.isHealthy()) return after(everyMs);
    const beganMs = clock.monotonicMs();
    const nowMs = clock.wallMs();
    const pruned = await writer.ask({
      kind: 'prune',
      beforeMs: nowMs - options.keepMs(),
      originsBeforeMs: nowMs - originsKeptMs,
    });
    if (!pruned.ok) {
      log.warn('old rows could not be deleted', { reason: pruned.fault.message });
      return after(everyMs);
    }
    deleted += pruned.value.deleted;
    if (!pruned.value.isDone) {
      const tookMs = clock.monotonicMs() - beganMs;
      return after(Math.min(Math.max(pauseMinMs, tookMs), pauseMaxMs));
    }
    if (deleted > 0) log.info('old rows were deleted', { rows: deleted });
    deleted = 0;
    after(everyMs);
  };

  after(firstAfterMs);
  return {
    stop: () => {
      isStopped = true;
      cancel();
    },
  };
}
