/** One call on its way through the pipeline: its names, its row, and how its answer is put together. */
import type { Clock } from '../base/clock.ts';
import type { OmittedContent } from '../chat/citation.ts';
import { ReplyCollector } from '../chat/reply.ts';
import type { ChatRequest } from '../chat/request.ts';
import { estimateInputTokens } from '../chat/token-estimate.ts';
import { unknownUsage } from '../chat/usage.ts';
import type { AnswerMeta, ClientStreamEncoder } from '../dialects/dialect.ts';
import type { AnswerHead, EngineAnswer, EngineRun } from '../engine/engine-request.ts';
import type { Origins } from '../engine/origins.ts';
import type { RequestTrace } from '../engine/trace.ts';
import type { RequestFailure } from '../failure/request-failure.ts';
import type { Snapshot } from '../routing/snapshot.ts';
import type { Recorder } from '../served-by/recorder.ts';
import type { Answer, AnswerHeaders, Call } from './answer.ts';
import { batchesOf, batchesToCome } from './answer-batches.ts';
import {
  earlyHeaders,
  estimateHeaders,
  failureHeaders,
  type Identity,
  servedHeaders,
  type Timing,
} from './answer-headers.ts';
import { CallDraft } from './call-draft.ts';
import type { CommitPoint } from './commit-point.ts';
import { MadeItems } from './made-items.ts';
import type { Rejection } from './rejection.ts';
import { streamChunks } from './stream-chunks.ts';

export type ExchangePorts = {
  readonly clock: Clock;
  readonly recorder: Recorder;
  readonly origins: Origins;
  /** Told of each request at its end, before its row is written; cannot change anything. */
  readonly onEnd: (trace: RequestTrace) => void;
};

export class Exchange extends CallDraft {
  readonly #ports: ExchangePorts;
  /** What the answer held that the client's dialect has no form for. */
  readonly #omitted = new Set<OmittedContent>();

  constructor(call: Call, snapshot: Snapshot, ports: ExchangePorts) {
    super(call, snapshot, ports.clock);
    this.#ports = ports;
  }

  /** A count is no answer of a model: it leaves no row. */
  get isCount(): boolean {
    return this.call.dialect.operation === 'count_tokens';
  }

  identity(): Identity {
    return {
      dialect: this.call.dialect,
      id: this.id,
      clientRequestId: this.clientRequestId,
      tier: this.tier,
      configVersion: this.snapshot.version,
    };
  }

  /** A refusal without asking any provider. An unknown tier leaves no row: it is no traffic of a tier. */
  async reject(rejection: Rejection): Promise<Answer> {
    const failure = this.#failureOf(rejection);
    const totalMs = this.#elapsedMs();
    if (failure.failureClass !== 'unknown_tier' && !this.isCount) {
      await this.#record(this.#rejectedTrace(failure, totalMs));
    }
    return this.#failed(failure, { upstreamMs: 0, backoffMs: 0, totalMs });
  }

