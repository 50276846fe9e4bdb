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

export function demoGateway(options: DemoGatewayOptions): DemoGateway {
  const { origin, simulatorOrigin, tier, signal, monotonicMs } = options;
  const authorization = `Bearer ${options.adminKey}`;
  const tierUrl = `${origin}/admin/v1/tiers/${tier}`;

  const send = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(url, { ...init, signal });
    if (response.ok) return response;
    throw new Error(`${init.method ?? 'GET'} ${url} gave ${response.status}`);
  };
  const read = async (path: string): Promise<unknown> =>
    (await send(`${origin}/admin/v1${path}`, { headers: { authorization } })).json();

  return {
    ask: async (question) => {
      const startedMs = monotonicMs();
      const response = await fetch(`${origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: tier, messages: [{ role: 'user', content: question }] }),
        signal,
      });
      await response.arrayBuffer();
      const header = (name: string): string | null => response.headers.get(`x-tiergate-${name}`);
      return {
        isServed: response.ok,
        target: response.ok ? header('served-by') : null,
        attempts: Number(header('attempts') ?? 0),
        failovers: Number(header('failovers') ?? 0),
        latencyMs: monotonicMs() - startedMs,
      };
    },
    targets: async () => {
      const effective = objectAt(await read(`/tiers/${tier}`), 'effective');
      return arrayAt(effective, 'targets').map(
        (target) =>
          stringAt(target, 'id') ?? `${stringAt(target, 'provider')}/${stringAt(target, 'model')}`,
      );
    },
    shortenRests: async (rests) => {
      const response = await send(tierUrl, { headers: { authorization } });
      const config = objectAt(await response.json(), 'config') ?? {};
      await send(tierUrl, {
        method: 'PUT',
        headers: {
          authorization,
          'content-type': 'application/json',
          'if-match': response.headers.get('etag') ?? '*',
          'x-tiergate-note': 'demo: shorter rests of the breaker',
        },
        body: JSON.stringify({ ...config, breaker: { ...objectAt(config, 'breaker'), ...rests } }),
      });
    },
    breakers: async () => {
      const targets = arrayAt(await read('/status'), 'targets').filter(isJsonObject);
      return new Map(targets.map((target) => [stringAt(target, 'id') ?? '', breakerWord(target)]));
    },
    overload: async (provider) => {
      await send(`${simulatorOrigin}/_sim/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ provider, fault: 'overload', for: '60s' }),
      });
    },
    mend: async () => {
      await send(`${simulatorOrigin}/_sim/faults`, { method: 'DELETE' });
    },
    servedRows: async () => {
      const page = await read(`/served?tier=${tier}&limit=1000`);
      return arrayAt(page, 'data').filter(isJsonObject).reverse();
    },
  };
}

function breakerWord(target: JsonObject): BreakerWord {
  const state = stringAt(objectAt(target, 'breaker'), 'state');
  return state === 'closed' || state === 'open' || state === 'half_open' ? state : 'unknown';
}
