/** The HTTP edge on a real loopback socket, with a pipeline that does what the test says. */
import { createAccess, hashSecret } from '../../src/admin/access.ts';
import type { TargetAdmin } from '../../src/admin/target-admin.ts';
import type { TierAdmin, TierView } from '../../src/admin/tier-admin.ts';
import { systemClock } from '../../src/base/clock.ts';
import { type Log, type LogFields, silentLog } from '../../src/base/log-port.ts';
import type { ClientDialect } from '../../src/dialects/dialect.ts';
import type { Questions } from '../../src/http/control/question-routes.ts';
import { createHttpServer } from '../../src/http/http-server.ts';
import type { HttpServer, HttpServerOptions } from '../../src/http/http-server-ports.ts';
import type { Answer, Call, Pipeline } from '../../src/pipeline/answer.ts';
import type { Snapshot, Tier } from '../../src/routing/snapshot.ts';
import type { ServedQuery } from '../../src/served-by/served-query.ts';

export const clientKey = 'client-key-0123456789';
export const adminKey = 'admin-key-0123456789abcdef';
export const logKey = 'log-key-0123456789abcdef';

/** Answers each call with `answer`, counts what is under way, keeps what it was given. */
export class ScriptedPipeline implements Pipeline {
  readonly calls: Call[] = [];
  #inFlight = 0;
  readonly #answer: (call: Call) => Promise<Answer> | Answer;

  constructor(answer: (call: Call) => Promise<Answer> | Answer) {
    this.#answer = answer;
  }

  readonly inFlight = (): number => this.#inFlight;

  readonly answer = async (call: Call): Promise<Answer> => {
    this.calls.push(call);
    this.#inFlight += 1;
    try {
      const answer = await this.#answer(call);
      if (answer.kind !== 'stream') return answer;
      this.#inFlight += 1;
      return { ...answer, chunks: this.#counted(answer.chunks) };
    } finally {
      this.#inFlight -= 1;
    }
  };

  async *#counted(
    chunks: AsyncGenerator<Buffer | string, void, undefined>,
  ): AsyncGenerator<Buffer | string, void, undefined> {
    try {
      yield* chunks;
    } finally {
      this.#inFlight -= 1;
    }
  }
}

/** The client side of a wire format that tests can read at a glance. */
export const plainDialect: ClientDialect = {
  name: 'plain',
  routes: [{ suffix: 'chat/completions' }],
  sdk: 'Plain',
  baseUrl: (origin) => `${origin}/v1`,
  requestIdHeader: 'x-request-id',
  decodeRequest: () => ({ ok: false, fault: { message: 'not decoded here', param: null } }),
  encodeReply: () => '',
  streamEncoder: () => ({
    push: () => '',
    join: () => '',
    fail: (failure) => `data: ${JSON.stringify({ error: failure.failureClass })}\n\n`,
  }),
  encodeError: (failure) =>
    JSON.stringify({
      error: {
        message: `${failure.message} (request ${failure.requestId})`,
        class: failure.failureClass,
        status: failure.status,
      },
    }),
};

export function wholeAnswer(body: Buffer | string = '{"ok":true}', status = 200): Answer {
  return { kind: 'whole', status, headers: { 'content-type': 'application/json' }, body };
}

export function streamAnswer(chunks: AsyncGenerator<Buffer | string, void, undefined>): Answer {
  return {
    kind: 'stream',
    headers: { 'content-type': 'text/event-stream' },
    chunks,
    keepAlive: { bytes: ': still here\n\n', everyMs: 10_000, isEarly: false },
    fail: ({ failureClass }) => `data: ${JSON.stringify({ error: failureClass })}\n\n`,
  };
}