  /**
   * Should the process die before the row is written, what `begin` leaves says that it was lost.
   * `onEnd` is told before the client is.
   */
  async answer(
    run: EngineRun,
    commit: CommitPoint,
    onEnd: (trace: RequestTrace) => void,
  ): Promise<Answer> {
    const { id, startedAtMs } = this;
    this.#ports.recorder.begin({ id, startedAtMs, tier: this.tier ?? '', keyId: this.call.keyId });
    const answer = await this.#answerOrCommit(run, commit);
    if (answer === null || answer.kind === 'stream' || (answer.kind === 'whole' && this.isStream)) {
      return this.#stream(run, answer, commit, onEnd);
    }
    const made = new MadeItems(this.#ports.origins, this.chat?.accountState);
    if (answer.kind === 'whole') made.watch(answer);
    // Written first: then it is known what had no place in it.
    const whole = answer.kind === 'whole' ? this.#whole(answer, run) : null;
    const trace = this.#traceOf(run);
    onEnd(trace);
    await Promise.all([made.note(trace), this.#record(trace)]);
    if (whole !== null) return whole;
    if (answer.kind === 'failed') return this.#failed(answer.failure, timingOf(trace));
    return { kind: 'gone' };
  }

  /** Null: the commit point of a stream came first. */
  #answerOrCommit(run: EngineRun, { atMs }: CommitPoint): Promise<EngineAnswer | null> {
    if (!this.isStream || atMs === null) return run.answer;
    const { clock } = this.#ports;
    return new Promise((resolve, reject) => {
      const cancel = clock.schedule(atMs - clock.monotonicMs(), () => resolve(null));
      run.answer.finally(cancel).then(resolve, reject);
    });
  }

  /** An estimate where nobody could be asked: a count is wanted before there is a request. */
  async count(run: EngineRun, request: ChatRequest): Promise<Answer> {
    const answer = await run.answer;
    const trace = run.trace();
    if (answer.kind === 'whole') return this.#whole(answer, run);
    if (answer.kind !== 'failed') return { kind: 'gone' };
    const usage = { ...unknownUsage, inputTokens: estimateInputTokens(request) };
    return {
      kind: 'whole',
      status: 200,
      headers: estimateHeaders(this.identity(), trace.attempts.length, timingOf(trace)),
      body: this.call.dialect.encodeReply({
        reply: { id: null, model: null, choices: [], usage },
        original: null,
        fallbackId: this.id,
        createdAtSeconds: Math.floor(this.startedAtMs / 1000),
        meta: null,
      }),
    };
  }

  async #record(trace: RequestTrace): Promise<void> {
    this.#ports.onEnd(trace);
    await this.#ports.recorder.record(trace);
  }

  #failureOf(rejection: Rejection): RequestFailure {
    return {
      ...rejection,
      attempts: [],
      requestId: this.id,
      clientRequestId: this.clientRequestId,
      tokens: null,
      regenerate: false,
    };
  }

