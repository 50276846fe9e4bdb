/** Repeats of the client's own, by its SDK's word or by their bytes: counted, and not multiplied (R32). */
import type { Clock } from '../base/clock.ts';
import type { EngineRequest } from '../engine/engine-request.ts';
import type { RequestTrace } from '../engine/trace.ts';
import type { FailureClass, RequestFailure } from '../failure/request-failure.ts';
import { type ClientAsk, ClientRepeats } from '../resilience/client-repeats.ts';
import type { Call } from './answer.ts';
import { type Rejection, type ToldFailure, toldAgain } from './rejection.ts';

export type Arrival = {
  /** Which repeat this is; 0 = none. */
  readonly repeat: number;
  /** The failure that it repeats, whose wait still runs: the answer. Null = ask the providers. */
  readonly again: Rejection | null;
};

type Kept = ToldFailure & { readonly arrivedAtMs: number };

export class RepeatedCalls {
  readonly #clock: Clock;
  readonly #repeats = new ClientRepeats<Kept>();
  #decidedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ask once for each request. Nothing is hashed unless one like it failed within the last 60 s. */
  arrive(request: EngineRequest, call: Call): Arrival {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#repeats.isEmpty(nowMs)
      ? null
      : this.#repeats.countRepeat(askOf(request, call, nowMs));
    const repeat = Math.max(request.clientRetryCount, known?.count ?? 0);
    const answer = known?.answer ?? null;
    const isOver = answer === null || answer.failure.arrivedAtMs <= this.#decidedAtMs;
    return { repeat, again: isOver ? null : toldAgain(answer.failure, answer.retryAfterMs) };
  }

  /** The providers were asked, and this came of it. Call it before the client is told. */
  noteEnd(request: EngineRequest, call: Call, trace: RequestTrace): void {
    const { outcome, failure } = trace;
    const nowMs = this.#clock.monotonicMs();
    if (outcome === 'served') {
      if (!this.#repeats.isEmpty(nowMs)) this.#repeats.noteServed(askOf(request, call, nowMs));
      return;
    }
    if (failure === null || !isRepeated[failure.failureClass]) return;
    const waitMs = toldWaitMs(failure);
    this.#repeats.noteFailure(askOf(request, call, nowMs), {
      failure: { ...told(failure), arrivedAtMs: request.arrivedAtMs },
      retryAfterUntilMs: waitMs === null ? null : nowMs + waitMs,
      clientRetryCount: request.clientRetryCount,
    });
  }

  /** The operator has decided something: what was told before may not hold, so repeats are asked for anew. */
  forgetWaits(): void {
    this.#decidedAtMs = this.#clock.monotonicMs();
  }
}

/** The request as it goes to the engine: a repeat is asked once of each target that can be asked. */
export function asRepeat(request: EngineRequest, repeat: number): EngineRequest {
  return repeat === 0 ? request : { ...request, clientRetryCount: repeat, maxRetries: 0 };
}

/**
 * Failures that SDKs repeat. Not those that name the request's own fault, nor a stream that broke: there
 * the client is invited to ask again. Whoever left was told nothing.
 */
const isRepeated = {
  invalid_request: false,
  context_length: false,
  content_policy: false,
  unauthenticated: false,
  forbidden: false,
  unknown_tier: false,
  idempotency_in_progress: false,
  body_too_large: false,
  idempotency_conflict: false,
  guardrail_tripped: false,
  output_invalid: false,
  rate_limited: true,
  client_gone: false,
  internal: true,
  upstream_quota: true,
  upstream_auth: true,
  upstream_failed: true,
  no_target_available: true,
  deadline_exceeded: true,
  stream_interrupted: false,
} satisfies { readonly [name in FailureClass]: boolean };

/** A long wait that no provider named is a guess, and to look again costs no call. */
function toldWaitMs({ retryAfterMs, attempts }: RequestFailure): number | null {
  const isGuess = attempts.length === 0 && retryAfterMs !== null && retryAfterMs > 60_000;
  return isGuess ? null : retryAfterMs;
}

function told(failure: RequestFailure): ToldFailure {
  const { failureClass, status, message, param, retryAfterMs, requestId } = failure;
  return { failureClass, status, message, param, retryAfterMs, requestId };
}

/** What else the client says beside its body makes another request, as another path does. */
function askOf(request: EngineRequest, call: Call, nowMs: number): ClientAsk {
  const { clientDialect, chat, pin, isFailoverOff, variables } = request;
  const path = [
    clientDialect,
    call.tierInPath,
    chat.model,
    chat.isStream,
    pin,
    isFailoverOff,
    variables,
  ];
  return { keyId: call.keyId, path: JSON.stringify(path), body: call.body, nowMs };
}
