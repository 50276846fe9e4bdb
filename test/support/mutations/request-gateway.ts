/** The gateway without sockets in front of one simulated provider a tier, each of another dialect: for bodies of any kind. */
import type { JsonObject } from '../../../src/base/json.ts';
import { isJsonObject, parseJson, stringAt } from '../../../src/base/json.ts';
import { silentLog } from '../../../src/base/log-port.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { success } from '../../../src/base/result.ts';
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import { createAlerts } from '../../../src/engine/alerts.ts';
import { createEngine } from '../../../src/engine/failover.ts';
import { createHealthRegistry } from '../../../src/engine/health-registry.ts';
import { OverrideTable } from '../../../src/engine/override-table.ts';
import type { Pipeline } from '../../../src/pipeline/answer.ts';
import { createPipeline } from '../../../src/pipeline/pipeline.ts';
import { createProviderBinder } from '../../../src/providers/bind.ts';
import { buildSnapshot } from '../../../src/routing/build-snapshot.ts';
import type { Snapshot } from '../../../src/routing/snapshot.ts';
import { validateDocument } from '../../../src/routing/validate.ts';
import { composeAnswer } from '../../../src/simulator/compose-answer.ts';
import type { RequestHead, Route, Vendor } from '../../../src/simulator/vendors/vendor.ts';
import type {
  BodyChunk,
  Transport,
  UpstreamRequest,
  UpstreamResponse,
} from '../../../src/transport/transport.ts';
import { type CutUpstream, cutUpstreams } from '../cuts/cut-upstreams.ts';
import { MemoryOrigins } from '../memory-origins.ts';
import { createMemoryRecorder } from '../memory-recorder.ts';
import { noTransport } from '../no-transport.ts';
import { shippedVariants } from '../shipped-variants.ts';
import { VirtualClock } from '../virtual-clock.ts';

export type Answered = { readonly status: number; readonly body: string };

const callId = 'call_0123456789abcdef01234567';

/** Answers as the real services would, whatever they are asked: with a refusal where their rules say so. */
class JudgingProviders implements Transport {
  open = 0;
  /** What the client sent: a target of its own dialect is sent its long texts as they came. */
  asked: Buffer = Buffer.alloc(0);
  readonly close = async (): Promise<void> => undefined;

  readonly send = (request: UpstreamRequest): ReturnType<Transport['send']> =>
    Promise.resolve(success(this.#response(request)));

  #response(request: UpstreamRequest): UpstreamResponse {
    const url = new URL(request.url);
    const upstream = cutUpstreams.find(({ dialect }) => dialect === url.hostname);
    if (upstream === undefined) throw new Error(`nobody is ${url.hostname}`);
    const { vendor } = upstream;
    const { pathname: path, searchParams: query } = url;
    const head = { method: 'POST', path, query, headers: request.headers };
    const route = vendor.route(head);
    if (route === null) throw new Error(`${vendor.label} has no ${path}`);
    const parsed = parseJson(String(request.body));
    if (!parsed.ok && parseJson(this.asked.toString()).ok) {
      throw new Error(`no JSON was sent: ${String(request.body).slice(0, 500)}`);
    }
    if (!parsed.ok) {
      return this.#whole(400, vendor.errorBody(vendor.plainFault(400, parsed.fault), 'req'));
    }
    return this.#answer(upstream, route, head, parsed.value);
  }

  #answer({ vendor, model }: CutUpstream, route: Route, head: RequestHead, body: unknown) {
    const fault = vendor.validate(body, route, head);
    if (fault !== null) return this.#whole(fault.status, vendor.errorBody(fault, 'req'));
    if (route.operation === 'count') return this.#whole(200, vendor.countBody(7));
    const asked = isJsonObject(body) ? body : {};
    const identity = {
      id: vendor.messageId('0123456789abcdef01234567'),
      requestId: 'req',
      model: route.model ?? stringAt(body, 'model') ?? model,
      createdAtSeconds: 1,
      eol: vendor.eol,
    };
    if (route.operation === 'embed') {
      return this.#whole(200, vendor.embedBody?.(asked, identity) ?? '');
    }
    if (route.operation !== 'generate') throw new Error(`nobody asks for ${route.operation}`);
    const prompt = vendor.read(asked, route);
    const answer = composeAnswer(prompt, { vendorLabel: vendor.label, nextCallId: () => callId });
    if (!prompt.isStream) return this.#whole(200, vendor.wholeBody(answer, prompt, identity));
    const frames = vendor.frames(answer, prompt, { identity, isArray: route.isArray });
    return this.#stream(vendor, frames.map(({ frame }) => frame).join(''));
  }

