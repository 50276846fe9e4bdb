/** The real engine with clock, chance and transport replaced: what a request lives through, in virtual time. */
import { seededRandom } from '../../src/base/random.ts';
import type { ChatRequest } from '../../src/chat/request.ts';
import { type Alert, createAlerts } from '../../src/engine/alerts.ts';
import type { EngineAnswer, EngineRequest } from '../../src/engine/engine-request.ts';
import { createEngine, type Engine } from '../../src/engine/failover.ts';
import { createHealthRegistry, type HealthRegistry } from '../../src/engine/health-registry.ts';
import { OverrideTable } from '../../src/engine/override-table.ts';
import type { RequestTrace } from '../../src/engine/trace.ts';
import type { RequestFailure } from '../../src/failure/request-failure.ts';
import type { Provider } from '../../src/providers/provider.ts';
import type { RetryPolicy, Target, Tier } from '../../src/routing/snapshot.ts';
import { plainDialect, plainRequest } from './plain-dialect.ts';
import { type ScriptedCall, ScriptedTransport } from './scripted-transport.ts';
import { VirtualClock } from './virtual-clock.ts';

export function plainProvider(name: string, over: Partial<Provider> = {}): Provider {
  return {
    name,
    kind: 'plain',
    dialect: plainDialect,
    baseUrl: `http://${name}`,
    keys: [],
    operatorRules: [],
    allowMissingFinish: false,
    eventBytesMax: 1024,
    takesIdempotencyKey: false,
    passedHeaders: [],
    modelFacts: () => ({
      contextWindow: null,
      maxOutputTokens: null,
      isReasoningModel: false,
      acceptsPrefill: false,
      supports: {},
    }),
    urlFor: () => `http://${name}/chat`,
    headersFor: ({ secret }) => (secret === null ? {} : { authorization: secret }),
    ...over,
  };
}

const clocks = {
  connectMs: 3000,
  headersMs: 30_000,
  firstContentSoftMs: 10_000,
  firstContentMs: 60_000,
  idleMs: 30_000,
};

export function plainTarget(name: string, over: Partial<Target> = {}): Target {
  return {
    id: `${name}/m`,
    provider: plainProvider(name),
    model: 'm',
    variant: null,
    params: {},
    contextWindow: null,
    supports: {},
    isThinking: false,
    acceptsPrefill: false,
    clocks,
    concurrency: { minConcurrent: 4, maxConcurrent: 1024, queueMax: 64, queueWaitMs: 2000 },
    ...over,
  };
}

export const retryPolicy: RetryPolicy = {
  attempts: 4,
  attemptsTotal: 8,
  backoff: { jitter: 'decorrelated', baseMs: 500, multiplier: 2, capMs: 30_000 },
  maxWaitMs: 10_000,
  hintCeilingMs: 60_000,
  cooldownMaxMs: 600_000,
  budget: { ratio: 0.2, minPerSecond: 1, max: 100 },
};

export function plainTier(targets: readonly Target[], over: Partial<Tier> = {}): Tier {
  return {
    name: 'fast',
    description: '',
    aliases: [],
    deadlineMs: 120_000,
    retry: retryPolicy,
    breaker: {
      failures: 3,
      windowMs: 30_000,
      failureRate: 0.5,
      minSpanMs: 1000,
      idleWindowMs: 0,
      openForMs: 5000,
      openForMaxMs: 15_000,
    },
    clocks,
    hedge: { ratio: 0.05, burst: 10 },
    failover: { onContentPolicy: false, recheckMs: 600_000, waiters: 64 },
    stream: {
      holdTokens: 20,
      holdMaxMs: 500,
      onInterrupt: 'fail_forward',
      maxContinuations: 2,
      maxDurationMs: 600_000,
      commitAfterMs: 45_000,
    },
    targets,
    variableFaults: () => [],
    ...over,
  };
}

export type AskOptions = Partial<Omit<EngineRequest, 'chat' | 'tier'>> & {
  readonly tier?: Tier;
  readonly chat?: Partial<ChatRequest>;
  readonly deadlineMs?: number;
};

export type Asked = {
  readonly answer: EngineAnswer;
  readonly trace: RequestTrace;
  /** All text that reached the client. */
  readonly text: string;
  /** Why the stream broke after its commit. */
  readonly failure: RequestFailure | null;
};

