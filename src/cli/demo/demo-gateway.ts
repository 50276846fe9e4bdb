/** The demo as a client of the gateway: everything it shows comes over HTTP, as it would for anyone. */
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../../base/json.ts';

export type DemoAnswer = {
  readonly isServed: boolean;
  /** The target that served; null when none did. */
  readonly target: string | null;
  readonly attempts: number;
  readonly failovers: number;
  readonly latencyMs: number;
};

export type BreakerWord = 'closed' | 'open' | 'half_open' | 'unknown';

export type DemoGateway = {
  readonly ask: (question: string) => Promise<DemoAnswer>;
  /** Target ids of the tier in its order. */
  readonly targets: () => Promise<readonly string[]>;
  readonly shortenRests: (rests: JsonObject) => Promise<void>;
  readonly breakers: () => Promise<ReadonlyMap<string, BreakerWord>>;
  readonly overload: (provider: string) => Promise<void>;
  readonly mend: () => Promise<void>;
  /** Rows of the served-by log, oldest first. */
  readonly servedRows: () => Promise<readonly JsonObject[]>;
};

export type DemoGatewayOptions = {
  readonly origin: string;
  readonly simulatorOrigin: string;
  readonly adminKey: string;
  readonly tier: string;
  readonly monotonicMs: () => number;
  readonly signal: AbortSignal;
};

type Send = (url: string, init?: RequestInit) => Promise<Response>;

export function demoGateway(options: DemoGatewayOptions): DemoGateway {
  const { origin, simulatorOrigin, tier, signal } = options;
  const headers = { authorization: `Bearer ${options.adminKey}` };
  const faultsUrl = `${simulatorOrigin}/_sim/faults`;

  /** Any status but a success is a fault of the demo itself. */
  const send: Send = async (url, init = {}) => {
    const response = await fetch(url, { ...init, signal });
    if (response.ok) return response;
    throw new Error(`${init.method ?? 'GET'} ${url} gave ${response.status}`);
  };
  const read = async (path: string): Promise<unknown> =>
    (await send(`${origin}/admin/v1${path}`, { headers })).json();

  return {
    ask: (question) => ask(question, options),
    targets: async () => {
      const effective = objectAt(await read(`/tiers/${tier}`), 'effective');
      return arrayAt(effective, 'targets').map((target) => stringAt(target, 'id') ?? '');
    },
    shortenRests: (rests) =>
      replaceBreaker({ url: `${origin}/admin/v1/tiers/${tier}`, headers, send, rests }),
    breakers: async () => {
      const targets = arrayAt(await read('/status'), 'targets').filter(isJsonObject);
      return new Map(targets.map((target) => [stringAt(target, 'id') ?? '', breakerWord(target)]));
    },
    overload: async (provider) => {
      await send(faultsUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ provider, fault: 'overload', for: '60s' }),
      });
    },
    mend: async () => {
      await send(faultsUrl, { method: 'DELETE' });
    },
    servedRows: async () => {
      const page = await read(`/served?tier=${tier}&limit=1000`);
      return arrayAt(page, 'data').filter(isJsonObject).reverse();
    },
  };
}

async function ask(question: string, options: DemoGatewayOptions): Promise<DemoAnswer> {
  const startedMs = options.monotonicMs();
  const messages = [{ role: 'user', content: question }];
  const response = await fetch(`${options.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: options.tier, messages }),
    signal: options.signal,
  });
  await response.arrayBuffer();
  const header = (name: string): string | null => response.headers.get(`x-tiergate-${name}`);
  return {
    isServed: response.ok,
    target: response.ok ? header('served-by') : null,
    attempts: Number(header('attempts') ?? 0),
    failovers: Number(header('failovers') ?? 0),
    latencyMs: options.monotonicMs() - startedMs,
  };
}

/** One PUT with the ETag that was read: how anyone would edit a tier. */
async function replaceBreaker(input: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly send: Send;
  readonly rests: JsonObject;
}): Promise<void> {
  const { url, headers, send } = input;
  const response = await send(url, { headers });
  const config = objectAt(await response.json(), 'config') ?? {};
  const breaker = { ...objectAt(config, 'breaker'), ...input.rests };
  await send(url, {
    method: 'PUT',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'if-match': response.headers.get('etag') ?? '*',
      'x-tiergate-note': 'demo: shorter rests of the breaker',
    },
    body: JSON.stringify({ ...config, breaker }),
  });
}

function breakerWord(target: JsonObject): BreakerWord {
  const state = stringAt(objectAt(target, 'breaker'), 'state');
  return state === 'closed' || state === 'open' || state === 'half_open' ? state : 'unknown';
}
