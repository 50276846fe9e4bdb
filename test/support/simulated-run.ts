/** Plays a schedule against the real engine in virtual time, and notes what can be seen from outside. */
import { getEventListeners } from 'node:events';
import { seededRandom } from '../../src/base/random.ts';
import {
  type ChatParameters,
  type ChatRequest,
  type Message,
  noParameters,
} from '../../src/chat/request.ts';
import type { ChatEvent, StreamPart } from '../../src/chat/stream-event.ts';
import { createAlerts } from '../../src/engine/alerts.ts';
import type { EngineAnswer, EngineRequest, EngineRun } from '../../src/engine/engine-request.ts';
import { createEngine, type Engine } from '../../src/engine/failover.ts';
import { createHealthRegistry } from '../../src/engine/health-registry.ts';
import { OverrideTable } from '../../src/engine/override-table.ts';
import { EngineHarness, ok, plainTier } from './engine-harness.ts';
import { plainRequest } from './plain-dialect.ts';
import { scriptCall } from './schedule-calls.ts';
import { type RequestPlan, type Schedule, tierAt, versionAt } from './schedule-model.ts';
import { type TierBook, tierBookOf } from './schedule-tiers.ts';
import { SimulatedClock } from './simulated-clock.ts';
import { WatchedHealth } from './simulated-health.ts';
import type {
  BatchSeen,
  LeftSeen,
  Moment,
  Observation,
  RecoverySeen,
  RequestSeen,
} from './simulated-observation.ts';
import { SimulatedTransport } from './simulated-transport.ts';

/** What a finished stream may take to read the rest of its body, and a little. */
const drainMs = 2_500;
/** No request lives longer than its deadline, the longest stream and the slowest client together. */
const endsWithinMs = 24 * 3_600_000;
const breakerSlackMs = 100;
const parkingMsMax = 600_000;
const recoveryDeadlineMs = 60_000;

export async function simulate(schedule: Schedule): Promise<Observation> {
  const world = new World(schedule);
  let fault: string | null = null;
  try {
    await world.play();
    await world.recover();
  } catch (error) {
    fault = error instanceof Error ? error.message : String(error);
  }
  return world.observation(fault);
}

const silentLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

