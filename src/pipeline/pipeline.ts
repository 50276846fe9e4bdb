/**
 * The stages of a request, in order: decode (before a body is read it has no tier), options, tier,
 * prompt variables (of every target, whichever will serve), the account that it is bound to, deadline;
 * then, since only now is it known what is asked for, whether it repeats what just failed; engine; log
 * and encode.
 */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log-port.ts';
import type { EngineRequest } from '../engine/engine-request.ts';
import type { Engine } from '../engine/failover.ts';
import type { Origins } from '../engine/origins.ts';
import type { RequestTrace } from '../engine/trace.ts';
import type { Snapshot } from '../routing/snapshot.ts';
import type { Recorder } from '../served-by/recorder.ts';
import type { Answer, Pipeline } from './answer.ts';
import { commitPointOf } from './commit-point.ts';
import { Exchange } from './exchange.ts';
import { readRequest } from './read-request.ts';
import { internalFault, logUnavailable } from './rejection.ts';
import { asRepeat, RepeatedCalls } from './repeated-calls.ts';

export type PipelinePorts = {
  readonly clock: Clock;
  readonly engine: Engine;
  readonly recorder: Recorder;
  readonly origins: Origins;
  readonly snapshot: () => Snapshot;
  /** Both tell when the operator has changed who can be asked: the config and the overrides. */
  readonly decisions: readonly { readonly onChange: (listener: () => void) => unknown }[];
  readonly log: Log;
  /** Told of each request at its end. */
  readonly onEnd: (trace: RequestTrace) => void;
};

export function createPipeline(ports: PipelinePorts): Pipeline {
  const repeats = new RepeatedCalls(ports.clock);
  for (const decision of ports.decisions) decision.onChange(() => repeats.forgetWaits());
  let inFlight = 0;
  return {
    inFlight: () => inFlight,
    answer: async (call) => {
      inFlight += 1;
      let isStreaming = false;
      const exchange = new Exchange(call, ports.snapshot(), ports);
      try {
        const result = await answer(exchange, repeats, ports);
        if (result.kind !== 'stream') return result;
        isStreaming = true;
        const chunks = counted(result.chunks, () => {
          inFlight -= 1;
        });
        return { ...result, chunks };
      } catch (error) {
        // What was thrown is a bug of ours: the client gets a clean 500, the operator the stack.
        ports.log.error('a request failed inside the gateway', {
          alert: 'internal_error',
          subject: 'gateway',
          request_id: exchange.id,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        });
        return exchange.reject(internalFault());
      } finally {
        if (!isStreaming) inFlight -= 1;
      }
    },
  };
}

/**
 * Tells when a stream has ended. One that nobody has pulled is begun when it is told to return: else it
 * would run nothing, and its row would be lost. That is told only when the request's signal has aborted.
 */
function counted(
  chunks: AsyncGenerator<Buffer | string, void, undefined>,
  onEnd: () => void,
): AsyncGenerator<Buffer | string, void, undefined> {
  let isBegun = false;
  let isEnded = false;
  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    onEnd();
  };
  const noteStep = ({ done }: IteratorResult<Buffer | string, void>): void => {
    if (done === true) end();
  };
  const noticed = (
    result: Promise<IteratorResult<Buffer | string, void>>,
  ): Promise<IteratorResult<Buffer | string, void>> => {
    void result.then(noteStep, end);
    return result;
  };
  const next = (): Promise<IteratorResult<Buffer | string, void>> => {
    isBegun = true;
    return noticed(chunks.next());
  };
  const stop = (): Promise<IteratorResult<Buffer | string, void>> => {
    if (!isBegun) void next().catch(() => undefined);
    return noticed(chunks.return());
  };
  return {
    next,
    return: stop,
    throw: (error: unknown) => noticed(chunks.throw(error)),
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}

async function answer(
  exchange: Exchange,
  repeats: RepeatedCalls,
  ports: PipelinePorts,
): Promise<Answer> {
  const { snapshot } = exchange;
  if (snapshot.log.onFailure === 'refuse' && ports.recorder.degradedReason() !== null) {
    return exchange.reject(logUnavailable());
  }
  const read = readRequest(exchange, ports.origins);
  if (!read.ok) return exchange.reject(read.fault);
  if (exchange.isCount) {
    const asked = asCount(read.value);
    return exchange.count(ports.engine.start(asked), asked.chat);
  }
  const { call } = exchange;
  const { repeat, again } = repeats.arrive(read.value, call);
  exchange.clientRetryCount = repeat;
  if (again !== null) return exchange.reject(again);
  const request = asRepeat(read.value, repeat);
  const { headers, arrivedAtMs } = call;
  const { commitAfterMs } = request.tier.stream;
  const commit = commitPointOf({ headers, arrivedAtMs, commitAfterMs });
  return exchange.answer(ports.engine.start(request), commit, (trace) =>
    repeats.noteEnd(request, call, trace),
  );
}

/** An agent counts before each step and can do without: one is asked, once, and not for long. */
function asCount(request: EngineRequest): EngineRequest {
  const deadlineAtMs = Math.min(request.deadlineAtMs, request.arrivedAtMs + countMsMax);
  return { ...request, deadlineAtMs, isFailoverOff: true, maxRetries: 0, session: null };
}

const countMsMax = 10_000;