  #whole(status: number, body: string): UpstreamResponse {
    return this.#read(status, 'application/json', Buffer.from(body));
  }

  #stream({ binaryStreams }: Vendor, text: string): UpstreamResponse {
    const type = binaryStreams?.contentType ?? 'text/event-stream';
    return this.#read(
      200,
      type,
      Buffer.from(text, binaryStreams === undefined ? 'utf8' : 'latin1'),
    );
  }

  #read(status: number, type: string, bytes: Buffer): UpstreamResponse {
    this.open += 1;
    const left: BodyChunk[] = [{ kind: 'bytes', bytes }];
    let isOpen = true;
    const end = (): BodyChunk => {
      if (isOpen) this.open -= 1;
      isOpen = false;
      return { kind: 'end' };
    };
    return {
      status,
      headers: { 'content-type': type },
      read: () => Promise.resolve(left.shift() ?? end()),
      cancel: () => void end(),
    };
  }
}

export class RequestGateway {
  readonly #clock = new VirtualClock();
  readonly #providers = new JudgingProviders();
  readonly #pipeline: Pipeline;
  readonly #close: () => void;

  constructor() {
    const clock = this.#clock;
    const random = seededRandom(1);
    const health = createHealthRegistry({ clock, random });
    const snapshot = snapshotOf(clock);
    const engine = createEngine({
      clock,
      random,
      transport: this.#providers,
      health,
      alerts: createAlerts(silentLog, clock),
      overrides: new OverrideTable(),
    });
    this.#close = () => health.close();
    this.#pipeline = createPipeline({
      clock,
      engine,
      recorder: createMemoryRecorder(),
      origins: new MemoryOrigins(),
      snapshot: () => snapshot,
      decisions: [],
      // What is thrown inside is told as it is, and not as a 500.
      log: {
        ...silentLog,
        error: (message, fields) => {
          throw new Error(`${message}: ${String(fields?.['error'])}`);
        },
      },
      onEnd: () => undefined,
    });
  }

  async ask(
    dialect: Parameters<Pipeline['answer']>[0]['dialect'],
    tier: string,
    body: Buffer,
  ): Promise<Answered> {
    this.#providers.asked = body;
    const answer = await this.#pipeline.answer({
      dialect,
      tierInPath: tier,
      headers: {},
      body,
      arrivedAtMs: this.#clock.monotonicMs(),
      signal: new AbortController().signal,
      keyId: null,
    });
    if (answer.kind === 'gone') throw new Error('nobody went away');
    if (answer.kind === 'whole') return { status: answer.status, body: answer.body.toString() };
    const pieces: Buffer[] = [];
    for await (const chunk of answer.chunks) pieces.push(Buffer.from(chunk));
    return { status: 200, body: Buffer.concat(pieces).toString() };
  }

  /** Exchanges, timers and requests that are still there once all should be over. */
  async leaks(): Promise<number> {
    await this.#clock.advance(2000);
    return this.#providers.open + this.#clock.pending + this.#pipeline.inFlight();
  }

  close(): void {
    this.#close();
  }
}

const ownFields: { readonly [kind: string]: JsonObject } = {
  bedrock: { region: 'us-east-1', api_keys: ['env:KEY'] },
};

/** A tier for each upstream dialect, under its name. */
function snapshotOf(clock: VirtualClock): Snapshot {
  const document = {
    providers: Object.fromEntries(
      cutUpstreams.map(({ dialect, kind, vendor: { basePath } }) => [
        dialect,
        { kind, base_url: `http://${dialect}${basePath}`, ...ownFields[kind] },
      ]),
    ),
    tiers: Object.fromEntries(
      cutUpstreams.map(({ dialect, model }) => [
        dialect,
        { hedge: false, targets: [{ provider: dialect, model }] },
      ]),
    ),
  };
  const resolveSecret = (): string => 'a-secret';
  const valid = validateDocument(document, { variants: shippedVariants, resolveSecret });
  if (!valid.ok) throw new Error(JSON.stringify(valid.fault.faults));
  return buildSnapshot({
    version: 1,
    createdAtMs: 0,
    valid: valid.value,
    variants: shippedVariants,
    bindProvider: createProviderBinder({
      dialectByName: (name) => upstreamDialects.get(name) ?? null,
      resolveSecret,
      clock,
      transport: noTransport,
    }),
  });
}
