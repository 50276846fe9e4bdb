/** Time as a value: everything that waits or measures takes a `Clock`, so a test can replace it. */

export type CancelTimer = () => void;

export type Clock = {
  /** Milliseconds since an arbitrary origin; never steps back. For measuring and deadlines. */
  readonly monotonicMs: () => number;
  /** Milliseconds since the Unix epoch. For records only, never for a decision. */
  readonly wallMs: () => number;
  /** Runs `task` once after `delayMs` (clamped to [0, 2^31 - 1]); the result cancels it. */
  readonly schedule: (delayMs: number, task: () => void) => CancelTimer;
};

const timerDelayMsMax = 2 ** 31 - 1;

/** A delay that `setTimeout` takes as it is: larger values would fire at once. */
export function clampTimerDelayMs(delayMs: number): number {
  return Math.min(Math.max(0, delayMs), timerDelayMsMax);
}

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  schedule: (delayMs, task) => {
    const timer = setTimeout(task, clampTimerDelayMs(delayMs));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `delayMs`, or at once when `signal` aborts; says which. */
export function sleep(
  clock: Clock,
  delayMs: number,
  signal: AbortSignal,
): Promise<'elapsed' | 'aborted'> {
  if (signal.aborted) return Promise.resolve('aborted');
  return new Promise((resolve) => {
    const onAbort = (): void => {
      cancel();
      resolve('aborted');
    };
    const cancel = clock.schedule(delayMs, () => {
      signal.removeEventListener('abort', onAbort);
      resolve('elapsed');
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
