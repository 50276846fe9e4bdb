/** The whole gateway on a loopback port, in front of simulated providers p1 to p5: as a client meets it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../src/app.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Log, LogFields } from '../../src/base/log-port.ts';
import type { App } from '../../src/http/app-ports.ts';
import { instantPace, type Pace } from '../../src/simulator/settings.ts';
import {
  type SimulatedProvider,
  type Simulation,
  startProviders,
} from '../../src/simulator/simulator.ts';
import { exampleAccessKey } from '../../src/simulator/vendors/bedrock/bedrock-auth.ts';
import type { AuthRule } from '../../src/simulator/vendors/vendor.ts';
import type { RedisAddress } from '../../src/store/redis/redis-address.ts';

/**
 * The names of the cases: p1 speaks openai-chat, p2 anthropic-messages, p3 gemini; `b` is a second of its
 * kind. p4 speaks openai-responses, p5 bedrock-converse, each request signed.
 */
export const providerKinds = {
  p1: 'openai',
  p1b: 'openai',
  p2: 'anthropic',
  p2b: 'anthropic',
  p3: 'gemini',
  p4: 'openai-responses',
  p5: 'bedrock',
} as const;
export type ProviderName = keyof typeof providerKinds;

/** Who is simulated, where the kind is not named after the vendor. */
const vendors = { ...providerKinds, p4: 'openai' } as const;

export const modelNames: { readonly [name in ProviderName]: string } = {
  p1: 'gpt-5.1',
  p1b: 'gpt-5-mini',
  p2: 'claude-sonnet-4-5',
  p2b: 'claude-haiku-4-5',
  p3: 'gemini-2.5-flash',
  p4: 'gpt-5-mini',
  p5: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
};

export type GatewayOptions = {
  /** The targets of the tier `fast`, in order; `solo` is always p1 alone. */
  readonly tier?: readonly ProviderName[];
  /** Policies of both tiers, as the document has them. */
  readonly policies?: JsonObject;
  /** Settings of single providers, as the document has them. */
  readonly providers?: { readonly [name in ProviderName]?: JsonObject };
  /** Further keys of the document. */
  readonly document?: JsonObject;
  readonly clientKey?: string;
  /** What `env:NAME` references see. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly pace?: Pace;
  /** None unless they are given: what is asked is then just what the test sent. */
  readonly promptDirectories?: readonly string[];
  /** What the simulated providers ask for; `open` (nothing) unless it is given. */
  readonly auth?: AuthRule;
  readonly dataDirectory?: string;
  /** `file`: the document `tiergate.json` in the data directory is the truth and is watched. */
  readonly configMode?: 'database' | 'file';
  /** The server through which gateways share breakers. */
  readonly redis?: RedisAddress;
};

export type LogLine = {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
};

export type RunningGateway = {
  readonly app: App;
  readonly origin: string;
  readonly adminKey: string;
  readonly dataDirectory: string;
  readonly simulation: Simulation<ProviderName>;
  readonly log: LogLine[];
  readonly post: (
    path: string,
    body: unknown,
    init?: { readonly headers?: Record<string, string>; readonly signal?: AbortSignal },
  ) => Promise<Response>;
  readonly admin: (path: string, init?: RequestInit) => Promise<Response>;
  /** Rows of the served-by log, newest first, each with its attempts. */
  readonly rows: (query?: string) => Promise<readonly ServedRowWithAttempts[]>;
  readonly close: () => Promise<void>;
};

export type AttemptFields = JsonObject & {
  readonly kind: string;
  readonly target: string;
  readonly status: number | null;
  readonly error_class: string | null;
  readonly outcome: string;
  readonly message: string | null;
  readonly duration_ms: number;
  readonly delay_before_ms: number;
};
export type ServedRowWithAttempts = JsonObject & {
  readonly id: string;
  readonly outcome: string;
  readonly target: string | null;
  readonly provider: string | null;
  readonly attempts: readonly AttemptFields[];
};

/** The one access key that the simulated service knows, and how the document names it. */
const accessKey = {
  SIMULATED_ACCESS_KEY_ID: exampleAccessKey.id,
  SIMULATED_SECRET_ACCESS_KEY: exampleAccessKey.secret,
};
const credentials = {
  access_key_id: 'env:SIMULATED_ACCESS_KEY_ID',
  secret_access_key: 'env:SIMULATED_SECRET_ACCESS_KEY',
};

/** Quick waits, so that a case that retries takes milliseconds. */
export const quickRetry = { base: '5ms', cap: '20ms' };