export function snapshotWith(server: Partial<Snapshot['server']> = {}): Snapshot {
  const tier = {
    name: 'fast',
    description: 'Quick',
    aliases: ['quick'],
    targets: [],
  } as unknown as Tier;
  const smart = { name: 'smart', description: '', aliases: [], targets: [] } as unknown as Tier;
  const tiers = new Map([
    ['fast', tier],
    ['smart', smart],
  ]);
  return {
    version: 3,
    createdAtMs: Date.UTC(2026, 0, 1),
    document: {},
    server: {
      bodyBytesMax: 1024 * 1024,
      headerBytesMax: 32 * 1024,
      drainDelayMs: 0,
      drainTimeoutMs: 1000,
      cors: [],
      ...server,
    },
    log: { keepMs: 0, commitWaitMs: 0, onFailure: 'serve' },
    alerts: { webhook: null, minIntervalMs: 3_600_000 },
    tiers,
    providers: new Map(),
    resolveTier: (name) => (name === 'quick' ? tier : (tiers.get(name) ?? null)),
  };
}

export const noRows: ServedQuery = {
  page: () => ({ rows: [], nextCursor: null }),
  byId: () => null,
  ownRow: () => null,
};

export function tierView(name: string): TierView {
  return { name, version: 3, config: { targets: [] }, effective: {}, etag: `"${name}-3"` };
}

export const fixedTiers: TierAdmin = {
  list: () => [tierView('fast')],
  get: (name) => (name === 'fast' ? tierView(name) : null),
  document: () => ({ version: 3, config: { tiers: {} } }),
  replace: async ({ name }) => ({
    kind: 'saved',
    view: tierView(name),
    isNew: false,
    warnings: [],
  }),
  check: async () => ({ valid: true, errors: [], warnings: [], diff: [] }),
};

export const noTargets: TargetAdmin = {
  override: () => ({ kind: 'unknown_target', known: [] }),
};

export const noAnswers: Questions = {
  explain: () => ({ kind: 'unknown_protocol', known: [] }),
  classify: () => ({ ok: false, fault: [] }),
  bodyBytesMax: () => 1024,
};

export type LogLine = {
  readonly level: string;
  readonly message: string;
  readonly fields?: LogFields;
};

export function collectingLog(lines: LogLine[]): Log {
  const at = (level: string) => (message: string, fields?: LogFields) => {
    lines.push(fields === undefined ? { level, message } : { level, message, fields });
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export type EdgeUnderTest = {
  readonly server: HttpServer;
  readonly origin: string;
  readonly port: number;
  readonly pipeline: ScriptedPipeline;
};

/** With `clientKey` known unless `withClientKey` is false; `close()` the server afterwards. */
export async function startEdge(
  answer: (call: Call) => Promise<Answer> | Answer,
  changes: Partial<HttpServerOptions> & {
    readonly withClientKey?: boolean;
    readonly host?: string;
  } = {},
): Promise<EdgeUnderTest> {
  const pipeline = new ScriptedPipeline(answer);
  const { withClientKey = false, host = '127.0.0.1', ...options } = changes;
  const keys = [
    { keyId: 'admin', scopes: ['admin' as const], hash: hashSecret(adminKey) },
    { keyId: 'reader', scopes: ['log' as const], hash: hashSecret(logKey) },
    ...(withClientKey
      ? [{ keyId: 'env', scopes: ['call' as const], hash: hashSecret(clientKey) }]
      : []),
  ];
  const snapshot = snapshotWith();
  const server = createHttpServer({
    pipeline,
    snapshot: () => snapshot,
    dialects: [plainDialect],
    access: createAccess(keys),
    served: noRows,
    tierAdmin: fixedTiers,
    targetAdmin: noTargets,
    questions: noAnswers,
    status: () => ({ targets: [], totals: {} }),
    readiness: () => ({ status: 'ok', reasons: [] }),
    log: silentLog,
    clock: systemClock,
    ...options,
  });
  const listening = await server.listen({ host, port: 0 });
  if (!listening.ok) throw new Error(listening.fault.message);
  return { server, pipeline, ...listening.value };
}

/** POSTs `body` to the model call's path. */
export function postCall(
  edge: EdgeUnderTest,
  body: unknown = { model: 'fast' },
  init: {
    readonly headers?: Record<string, string>;
    readonly path?: string;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Response> {
  return fetch(`${edge.origin}${init.path ?? '/v1/chat/completions'}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...init.headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(init.signal === undefined ? {} : { signal: init.signal }),
  });
}
