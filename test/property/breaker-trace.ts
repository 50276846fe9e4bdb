/** Drives a breaker and the plain model side by side, event by event, and compares what can be seen. */
import { seededRandom } from '../../src/base/random.ts';
import type { Breaker, BreakerPolicy, Permit } from '../../src/resilience/breaker/breaker.ts';
import { HandClock } from '../conformance/breaker/hand-clock.ts';
import type { Subject } from '../conformance/breaker/subjects.ts';
import { BreakerModel, type ModelPermit } from './breaker-model.ts';

export type BreakerEvent =
  | { readonly kind: 'advance'; readonly byMs: number }
  /** To the end of an open period; 1 ms otherwise. */
  | { readonly kind: 'advance_to_probe' }
  | { readonly kind: 'begin' }
  | {
      readonly kind: 'settle';
      /** Which of the attempts in flight: a share of their number. */
      readonly which: number;
      readonly mark: 'success' | 'failure' | 'none';
    }
  | { readonly kind: 'break'; readonly which: number }
  /** An attempt begun and settled at once. */
  | { readonly kind: 'attempt'; readonly mark: 'success' | 'failure' | 'none' };

type Pair = { readonly real: Permit; readonly model: ModelPermit };

export class BreakerTrace {
  readonly #clock = new HandClock();
  readonly #breaker: Breaker;
  readonly #model: BreakerModel;
  readonly #inFlight: Pair[] = [];
  /** Streams that still flow after their success. */
  readonly #flowing: Pair[] = [];
  #changes = 0;

  constructor(subject: Subject, seed: number) {
    this.#breaker = subject.create({ clock: this.#clock, random: seededRandom(seed) });
    this.#breaker.onChange(() => {
      this.#changes += 1;
    });
    this.#model = new BreakerModel(seededRandom(seed).next);
  }

  get state(): string {
    return this.#model.state;
  }

  /** Null when breaker and model agree afterwards, else what differs. */
  step(event: BreakerEvent, policy: BreakerPolicy): string | null {
    const { nowMs } = this.#clock;
    switch (event.kind) {
      case 'advance':
        this.#clock.nowMs += event.byMs;
        break;
      case 'advance_to_probe':
        // Whole milliseconds, so that both sides round alike.
        this.#clock.nowMs =
          this.#model.state === 'open'
            ? Math.max(nowMs, Math.ceil(this.#model.untilMs))
            : nowMs + 1;
        break;
      case 'begin':
        if (!this.#begin()) return 'one admitted, the other did not';
        break;
      case 'attempt': {
        const before = this.#inFlight.length;
        if (!this.#begin()) return 'one admitted, the other did not';
        if (this.#inFlight.length > before) this.#settle(before, event.mark, policy);
        break;
      }
      case 'settle':
        this.#settle(Math.floor(event.which * this.#inFlight.length), event.mark, policy);
        break;
      case 'break': {
        const index = Math.floor(event.which * this.#flowing.length);
        const [pair] = this.#flowing.splice(index, 1);
        pair?.real.breakAfterSuccess(policy);
        if (pair !== undefined) this.#model.breakStream(pair.model, nowMs, policy);
        break;
      }
    }
    return this.#difference();
  }

  close(): void {
    this.#breaker.close();
  }

  #begin(): boolean {
    const admission = this.#breaker.admit();
    const model = this.#model.ask(this.#clock.nowMs);
    if (admission.isAdmitted !== (model !== null)) return false;
    if (!admission.isAdmitted || model === null) return true;
    if (admission.permit.isProbe !== model.isProbe) return false;
    this.#inFlight.push({ real: admission.permit, model });
    return true;
  }

  #settle(index: number, mark: 'success' | 'failure' | 'none', policy: BreakerPolicy): void {
    const [pair] = this.#inFlight.splice(index, 1);
    if (pair === undefined) return;
    pair.real.settle(mark, policy);
    this.#model.settle(pair.model, mark, this.#clock.nowMs, policy);
    if (mark === 'success') this.#flowing.push(pair);
    if (this.#flowing.length > 50) this.#flowing.shift();
  }

  #difference(): string | null {
    const real = this.#breaker.view();
    const model = this.#model.seen(this.#clock.nowMs);
    if (real.state !== model.state) return `${real.state}, not ${model.state}`;
    if (real.isAdmitting !== model.isAdmitting) return `admitting: ${real.isAdmitting}`;
    if ((real.reason === null) !== (real.state === 'closed')) return `reason ${real.reason}`;
    if (this.#changes !== this.#model.changes) {
      return `${this.#changes} changes, not ${this.#model.changes}`;
    }
    const [realMs, modelMs] = [real.nextProbeAtMs, model.nextProbeAtMs];
    if (realMs === null || modelMs === null)
      return realMs === modelMs ? null : `probe at ${realMs}`;
    return Math.abs(realMs - modelMs) < 1e-3 ? null : `probe at ${realMs}, not ${modelMs}`;
  }
}