export async function startGateway(options: GatewayOptions = {}): Promise<RunningGateway> {
  const specs = Object.fromEntries(
    Object.entries(vendors).map(([name, vendor]) => [name, { vendor }]),
  ) as { readonly [name in ProviderName]: { readonly vendor: (typeof vendors)[ProviderName] } };
  const simulation = await startProviders<ProviderName>(specs, {
    pace: options.pace ?? instantPace,
    auth: options.auth ?? 'open',
  });
  const dataDirectory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), 'tiergate-test-'));
  const log: LogLine[] = [];
  const started = await startApp({
    ...baseOptions(dataDirectory, log),
    configFile: writeDocument(dataDirectory, documentOf(options, simulation.providers)),
    clientKey: options.clientKey ?? null,
    environment: { ...accessKey, ...options.environment },
    promptDirectories: options.promptDirectories ?? [],
    configMode: options.configMode ?? 'database',
    redis: options.redis ?? null,
  });
  if (!started.ok) {
    await simulation.close();
    throw new Error(`${started.fault.message}: ${started.fault.details.join('; ')}`);
  }
  return running(started.value, simulation, dataDirectory, log);
}

function baseOptions(dataDirectory: string, log: LogLine[]) {
  return {
    dataDirectory,
    host: '127.0.0.1',
    port: 0,
    adminKey: null,
    environment: {},
    log: collectingLog(log),
  } as const;
}

function collectingLog(lines: LogLine[]): Log {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}) => {
      lines.push({ level, message, fields });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function writeDocument(dataDirectory: string, document: JsonObject): string {
  const file = join(dataDirectory, 'tiergate.json');
  writeFileSync(file, JSON.stringify(document));
  return file;
}

export function documentOf(
  options: GatewayOptions,
  providers: { readonly [name in ProviderName]: SimulatedProvider },
): JsonObject {
  const names = Object.keys(providerKinds) as ProviderName[];
  const policies = { retry: quickRetry, ...options.policies };
  const tierOf = (targets: readonly ProviderName[]): JsonObject => ({
    ...policies,
    targets: targets.map((name) => ({ provider: name, model: modelNames[name] })),
  });
  return {
    providers: Object.fromEntries(
      names.map((name) => [
        name,
        {
          kind: providerKinds[name],
          base_url: providers[name].url,
          ...(name === 'p5' ? { ...providers[name].settings, credentials } : {}),
          ...options.providers?.[name],
        },
      ]),
    ),
    tiers: { fast: tierOf(options.tier ?? ['p1', 'p2', 'p3']), solo: tierOf(['p1']) },
    // A busy machine may take long to commit; a test that reads rows waits for them.
    log: { commit_wait: '20s' },
    ...options.document,
  };
}

function running(
  app: App,
  simulation: Simulation<ProviderName>,
  dataDirectory: string,
  log: LogLine[],
): RunningGateway {
  const { origin, adminKeyFile } = app.facts;
  const adminKey = adminKeyFile === null ? '' : readFileSync(adminKeyFile, 'utf8').trim();
  const admin = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${origin}/admin/v1${path}`, {
      ...init,
      headers: { authorization: `Bearer ${adminKey}`, ...init.headers },
    });
  return {
    app,
    origin,
    adminKey,
    dataDirectory,
    simulation,
    log,
    post: (path, body, init = {}) =>
      fetch(`${origin}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...init.headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        signal: init.signal ?? null,
      }),
    admin,
    rows: async (query = '') => {
      const page = (await (await admin(`/served${query}`)).json()) as { data: { id: string }[] };
      return Promise.all(
        page.data.map(
          async ({ id }) => (await (await admin(`/served/${id}`)).json()) as ServedRowWithAttempts,
        ),
      );
    },
    close: async () => {
      await app.close();
      await simulation.close();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** A chat request that names `model` and says `hi`. */
export function chat(model: string, over: JsonObject = {}): JsonObject {
  return { model, messages: [{ role: 'user', content: 'hi' }], ...over };
}

/** What tests look at in a chunk of a stream. */
export type ChunkFields = {
  readonly id?: string;
  readonly created?: number;
  readonly model?: string;
  readonly usage?: JsonObject | null;
  readonly error?: JsonObject;
  readonly choices?: readonly {
    readonly index?: number;
    readonly finish_reason?: string | null;
    readonly delta?: {
      readonly role?: string;
      readonly content?: string | null;
      readonly refusal?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    };
  }[];
};

export type StreamRead = {
  readonly text: string;
  /** The parsed data of each event but `[DONE]`. */
  readonly events: readonly ChunkFields[];
  readonly isDone: boolean;
  readonly error: JsonObject | null;
  readonly finishReasons: readonly string[];
  readonly raw: string;
};

/** Reads an openai-chat stream to its end. */
export async function readChatStream(response: Response): Promise<StreamRead> {
  const raw = await response.text();
  const data = raw
    .split(/\r\n\r\n|\n\n|\r\r/)
    .flatMap((block) => block.split(/\r\n|\n|\r/))
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim());
  const events: ChunkFields[] = data
    .filter((line) => line !== '[DONE]')
    .map((line) => JSON.parse(line));
  const choices = events.flatMap((event) => event.choices ?? []);
  return {
    text: choices.map((choice) => choice.delta?.content ?? '').join(''),
    events,
    isDone: data.includes('[DONE]'),
    error: events.find((event) => event.error !== undefined)?.error ?? null,
    finishReasons: choices.flatMap((choice) => choice.finish_reason ?? []),
    raw,
  };
}
