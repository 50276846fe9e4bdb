/** What all requests of this process came to, as running totals (R81); read by `GET /admin/v1/status`. */
import type { JsonObject } from '../base/json.ts';
import type { RequestTrace } from '../engine/trace.ts';

/** Names beyond these come from configs without end: they are counted together. */
const namesMax = 500;
const rest = 'other';

class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string, by = 1): void {
    const isKnown = this.#counts.has(name) || this.#counts.size < namesMax;
    const key = isKnown ? name : rest;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + by);
  }

  entries(): { readonly [name: string]: number } {
    return Object.fromEntries(this.#counts);
  }
}

export class Counters {
  readonly #requests = new Tally();
  readonly #failures = new Tally();
  readonly #attempts = new Tally();
  readonly #retries = new Tally();
  readonly #skips = new Tally();
  #backoffMs = 0;
  #hedges = 0;
  #clientRepeats = 0;
  #refusedRetries = 0;
  #oddHints = 0;

  /** A request has ended, however it did. */
  note(trace: RequestTrace): void {
    this.#requests.add(trace.outcome);
    if (trace.failure !== null) this.#failures.add(trace.failure.failureClass);
    if (trace.clientRetryCount > 0) this.#clientRepeats += 1;
    this.#backoffMs += trace.backoffMs;
    this.#refusedRetries += trace.refusedRetries ?? 0;
    for (const { kind, outcome, failure } of trace.attempts) {
      const errorClass = failure?.errorClass ?? 'none';
      this.#attempts.add(`${outcome}/${errorClass}`);
      if (kind === 'hedge') this.#hedges += 1;
      this.#oddHints += failure?.oddHints ?? 0;
    }
    this.#noteRetries(trace);
    for (const { reason } of trace.skipped) this.#skips.add(reason);
  }

  /** Totals since the start of the process; ms where the name says so. */
  totals(): JsonObject {
    return {
      requests_by_outcome: this.#requests.entries(),
      requests_by_failure: this.#failures.entries(),
      attempts_by_outcome_and_class: this.#attempts.entries(),
      retries_by_class: this.#retries.entries(),
      skips_by_reason: this.#skips.entries(),
      backoff_ms: Math.round(this.#backoffMs),
      hedges: this.#hedges,
      retries_refused_by_budget: this.#refusedRetries,
      client_repeats: this.#clientRepeats,
      odd_hints: this.#oddHints,
    };
  }

  /** A retry counts under the class of the failure that it answers. */
  #noteRetries({ attempts }: RequestTrace): void {
    for (const { kind, n, target } of attempts) {
      if (kind !== 'retry') continue;
      const answered = attempts.findLast((one) => one.n < n && one.target === target);
      this.#retries.add(answered?.failure?.errorClass ?? rest);
    }
  }
}
