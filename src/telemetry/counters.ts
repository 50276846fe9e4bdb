/** What all requests of this process came to, as running totals (R81); read by `GET /admin/v1/status`. */
import type { JsonObject } from '../base/json.ts';
import { type Log, silentLog } from '../base/log-port.ts';
import type { AttemptTrace, RequestTrace } from '../engine/trace.ts';

/** Names beyond these come from configs without end: they are counted together. */
const namesMax = 500;
const rest = 'other';

class Tally {
  readonly #counts = new Map<string, number>();

  /** Returns whether it is the first of its name. */
  add(name: string, by = 1): boolean {
    const isKnown = this.#counts.has(name) || this.#counts.size < namesMax;
    const key = isKnown ? name : rest;
    const before = this.#counts.get(key);
    this.#counts.set(key, (before ?? 0) + by);
    return before === undefined;
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
  readonly #unknownEvents = new Tally();
  readonly #log: Log;
  #backoffMs = 0;
  #hedges = 0;
  #clientRepeats = 0;
  #refusedRetries = 0;
  #oddHints = 0;

  constructor(log: Log = silentLog) {
    this.#log = log;
  }

  /** A request has ended, however it did. */
  note(trace: RequestTrace): void {
    this.#requests.add(trace.outcome);
    if (trace.failure !== null) this.#failures.add(trace.failure.failureClass);
    if (trace.clientRetryCount > 0) this.#clientRepeats += 1;
    this.#backoffMs += trace.backoffMs;
    this.#refusedRetries += trace.refusedRetries ?? 0;
    for (const attempt of trace.attempts) {
      const { kind, outcome, failure } = attempt;
      const errorClass = failure?.errorClass ?? 'none';
      this.#attempts.add(`${outcome}/${errorClass}`);
      if (kind === 'hedge') this.#hedges += 1;
      this.#oddHints += failure?.oddHints ?? 0;
      this.#noteUnknown(attempt);
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
      unknown_events: this.#unknownEvents.entries(),
    };
  }

  /** The first of its type from a target has a line; the provider may have begun to send something new. */
  #noteUnknown({ target, unknownEvents }: AttemptTrace): void {
    for (const [event, count] of unknownEvents ?? []) {
      if (!this.#unknownEvents.add(`${target} ${event}`, count)) continue;
      this.#log.debug('an event of a type that nobody here knows was passed over', {
        target,
        event,
      });
    }
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
