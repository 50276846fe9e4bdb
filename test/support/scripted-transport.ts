/** Providers by script under a virtual clock: what each answers, when, and what it was asked. */

import type { Clock } from '../../src/base/clock.ts';
import { fail, type Result, success } from '../../src/base/result.ts';
import type {
  BodyChunk,
  SendOptions,
  Transport,
  TransportFailure,
  UpstreamRequest,
  UpstreamResponse,
} from '../../src/transport/transport.ts';

/** A pause in ms, bytes, or how the body ends. Without an ending it stays open and silent. */
export type BodyStep = number | string | { readonly end: 'clean' | 'cut' };

export type ScriptedCall =
  | { readonly kind: 'refused' | 'reset' | 'stale' | 'silent'; readonly afterMs?: number }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly afterMs?: number;
      readonly body: readonly BodyStep[];
    };

export type SeenRequest = {
  readonly provider: string;
  readonly atMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** When the gateway closed it before its end; null = it did not. */
  closedAtMs: number | null;
};

/** `script` is asked for each call: the number counts from 0 per provider. */
export class ScriptedTransport implements Transport {
  readonly requests: SeenRequest[] = [];
  readonly #clock: Clock;
  readonly #script: (provider: string, call: number) => ScriptedCall;
  readonly #counts = new Map<string, number>();
  /** Exchanges that have not ended: a leak test counts them. */
  open = 0;

  constructor(clock: Clock, script: (provider: string, call: number) => ScriptedCall) {
    this.#clock = clock;
    this.#script = script;
  }

  readonly close = async (): Promise<void> => undefined;

  /** Every script begins again. */
  reset(): void {
    this.#counts.clear();
  }

  calls(provider: string): number {
    return this.#counts.get(provider) ?? 0;
  }

  readonly send = (
    request: UpstreamRequest,
    { signal }: SendOptions,
  ): Promise<Result<UpstreamResponse, TransportFailure>> => {
    const provider = new URL(request.url).hostname;
    const count = this.calls(provider);
    this.#counts.set(provider, count + 1);
    const seen: SeenRequest = {
      provider,
      atMs: this.#clock.monotonicMs(),
      headers: request.headers,
      body: String(request.body),
      closedAtMs: null,
    };
    this.requests.push(seen);
    const call = this.#script(provider, count);
    this.open += 1;
    return new Promise((resolve) => {
      let cancelTimer = (): void => undefined;
      const finish = (result: Result<UpstreamResponse, TransportFailure>): void => {
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
        if (!result.ok) this.open -= 1;
        resolve(result);
      };
      const onAbort = (): void => {
        seen.closedAtMs = this.#clock.monotonicMs();
        finish(fail(transportFailure('aborted', 'ABORTED')));
      };
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort);
      if (call.kind === 'silent') return;
      cancelTimer = this.#clock.schedule(call.afterMs ?? 0, () => finish(this.#result(call, seen)));
    });
  };

  #result(
    call: Exclude<ScriptedCall, { kind: 'silent' }>,
    seen: SeenRequest,
  ): Result<UpstreamResponse, TransportFailure> {
    if (call.kind !== 'answer') {
      if (call.kind === 'refused') return fail(transportFailure('refused', 'ECONNREFUSED'));
      if (call.kind === 'stale') {
        return fail({ ...transportFailure('reset', 'ECONNRESET'), isStaleSocket: true });
      }
      return fail(transportFailure('reset', 'ECONNRESET'));
    }
    const body = new ScriptedBody(call.body, this.#clock, () => {
      this.open -= 1;
    });
    return success({
      status: call.status,
      headers: call.headers ?? {},
      read: () => body.read(),
      cancel: () => {
        if (body.cancel()) seen.closedAtMs = this.#clock.monotonicMs();
      },
    });
  }
}

function transportFailure(kind: TransportFailure['kind'], code: string): TransportFailure {
  return { kind, isConnectTimeout: false, isStaleSocket: false, code };
}

class ScriptedBody {
  readonly #steps: BodyStep[];
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  #cancelRead: (() => void) | null = null;
  #last: BodyChunk | null = null;

  constructor(steps: readonly BodyStep[], clock: Clock, onEnd: () => void) {
    this.#steps = [...steps];
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  read(): Promise<BodyChunk> {
    if (this.#last !== null) return Promise.resolve(this.#last);
    const step = this.#steps.shift();
    if (typeof step === 'string')
      return Promise.resolve({ kind: 'bytes', bytes: Buffer.from(step) });
    if (typeof step === 'object') return Promise.resolve(this.#finish(endingOf(step.end)));
    return new Promise((resolve) => {
      let cancelTimer = (): void => undefined;
      this.#cancelRead = () => {
        cancelTimer();
        resolve({ kind: 'failed', failure: transportFailure('aborted', 'ABORTED') });
      };
      if (step === undefined) return;
      cancelTimer = this.#clock.schedule(step, () => {
        this.#cancelRead = null;
        resolve(this.read());
      });
    });
  }

  /** Whether there was anything left to cancel. */
  cancel(): boolean {
    if (this.#last !== null) return false;
    this.#finish({ kind: 'failed', failure: transportFailure('aborted', 'ABORTED') });
    this.#cancelRead?.();
    return true;
  }

  #finish(last: BodyChunk): BodyChunk {
    this.#last = last;
    this.#onEnd();
    return last;
  }
}

function endingOf(end: 'clean' | 'cut'): BodyChunk {
  if (end === 'clean') return { kind: 'end' };
  return { kind: 'failed', failure: transportFailure('reset', 'ECONNRESET') };
}