class World {
  readonly #schedule: Schedule;
  readonly #book: TierBook;
  readonly #clock = new SimulatedClock();
  readonly #overrides = new OverrideTable();
  readonly #health: WatchedHealth;
  readonly #transport: SimulatedTransport;
  readonly #engine: Engine;
  readonly #template: EngineRequest;
  readonly #requests: RequestSeen[] = [];
  readonly #recoveries: RecoverySeen[] = [];
  readonly #left: LeftSeen[] = [];
  #seq = 0;
  #underWay = 0;
  #toCome = 0;
  /** When the latest end of a request was seen. */
  #endedSeq = 0;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.#book = tierBookOf(schedule);
    const clock = this.#clock;
    const random = seededRandom(schedule.seed);
    this.#health = new WatchedHealth(
      createHealthRegistry({ clock, random }),
      this.#overrides,
      this.#moment,
    );
    this.#transport = new SimulatedTransport({
      clock,
      moment: this.#moment,
      script: (call) => scriptCall(schedule, call),
      onCall: ({ provider, model, requestId }) => {
        const permit = this.#health.permits.at(-1);
        if (permit?.target === `${provider}/${model}`) permit.requestId ??= requestId;
      },
    });
    this.#engine = createEngine({
      clock,
      random,
      transport: this.#transport,
      health: this.#health.registry,
      alerts: createAlerts(silentLog, clock),
      overrides: this.#overrides,
    });
    this.#template = new EngineHarness(plainTier([]), () => ok()).request();
  }

  /** All requests of the schedule, to their ends. */
  async play(): Promise<void> {
    this.#toCome = this.#schedule.requests.length;
    for (const { target, fromMs, toMs } of this.#schedule.drains) {
      this.#clock.at(fromMs, () => this.#override(target, 'drained'));
      this.#clock.at(toMs, () => this.#override(target, 'auto'));
    }
    for (const plan of this.#schedule.requests) {
      this.#clock.at(plan.atMs, () => {
        this.#toCome -= 1;
        void this.#ask(plan, this.#requests);
      });
    }
    await this.#untilIdle();
    await this.#clock.runUntil(this.#schedule.endMs);
  }

  #override(target: string, state: 'drained' | 'auto'): void {
    this.#overrides.set(target, state, { untilMs: null, note: null });
    this.#health.noteOverride(target);
  }

  /** First when breakers must let a probe through again, then when every rest is over. */
  async recover(): Promise<void> {
    const { tiers } = versionAt(this.#schedule, this.#clock.monotonicMs());
    const all = this.#schedule.versions.flatMap((version) => version.tiers);
    const policies = all.map((tier) => tier.policies);
    const openForMs = Math.max(...policies.map(({ breaker }) => breaker.openForMaxMs));
    const restMs = Math.max(
      parkingMsMax,
      ...policies.map(({ failover, retry }) => Math.max(failover.recheckMs, retry.cooldownMaxMs)),
    );
    for (const [after, waitMs] of [
      ['breakers', openForMs + breakerSlackMs] as const,
      ['rests', restMs + openForMs + breakerSlackMs] as const,
    ]) {
      await this.#clock.runUntil(this.#clock.monotonicMs() + waitMs);
      for (const { name } of tiers) await this.#askRecovered(after, name);
    }
  }

  observation(fault: string | null): Observation {
    return {
      schedule: this.#schedule,
      requests: this.#requests,
      calls: this.#transport.calls,
      permits: this.#health.permits,
      changes: this.#health.changes,
      recoveries: this.#recoveries,
      left: this.#left,
      fault,
    };
  }

  readonly #moment = (): Moment => {
    this.#seq += 1;
    return { atMs: this.#clock.monotonicMs(), seq: this.#seq };
  };

  async #askRecovered(after: RecoverySeen['after'], tier: string): Promise<void> {
    const obstacles = this.#health.obstacles();
    const asked: RequestSeen[] = [];
    const plan: RequestPlan = {
      id: `recovery-${after}-${tier}`,
      atMs: this.#clock.monotonicMs(),
      tier,
      isStream: true,
      deadlineMs: recoveryDeadlineMs,
      leavesAfterMs: null,
      returnsOnLeave: false,
      pin: null,
      isFailoverOff: false,
      maxRetries: null,
      session: null,
      isToolTurn: false,
      body: `recovery-${after}-${tier}`,
      mayWrite: false,
      asks: 'text',
      readPauseMs: 0,
    };
    void this.#ask(plan, asked);
    await this.#untilIdle();
    for (const request of asked) this.#recoveries.push({ after, obstacles, request });
  }

  async #untilIdle(): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + endsWithinMs;
    await this.#clock.runUntil(untilMs, () => this.#underWay === 0 && this.#toCome === 0);
    if (this.#underWay > 0) throw new Error(`${this.#underWay} requests never end`);
    await this.#clock.runUntil(this.#clock.monotonicMs() + drainMs);
    this.#noteLeft();
  }

  #noteLeft(): void {
    if (this.#underWay > 0) return;
    this.#left.push({
      at: this.#moment(),
      timers: this.#clock.pending,
      exchanges: this.#transport.open,
      listeners: this.#health.listeners,
      permits: this.#health.inFlight,
    });
  }

  async #ask(plan: RequestPlan, into: RequestSeen[]): Promise<void> {
    this.#underWay += 1;
    const client = new AbortController();
    const request = this.#requestOf(plan, client.signal);
    const tier = tierAt(this.#schedule, plan.tier, this.#clock.monotonicMs());
    if (tier === undefined) throw new Error(`no tier ${plan.tier}`);
    const run = this.#engine.start(request);
    const seen: RequestSeen = {
      plan,
      tier,
      arrived: this.#moment(),
      deadlineAtMs: request.deadlineAtMs,
      obstaclesAtArrival: this.#health.obstacles(),
      left: null,
      answered: null,
      batches: [],
      text: '',
      failure: null,
      ended: null,
      obstaclesAtEnd: {},
      trace: null,
      thrown: null,
      signalListeners: 0,
    };
    into.push(seen);
    try {
      await this.#follow(run, seen, client);
    } catch (error) {
      seen.thrown = error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    seen.ended = this.#moment();
    seen.trace = run.trace();
    seen.obstaclesAtEnd = this.#health.obstacles();
    this.#underWay -= 1;
    const endedSeq = this.#seq;
    this.#endedSeq = endedSeq;
    this.#clock.at(this.#clock.monotonicMs() + drainMs, () => {
      seen.signalListeners = getEventListeners(client.signal, 'abort').length;
      if (this.#isQuietSince(endedSeq)) this.#noteLeft();
    });
  }

  /** No request has come or ended since. */
  #isQuietSince(seq: number): boolean {
    return this.#underWay === 0 && this.#endedSeq === seq;
  }

  #requestOf(plan: RequestPlan, signal: AbortSignal): EngineRequest {
    const nowMs = this.#clock.monotonicMs();
    const tier = this.#book.tier(plan.tier, nowMs);
    return {
      ...this.#template,
      id: plan.id,
      clientRequestId: plan.id,
      tier,
      chat: chatOf(plan),
      session: plan.session,
      pin: plan.pin,
      isFailoverOff: plan.isFailoverOff,
      isStrict: plan.asks === 'strict',
      maxRetries: plan.maxRetries,
      arrivedAtMs: nowMs,
      deadlineAtMs: nowMs + (plan.deadlineMs ?? tier.deadlineMs),
      startedAtMs: this.#clock.wallMs(),
      signal,
    };
  }

  /** The client's side: waits, reads, and perhaps leaves. */
  async #follow(run: EngineRun, seen: RequestSeen, client: AbortController): Promise<void> {
    const { plan } = seen;
    let batches: Extract<EngineAnswer, { kind: 'stream' }>['batches'] | null = null;
    if (plan.leavesAfterMs !== null) {
      this.#clock.at(this.#clock.monotonicMs() + plan.leavesAfterMs, () => {
        if (seen.ended !== null) return;
        seen.left = this.#moment();
        client.abort();
        if (plan.returnsOnLeave) void batches?.return();
      });
    }
    const answer = await run.answer;
    seen.answered = { ...this.#moment(), kind: answer.kind };
    switch (answer.kind) {
      case 'gone':
        return;
      case 'failed':
        seen.failure = answer.failure;
        return;
      case 'whole':
        seen.text = textOf(answer.parts);
        return;
      case 'stream':
        batches = answer.batches;
        if (plan.returnsOnLeave && seen.left !== null) void batches.return();
        await this.#read(answer.batches, seen);
    }
  }

  async #read(
    batches: Extract<EngineAnswer, { kind: 'stream' }>['batches'],
    seen: RequestSeen,
  ): Promise<void> {
    // A client may be slow, or leave, before anything of the answer is pulled.
    if (seen.plan.readPauseMs > 0) await this.#pause(seen.plan.readPauseMs / 4);
    for await (const { parts, isLast, failure, joint = null } of batches) {
      const text = textOf(parts);
      const events = parts.flatMap((part) => part.events);
      const types = events.map(({ type }) => type).filter((type) => type !== 'text');
      const ids = events.flatMap((event) => (event.type === 'start' ? (event.id ?? []) : []));
      const usage = usageIn(events);
      seen.batches.push({ ...this.#moment(), isLast, text, types, ids, usage, joint });
      seen.text += text;
      seen.failure = failure;
      if (seen.plan.readPauseMs > 0) await this.#pause(seen.plan.readPauseMs);
    }
  }

  #pause(forMs: number): Promise<void> {
    return new Promise((resolve) => this.#clock.at(this.#clock.monotonicMs() + forMs, resolve));
  }
}

const parametersOf: { readonly [asks in RequestPlan['asks']]: Partial<ChatParameters> } = {
  text: {},
  strict: {},
  json: { response_format: { type: 'json_object' } },
  choices: { n: 2 },
  logprobs: { logprobs: true },
};

function chatOf({ tier, isStream, isToolTurn, body, mayWrite, asks }: RequestPlan): ChatRequest {
  const { messages } = plainRequest();
  const result: Message = { role: 'tool', toolCallId: 't', content: [], isError: false };
  return plainRequest({
    model: tier,
    isStream,
    messages: isToolTurn ? [...messages, result] : messages,
    parameters: { ...noParameters, ...parametersOf[asks] },
    providerTools: mayWrite ? [{ dialect: 'plain', kind: 'shell', raw: {} }] : [],
    original: { dialect: 'plain', bytes: Buffer.from(body), json: {} },
  });
}

function usageIn(events: readonly ChatEvent[]): BatchSeen['usage'] {
  const last = events.findLast((event) => event.type === 'usage');
  return last === undefined ? null : [last.usage.inputTokens, last.usage.outputTokens];
}

function textOf(parts: readonly StreamPart[]): string {
  return parts
    .flatMap(({ events }) => events)
    .map((event) => (event.type === 'text' ? event.text : ''))
    .join('');
}
