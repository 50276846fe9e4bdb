/** A token that is fetched, kept while it holds, and replaced ahead of its end: one fetch for all who wait. */
import type { Clock } from '../base/clock.ts';
import type { Result } from '../base/result.ts';
import { success } from '../base/result.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';

export type FetchedToken = { readonly token: string; readonly lifetimeMs: number };

/** Throws nothing; gives up when `signal` aborts. */
export type FetchToken = (signal: AbortSignal) => Promise<Result<FetchedToken, AttemptFailure>>;

const fetchMsMax = 10_000;
/** A token is replaced this long before its end, while it still serves; a short one at half its time. */
const aheadMs = 5 * 60_000;
/** Closer to its end no request is sent with it. */
const spareMs = 15_000;
/** Between two tries to replace a token that still serves. */
const pauseMs = 10_000;
/** One that is refused this early is not refused for its age. */
const youngMs = 60_000;

type Held = {
  readonly token: string;
  readonly madeAtMs: number;
  readonly replaceAtMs: number;
  readonly uselessAtMs: number;
};

export class FreshToken {
  readonly #clock: Clock;
  readonly #obtain: FetchToken;
  #held: Held | null = null;
  #running: Promise<Result<string, AttemptFailure>> | null = null;
  #pausedUntilMs = 0;

  constructor(clock: Clock, obtain: FetchToken) {
    this.#clock = clock;
    this.#obtain = obtain;
  }

  async get(): Promise<Result<string, AttemptFailure>> {
    const nowMs = this.#clock.monotonicMs();
    const held = this.#held;
    if (held === null || nowMs >= held.uselessAtMs) return this.#replace();
    // Whatever comes of it, this one still serves.
    if (nowMs >= held.replaceAtMs && nowMs >= this.#pausedUntilMs) void this.#replace();
    return success(held.token);
  }

  /** `token` was refused: true when another is there or may be had. */
  renew(token: string): boolean {
    const held = this.#held;
    if (held === null || held.token !== token) return true;
    if (this.#clock.monotonicMs() - held.madeAtMs < youngMs) return false;
    this.#held = null;
    return true;
  }

  #replace(): Promise<Result<string, AttemptFailure>> {
    this.#running ??= this.#fetchOnce().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #fetchOnce(): Promise<Result<string, AttemptFailure>> {
    const abort = new AbortController();
    const cancelTimer = this.#clock.schedule(fetchMsMax, () => abort.abort());
    const fetched = await this.#obtain(abort.signal);
    cancelTimer();
    const nowMs = this.#clock.monotonicMs();
    if (!fetched.ok) {
      this.#pausedUntilMs = nowMs + pauseMs;
      return fetched;
    }
    const { token, lifetimeMs } = fetched.value;
    this.#held = {
      token,
      madeAtMs: nowMs,
      replaceAtMs: nowMs + Math.max(lifetimeMs / 2, lifetimeMs - aheadMs),
      uselessAtMs: nowMs + Math.max(0, lifetimeMs - spareMs),
    };
    return success(token);
  }
}
