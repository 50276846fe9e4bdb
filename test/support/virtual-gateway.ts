/** The gateway from a client's bytes to a provider's and back, without sockets, in virtual time. */
import type { JsonObject } from '../../src/base/json.ts';
import { silentLog } from '../../src/base/log-port.ts';
import { seededRandom } from '../../src/base/random.ts';
import type { ClientDialect } from '../../src/dialects/dialect.ts';
import { clientDialects, upstreamDialects } from '../../src/dialects/registry.ts';
import { createAlerts } from '../../src/engine/alerts.ts';
import { createEngine } from '../../src/engine/failover.ts';
import { createHealthRegistry } from '../../src/engine/health-registry.ts';
import { OverrideTable } from '../../src/engine/override-table.ts';
import type { RequestTrace } from '../../src/engine/trace.ts';
import { writeStream } from '../../src/http/data/write-stream.ts';
import type { Answer, Pipeline } from '../../src/pipeline/answer.ts';
import { createPipeline } from '../../src/pipeline/pipeline.ts';
import { createProviderBinder } from '../../src/providers/bind.ts';
import { buildSnapshot } from '../../src/routing/build-snapshot.ts';
import type { Snapshot } from '../../src/routing/snapshot.ts';
import { validateDocument } from '../../src/routing/validate.ts';
import { FakeResponse, type Piece } from './fake-response.ts';
import { MemoryOrigins } from './memory-origins.ts';
import { createMemoryRecorder, type MemoryRecorder } from './memory-recorder.ts';
import { noTransport } from './no-transport.ts';
import { shippedVariants as variants } from './shipped-variants.ts';
import { settle, VirtualClock } from './virtual-clock.ts';
import { type Behaviour, type VendorName, VirtualProviders } from './virtual-providers.ts';

const providers = {
  p1: { vendor: 'openai', model: 'gpt-5.1' },
  p2: { vendor: 'anthropic', model: 'claude-sonnet-4-5' },
  p3: { vendor: 'gemini', model: 'gemini-2.5-flash' },
  p4: { vendor: 'openai', model: 'gpt-5-mini' },
} as const satisfies {
  readonly [name: string]: { readonly vendor: VendorName; readonly model: string };
};

export type ProviderName = keyof typeof providers;

/** How a client speaks: its dialect, and its stream as one array where that has such a form. */
export const clientForms = ['chat', 'responses', 'messages', 'gemini', 'gemini array'] as const;
export type ClientForm = (typeof clientForms)[number];

export type GatewayPlan = {
  /** The targets of the one tier, in order. */
  readonly tier: readonly ProviderName[];
  readonly behaviours: { readonly [name in ProviderName]?: Behaviour };
  /** Of the tier, as the document has them. */
  readonly policies?: JsonObject;
  /** Settings of single targets. */
  readonly targets?: { readonly [name in ProviderName]?: JsonObject };
};

export type AskPlan = {
  readonly form?: ClientForm;
  readonly isStream?: boolean;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: JsonObject;
};

/** One client with its request. */
export class VirtualAsk {
  readonly response: FakeResponse;
  readonly startedMs: number;
  /** The whole answer's body; of a stream see `response`. */
  body = '';
  endedMs: number | null = null;
  readonly #leave = new AbortController();
  #chunks: AsyncGenerator<Buffer | string, void, undefined> | null = null;

  constructor(clock: VirtualClock) {
    this.response = new FakeResponse(clock);
    this.startedMs = clock.monotonicMs();
  }

  get signal(): AbortSignal {
    return this.#leave.signal;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.response.headers;
  }

  get status(): number | null {
    return this.response.status;
  }

  get text(): string {
    return this.response.text + this.body;
  }

  /** What it was sent, with times from its start. */
  get pieces(): readonly Piece[] {
    return this.response.pieces.map(({ atMs, text }) => ({ atMs: atMs - this.startedMs, text }));
  }

  attach(chunks: AsyncGenerator<Buffer | string, void, undefined>): void {
    this.#chunks = chunks;
  }

  /** The client goes away. */
  leave(): void {
    this.#leave.abort('client_gone');
    this.response.destroy();
    void this.#chunks?.return();
  }
}

export class VirtualGateway {
  readonly clock = new VirtualClock();
  readonly providers: VirtualProviders;
  readonly recorder: MemoryRecorder = createMemoryRecorder();
  readonly pipeline: Pipeline;