  #failed(failure: RequestFailure, timing: Timing): Answer {
    return {
      kind: 'whole',
      status: failure.status,
      headers: failureHeaders(this.identity(), failure, timing),
      body: this.call.dialect.encodeError(failure),
    };
  }

  #whole(answer: Extract<EngineAnswer, { kind: 'whole' }>, run: EngineRun): Answer {
    const body = this.#wholeBody(answer, run);
    const head = { ...answer.head, dropped: this.#allDropped(answer.head.dropped) };
    const timing = timingOf(run.trace());
    const headers = servedHeaders(this.identity(), head, timing, 'application/json');
    return { kind: 'whole', status: 200, headers, body };
  }

  #wholeBody(
    { original, parts }: Extract<EngineAnswer, { kind: 'whole' }>,
    run: EngineRun,
  ): Buffer | string {
    if (original !== null && !this.wantsMeta) return original;
    const collector = new ReplyCollector();
    for (const part of parts) for (const event of part.events) collector.push(event);
    return this.call.dialect.encodeReply({
      reply: collector.reply(),
      original,
      meta: this.wantsMeta ? () => this.#meta(this.#traceOf(run)) : null,
      ...this.#answered(),
    });
  }

  /** With what was left out while the answer was written. */
  #traceOf(run: EngineRun): RequestTrace {
    const trace = run.trace();
    return { ...trace, dropped: this.#allDropped(trace.dropped) };
  }

  #allDropped(dropped: readonly string[]): readonly string[] {
    return this.#omitted.size === 0 ? dropped : [...new Set([...dropped, ...this.#omitted])];
  }

  /** `answer` null: the stream begins before it is known who answers, and whether anybody does. */
  #stream(
    run: EngineRun,
    answer: Extract<EngineAnswer, { kind: 'stream' | 'whole' }> | null,
    commit: CommitPoint,
    onEnd: (trace: RequestTrace) => void,
  ): Answer {
    const { dialect } = this.call;
    const encoder = this.#encoder(() => this.#meta(this.#traceOf(run)));
    const isEarly = answer === null;
    const made = new MadeItems(this.#ports.origins, this.chat?.accountState);
    return {
      kind: 'stream',
      headers: this.#streamHeaders(answer?.head ?? null, timingOf(run.trace())),
      chunks: streamChunks({
        batches: isEarly ? batchesToCome(run.answer) : batchesOf(answer),
        encoder,
        watch: (batch) => made.watch(batch),
        record: async () => {
          const named = this.#traceOf(run);
          const trace = isEarly ? begunWell(named) : named;
          onEnd(trace);
          await Promise.all([made.note(trace), this.#record(trace)]);
        },
      }),
      keepAlive: {
        bytes: dialect.keepAlive ?? ': keep-alive\n\n',
        everyMs: commit.keepAliveEveryMs,
        isEarly,
      },
      fail: (rejection) => encoder.fail({ ...this.#failureOf(rejection), regenerate: true }),
    };
  }

  #encoder(meta: () => AnswerMeta): ClientStreamEncoder {
    return this.call.dialect.streamEncoder({
      includeUsage: this.includesUsage,
      meta: this.wantsMeta ? meta : null,
      ...this.#answered(),
    });
  }

  #answered() {
    return {
      fallbackId: this.id,
      createdAtSeconds: Math.floor(this.startedAtMs / 1000),
      onOmitted: (name: OmittedContent): void => {
        this.#omitted.add(name);
      },
      ...(this.chat === null ? {} : { request: this.chat }),
    };
  }

  #streamHeaders(head: AnswerHead | null, timing: Timing): AnswerHeaders {
    const type = this.call.dialect.streamType ?? 'text/event-stream; charset=utf-8';
    if (head === null) return earlyHeaders(this.identity(), timing, type);
    return servedHeaders(this.identity(), head, timing, type);
  }

  /** Of an answer that is complete. */
  #meta(trace: RequestTrace): AnswerMeta {
    return {
      request_id: this.id,
      tier: this.tier,
      served_by: trace.serving?.target ?? null,
      variant: trace.serving?.variant ?? null,
      config_version: this.snapshot.version,
      attempts: trace.attempts.length,
      failovers: trace.failoverCount,
      recovery: trace.recovery,
      seams: trace.seams,
      repaired: false,
      escalated_from: null,
      dropped: trace.dropped,
    };
  }

  #elapsedMs(): number {
    return this.#ports.clock.monotonicMs() - this.call.arrivedAtMs;
  }

  #rejectedTrace(failure: RequestFailure, latencyMs: number): RequestTrace {
    return {
      id: this.id,
      clientRequestId: this.clientRequestId,
      startedAtMs: this.startedAtMs,
      tier: this.tier ?? '',
      configVersion: this.snapshot.version,
      clientProtocol: this.call.dialect.name,
      requestedModel: this.requestedModel,
      isStream: this.isStream,
      serving: null,
      reportedModel: null,
      outcome: failure.status < 500 ? 'rejected' : 'failed',
      failure,
      status: failure.status,
      attempts: [],
      failoverCount: 0,
      isFailedOver: false,
      skipped: [],
      recovery: 'none',
      seams: [],
      malformedEvents: 0,
      deadlineMs: 0,
      backoffMs: 0,
      ttftMs: null,
      latencyMs,
      upstreamMs: 0,
      usage: unknownUsage,
      finishReason: null,
      rawFinishReason: null,
      dropped: [],
      clientRetryCount: this.clientRetryCount,
      evalRun: this.options?.evalRun ?? null,
      runId: this.options?.runId ?? null,
      session: this.options?.session ?? null,
      tags: this.options?.tags ?? {},
      keyId: this.call.keyId,
    };
  }
}

/** A stream begins with 200, whatever comes of it. */
function begunWell(trace: RequestTrace): RequestTrace {
  return trace.outcome === 'failed' ? { ...trace, status: 200 } : trace;
}

function timingOf(trace: RequestTrace): Timing {
  return {
    upstreamMs: trace.upstreamMs,
    backoffMs: trace.backoffMs,
    totalMs: trace.latencyMs,
  };
}
