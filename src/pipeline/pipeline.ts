/**
 * The stages of a request, in order: decode (before a body is read it has no tier), options, tier,
 * prompt variables (of every target, whichever will serve), deadline, engine; then log and encode.
 */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log-port.ts';
import type { ChatRequest } from '../chat/request.ts';
import type { EngineRequest } from '../engine/engine-request.ts';
import type { Engine } from '../engine/failover.ts';
import type { RequestTrace } from '../engine/trace.ts';
import { deadlineLengthMs } from '../resilience/deadline.ts';
import type { Snapshot, Tier } from '../routing/snapshot.ts';
import type { Recorder } from '../served-by/recorder.ts';
import type { Answer, Pipeline } from './answer.ts';
import { Exchange } from './exchange.ts';
import {
  internalFault,
  invalidRequest,
  logUnavailable,
  unknownPin,
  unknownTier,
  variablesMissing,
} from './rejection.ts';
import { type RequestOptions, readRequestOptions } from './request-options.ts';

export type PipelinePorts = {
  readonly clock: Clock;
  readonly engine: Engine;
  readonly recorder: Recorder;
  readonly snapshot: () => Snapshot;
  readonly log: Log;
  /** Told of each request at its end. */
  readonly onEnd: (trace: RequestTrace) => void;
};

export function createPipeline(ports: PipelinePorts): Pipeline {
  let inFlight = 0;
  return {
    inFlight: () => inFlight,
    answer: async (call) => {
      inFlight += 1;
      let isStreaming = false;
      const exchange = new Exchange(call, ports.snapshot(), ports);
      try {
        const result = await answer(exchange, ports);
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

/** Tells when a stream has ended, also one that nobody ever pulled. */
function counted(
  chunks: AsyncGenerator<Buffer | string, void, undefined>,
  onEnd: () => void,
): AsyncGenerator<Buffer | string, void, undefined> {
  let isEnded = false;
  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    onEnd();
  };
  const noticed = async (
    result: Promise<IteratorResult<Buffer | string, void>>,
  ): Promise<IteratorResult<Buffer | string, void>> => {
    let isDone = true;
    try {
      const settled = await result;
      isDone = settled.done === true;
      return settled;
    } finally {
      if (isDone) end();
    }
  };
  return {
    next: () => noticed(chunks.next()),
    return: () => noticed(chunks.return()),
    throw: (error: unknown) => noticed(chunks.throw(error)),
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => {
      await noticed(chunks.return());
    },
  };
}

async function answer(exchange: Exchange, ports: PipelinePorts): Promise<Answer> {
  const { call, snapshot } = exchange;
  if (snapshot.log.onFailure === 'refuse' && ports.recorder.degradedReason() !== null) {
    return exchange.reject(logUnavailable());
  }
  const decoded = call.dialect.decodeRequest(call.body);
  if (!decoded.ok) return exchange.reject(invalidRequest(decoded.fault));
  const chat = decoded.value.request;
  exchange.adopt(chat);
  const read = readRequestOptions(call.headers, decoded.value.extension);
  if (!read.ok) return exchange.reject(invalidRequest(read.fault));
  const options = read.value;
  exchange.adoptOptions(options);
  const name = call.tierInPath ?? chat.model;
  const tier = snapshot.resolveTier(name);
  if (tier === null) return exchange.reject(unknownTier(name, [...snapshot.tiers.keys()]));
  exchange.tier = tier.name;
  const faults = tier.variableFaults(options.variables);
  if (faults.length > 0) return exchange.reject(variablesMissing(faults));
  if (options.pin !== null && !tier.targets.some(({ id }) => id === options.pin)) {
    return exchange.reject(
      unknownPin(
        options.pin,
        tier.targets.map(({ id }) => id),
      ),
    );
  }
  return exchange.answer(ports.engine.start(engineRequestOf(exchange, chat, options, tier)));
}

function engineRequestOf(
  exchange: Exchange,
  chat: ChatRequest,
  options: RequestOptions,
  tier: Tier,
): EngineRequest {
  const { call } = exchange;
  const lengthMs = deadlineLengthMs({
    askedMs: options.deadlineMs,
    headers: call.headers,
    isStream: chat.isStream,
    tierDeadlineMs: tier.deadlineMs,
  });
  return {
    id: exchange.id,
    clientRequestId: exchange.clientRequestId,
    tier,
    configVersion: exchange.snapshot.version,
    chat,
    clientDialect: call.dialect.name,
    variables: options.variables,
    pin: options.pin,
    isFailoverOff: options.isFailoverOff || options.isStrict,
    maxRetries: maxRetriesOf(options),
    arrivedAtMs: call.arrivedAtMs,
    deadlineAtMs: call.arrivedAtMs + lengthMs,
    startedAtMs: exchange.startedAtMs,
    headers: call.headers,
    clientRetryCount: options.clientRetryCount,
    evalRun: options.evalRun,
    runId: options.runId,
    session: options.session,
    tags: options.tags,
    keyId: call.keyId,
    signal: call.signal,
  };
}

/** An SDK that repeats the call has a retry layer of its own: ours then asks each target once (R32). */
function maxRetriesOf(options: RequestOptions): number | null {
  return options.clientRetryCount > 0 ? 0 : options.maxRetries;
}
