/** The real pipeline with a scripted engine, in virtual time: a client's calls, and who was asked. */
import { silentLog } from '../../../src/base/log-port.ts';
import { openaiChatClient } from '../../../src/dialects/openai-chat/client.ts';
import type { EngineAnswer, EngineRequest } from '../../../src/engine/engine-request.ts';
import type { RequestTrace } from '../../../src/engine/trace.ts';
import type { RequestFailure } from '../../../src/failure/request-failure.ts';
import type { Answer, Call } from '../../../src/pipeline/answer.ts';
import { createPipeline } from '../../../src/pipeline/pipeline.ts';
import type { Snapshot } from '../../../src/routing/snapshot.ts';
import { plainTarget, plainTier } from '../../support/engine-harness.ts';
import { MemoryOrigins } from '../../support/memory-origins.ts';
import { createMemoryRecorder } from '../../support/memory-recorder.ts';
import { attemptTrace, requestFailure, requestTrace } from '../../support/traces.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

export type Scripted =
  /** `failed` after an attempt unless the failure says otherwise. */
  | { readonly kind: 'failed'; readonly failure: Partial<RequestFailure> }
  | { readonly kind: 'served' }
  | { readonly kind: 'gone' }
  /** A stream that ends well, or breaks. */
  | { readonly kind: 'stream'; readonly isBroken: boolean };

export const attempted: RequestFailure['attempts'] = [
  {
    target: 'p1/m',
    status: 529,
    class: 'overload',
    message: 'Overloaded',
    upstream_request_id: null,
    started_ms: 0,
    duration_ms: 1,
  },
];

export type CallOver = Partial<Omit<Call, 'body' | 'headers'>> & {
  readonly body?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
};

export class PipelineUnderTest {
  readonly clock = new VirtualClock();
  readonly recorder = createMemoryRecorder();
  /** What the engine was given, in order. */
  readonly asked: EngineRequest[] = [];
  /** What it makes of the next requests; the last one stays. */
  script: Scripted[] = [{ kind: 'served' }];
  readonly #decided = new Set<() => void>();
  readonly origins = new MemoryOrigins();
  readonly #pipeline = createPipeline({
    clock: this.clock,
    origins: this.origins,
    engine: {
      start: (request) => {
        this.asked.push(request);
        const step = (this.script.length > 1 ? this.script.shift() : this.script[0]) ?? {
          kind: 'served',
        };
        const failure = failureOf(step);
        return {
          answer: Promise.resolve(answerOf(step, failure)),
          trace: () => traceOf(request, step, failure),
        };
      },
      explain: () => {
        throw new Error('nobody asks');
      },
    },
    recorder: this.recorder,
    snapshot: () => snapshot,
    decisions: [
      {
        onChange: (listener: () => void) => {
          this.#decided.add(listener);
        },
      },
    ],
    log: silentLog,
    onEnd: () => undefined,
  });

  /** The operator changes the config or an override. */
  decide(): void {
    for (const listener of this.#decided) listener();
  }

  /** A call of the client, its answer read to the end. */
  async call({ body = {}, headers = {}, ...over }: CallOver = {}): Promise<Told> {
    const messages = [{ role: 'user', content: 'hi' }];
    const answer = await this.#pipeline.answer({
      dialect: openaiChatClient,
      tierInPath: null,
      headers,
      body: Buffer.from(JSON.stringify({ model: 'fast', messages, ...body })),
      arrivedAtMs: this.clock.monotonicMs(),
      signal: new AbortController().signal,
      keyId: 'key-1',
      ...over,
    });
    if (answer.kind === 'stream') for await (const _chunk of answer.chunks);
    return told(answer);
  }

  get lastTrace(): RequestTrace {
    const trace = this.recorder.traces.at(-1);
    if (trace === undefined) throw new Error('no row');
    return trace;
  }
}

export type Told = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The message of an error; '' without one. */
  readonly message: string;
  /** The `tiergate` object of an error. */
  readonly tiergate: { readonly attempts?: readonly unknown[]; readonly class?: string };
};

function told(answer: Answer): Told {
  if (answer.kind === 'gone') return { status: 0, headers: {}, message: '', tiergate: {} };
  if (answer.kind === 'stream') {
    return { status: 200, headers: answer.headers, message: '', tiergate: {} };
  }
  const { error } = JSON.parse(answer.body.toString());
  return {
    status: answer.status,
    headers: answer.headers,
    message: error?.message ?? '',
    tiergate: error?.tiergate ?? {},
  };
}

const head = {
  target: 'p1/m',
  variant: null,
  attempts: 1,
  failovers: 0,
  isRestarted: false,
  dropped: [],
};

function failureOf(step: Scripted): RequestFailure | null {
  if (step.kind === 'failed') return requestFailure({ attempts: attempted, ...step.failure });
  if (step.kind === 'gone') return requestFailure({ failureClass: 'client_gone', status: 499 });
  if (step.kind === 'stream' && step.isBroken) {
    return requestFailure({ failureClass: 'stream_interrupted', attempts: attempted });
  }
  return null;
}

function answerOf(step: Scripted, failure: RequestFailure | null): EngineAnswer {
  if (step.kind === 'gone') return { kind: 'gone' };
  if (step.kind === 'served') {
    return { kind: 'whole', head, parts: [], original: Buffer.from('{}') };
  }
  if (step.kind === 'stream') return { kind: 'stream', head, batches: lastBatch(failure) };
  if (failure === null) throw new Error('nothing failed');
  return { kind: 'failed', failure };
}

async function* lastBatch(failure: RequestFailure | null) {
  yield { parts: [], isLast: true, failure };
}

function traceOf(
  request: EngineRequest,
  step: Scripted,
  failure: RequestFailure | null,
): RequestTrace {
  const isGone = step.kind === 'gone';
  return requestTrace({
    id: request.id,
    outcome: isGone ? 'client_gone' : failure === null ? 'served' : 'failed',
    failure,
    status: failure?.status ?? 200,
    attempts: failure?.attempts.map(() => attemptTrace({ outcome: 'failed' })) ?? [],
    clientRetryCount: request.clientRetryCount,
  });
}

const tier = plainTier([plainTarget('p1'), plainTarget('p2')]);

const snapshot: Snapshot = {
  version: 3,
  createdAtMs: 0,
  document: {},
  server: {
    bodyBytesMax: 1024,
    headerBytesMax: 1024,
    drainDelayMs: 0,
    drainTimeoutMs: 0,
    cors: [],
  },
  log: { keepMs: 0, commitWaitMs: 0, onFailure: 'serve' },
  alerts: { webhook: null, minIntervalMs: 3_600_000 },
  tiers: new Map([['fast', tier]]),
  providers: new Map(),
  resolveTier: (name) => (name === 'fast' ? tier : null),
};