  constructor(plan: GatewayPlan) {
    const { clock } = this;
    const names = Object.entries(providers).map(([name, { vendor }]) => [name, vendor]);
    this.providers = new VirtualProviders(clock, Object.fromEntries(names));
    for (const [name, behaviour] of Object.entries(plan.behaviours)) {
      this.providers.behave(name, behaviour);
    }
    const snapshot = snapshotOf(plan, clock);
    const random = seededRandom(1);
    const engine = createEngine({
      clock,
      random,
      transport: this.providers,
      health: createHealthRegistry({ clock, random }),
      alerts: createAlerts(silentLog, clock),
      overrides: new OverrideTable(),
    });
    this.pipeline = createPipeline({
      clock,
      engine,
      recorder: this.recorder,
      origins: new MemoryOrigins(),
      snapshot: () => snapshot,
      decisions: [],
      log: silentLog,
      onEnd: () => undefined,
    });
  }

  get lastTrace(): RequestTrace {
    const trace = this.recorder.traces.at(-1);
    if (trace === undefined) throw new Error('no row');
    return trace;
  }

  /** Sends a request; time must be moved by somebody. */
  begin(plan: AskPlan = {}): VirtualAsk {
    const ask = new VirtualAsk(this.clock);
    void this.#run(ask, plan).then(() => {
      ask.endedMs = this.clock.monotonicMs();
    });
    return ask;
  }

  /** `begin`, with time moved on until it has ended, at most `withinMs`. */
  async askWithin(withinMs: number, plan: AskPlan = {}): Promise<VirtualAsk> {
    const ask = this.begin(plan);
    const untilMs = this.clock.monotonicMs() + withinMs;
    await settle();
    while (ask.endedMs === null && this.clock.monotonicMs() < untilMs) {
      await this.clock.advance(Math.min(1000, untilMs - this.clock.monotonicMs()));
    }
    if (ask.endedMs === null) throw new Error(`no end within ${withinMs} virtual ms`);
    return ask;
  }

  async #run(ask: VirtualAsk, plan: AskPlan): Promise<void> {
    const { form = 'chat', isStream = true, headers = {} } = plan;
    const answer = await this.pipeline.answer({
      dialect: dialectOf(form, isStream),
      tierInPath: 'fast',
      headers,
      body: Buffer.from(JSON.stringify({ ...bodyOf(form, isStream), ...plan.body })),
      arrivedAtMs: this.clock.monotonicMs(),
      signal: ask.signal,
      keyId: null,
    });
    await this.#write(ask, answer);
  }

  async #write(ask: VirtualAsk, answer: Answer): Promise<void> {
    const { response } = ask;
    switch (answer.kind) {
      case 'gone':
        return;
      case 'whole':
        response.writeHead(answer.status, answer.headers);
        ask.body = answer.body.toString();
        return;
      case 'stream': {
        ask.attach(answer.chunks);
        const options = { clock: this.clock, stallMs: 30_000, extraHeaders: null };
        await writeStream(response.asServerResponse, answer, options);
      }
    }
  }
}

const dialectNames: { readonly [form in ClientForm]: string } = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
  gemini: 'gemini',
  'gemini array': 'gemini',
};

function dialectOf(form: ClientForm, isStream: boolean): ClientDialect {
  const dialect = clientDialects.get(dialectNames[form]);
  if (dialect === undefined) throw new Error(`no client dialect ${dialectNames[form]}`);
  const call = `fast:${isStream ? 'streamGenerateContent' : 'generateContent'}`;
  const isArray = form === 'gemini array';
  const asked = dialect.pathCalls?.dialectFor(call, () => (isArray ? undefined : 'sse'));
  return asked ?? dialect;
}

function bodyOf(form: ClientForm, isStream: boolean): JsonObject {
  const messages = [{ role: 'user', content: 'hi' }];
  switch (form) {
    case 'chat':
      return { model: 'fast', messages, stream: isStream };
    case 'responses':
      return { model: 'fast', input: 'hi', stream: isStream };
    case 'messages':
      return { model: 'fast', messages, stream: isStream, max_tokens: 1000 };
    case 'gemini':
    case 'gemini array':
      return { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };
  }
}

function snapshotOf({ tier, policies, targets }: GatewayPlan, clock: VirtualClock): Snapshot {
  const document = {
    providers: Object.fromEntries(
      Object.entries(providers).map(([name, { vendor }]) => [
        name,
        { kind: vendor, base_url: `http://${name}/${vendor === 'openai' ? 'v1' : ''}` },
      ]),
    ),
    tiers: {
      fast: {
        ...policies,
        targets: tier.map((name) => ({
          provider: name,
          model: providers[name].model,
          ...targets?.[name],
        })),
      },
    },
  };
  const resolveSecret = (): string => 'a-secret';
  const valid = validateDocument(document, { variants, resolveSecret });
  if (!valid.ok) throw new Error(JSON.stringify(valid.fault.faults));
  return buildSnapshot({
    version: 1,
    createdAtMs: clock.wallMs(),
    valid: valid.value,
    variants,
    bindProvider: createProviderBinder({
      dialectByName: (name) => upstreamDialects.get(name) ?? null,
      resolveSecret,
      clock,
      transport: noTransport,
    }),
  });
}