let requestCount = 0;

export class EngineHarness {
  readonly clock = new VirtualClock();
  readonly transport: ScriptedTransport;
  readonly health: HealthRegistry;
  readonly engine: Engine;
  readonly alerts: Alert[] = [];
  readonly overrides = new OverrideTable();
  readonly tier: Tier;

  constructor(tier: Tier, script: (provider: string, call: number) => ScriptedCall, seed = 1) {
    this.tier = tier;
    const random = seededRandom(seed);
    this.transport = new ScriptedTransport(this.clock, script);
    this.health = createHealthRegistry({ clock: this.clock, random });
    const logged = createAlerts(
      {
        debug: () => undefined,
        info: () => undefined,
        warn: () => undefined,
        error: (message, fields) =>
          this.alerts.push({
            kind: fields?.['alert'] as Alert['kind'],
            subject: String(fields?.['subject']),
            message,
            requestId: String(fields?.['request_id']),
          }),
      },
      this.clock,
    );
    this.engine = createEngine({
      clock: this.clock,
      random,
      transport: this.transport,
      health: this.health,
      alerts: logged,
      overrides: this.overrides,
    });
  }

  request(options: AskOptions = {}): EngineRequest {
    const { chat, deadlineMs, ...over } = options;
    requestCount += 1;
    const nowMs = this.clock.monotonicMs();
    const tier = options.tier ?? this.tier;
    return {
      id: `r-${requestCount}`,
      clientRequestId: `c-${requestCount}`,
      configVersion: 1,
      clientDialect: 'plain-client',
      operation: null,
      variables: {},
      pin: null,
      isFailoverOff: false,
      maxRetries: null,
      arrivedAtMs: nowMs,
      deadlineAtMs: nowMs + (deadlineMs ?? tier.deadlineMs),
      startedAtMs: this.clock.wallMs(),
      headers: {},
      clientRetryCount: 0,
      evalRun: null,
      runId: null,
      session: null,
      tags: {},
      keyId: null,
      signal: new AbortController().signal,
      ...over,
      tier,
      chat: plainRequest(chat),
    };
  }

  /** Runs one request to its end; time must be moved by somebody. */
  async ask(options: AskOptions = {}): Promise<Asked> {
    const run = this.engine.start(this.request(options));
    const answer = await run.answer;
    let text = '';
    const add = (parts: readonly { readonly events: readonly unknown[] }[]): void => {
      for (const part of parts) {
        for (const event of part.events) {
          if (isText(event)) text += event.text;
        }
      }
    };
    if (answer.kind === 'whole') add(answer.parts);
    let failure: RequestFailure | null = null;
    if (answer.kind === 'stream') {
      for await (const batch of answer.batches) {
        add(batch.parts);
        failure = batch.failure;
      }
    }
    return { answer, trace: run.trace(), text, failure };
  }

  /** `ask`, with time moved on until it has ended (at most `withinMs`). */
  async askWithin(withinMs: number, options: AskOptions = {}): Promise<Asked> {
    let asked: Asked | null = null;
    const pending = this.ask(options).then((result) => {
      asked = result;
    });
    const untilMs = this.clock.monotonicMs() + withinMs;
    while (asked === null && this.clock.monotonicMs() < untilMs) {
      await this.clock.advance(Math.min(50, untilMs - this.clock.monotonicMs()));
    }
    if (asked === null) throw new Error(`no end within ${withinMs} virtual ms`);
    await pending;
    return asked;
  }
}

function isText(event: unknown): event is { readonly text: string } {
  return (
    typeof event === 'object' &&
    event !== null &&
    'type' in event &&
    event.type === 'text' &&
    'text' in event
  );
}

/** An answer that streams `text` in one go and ends well. */
export function ok(text = 'hello'): ScriptedCall {
  return {
    kind: 'answer',
    status: 200,
    body: [`START\nT:${text}\nFIN:stop\nUSE:3:2\nEND\n`, { end: 'clean' }],
  };
}

export function status(
  code: number,
  over: { readonly headers?: Record<string, string>; readonly body?: string } = {},
): ScriptedCall {
  return {
    kind: 'answer',
    status: code,
    headers: over.headers ?? {},
    body: [over.body ?? '{"error":{"message":"x"}}', { end: 'clean' }],
  };
}
