/** Two gateways that share breakers through one Redis, each in front of its own simulated providers. */
import type { JsonObject } from '../../src/base/json.ts';
import { readRedisAddress } from '../../src/store/redis/redis-address.ts';
import { hello } from './case-gateway.ts';
import {
  chat,
  modelNames,
  quickRetry,
  type RunningGateway,
  type ServedRowWithAttempts,
  startGateway,
} from './running-gateway.ts';

type Status = {
  readonly shared_state: JsonObject | null;
  readonly alerts: readonly { readonly kind: string }[];
  readonly targets: readonly {
    readonly id: string;
    readonly breaker: { readonly state: string; readonly reason: string | null };
  }[];
};

const lookEveryMs = 20;
/** On a busy machine. */
const waitMsMax = 30_000;

export class FleetPair {
  /** A target of this pair alone: others may use the same server at the same time. */
  readonly model: string;
  readonly #gateways: readonly RunningGateway[];

  private constructor(gateways: readonly RunningGateway[]) {
    this.#gateways = gateways;
    this.model = `${modelNames.p1}-${String(Math.floor(Math.random() * 1e8)).padStart(8, '0')}`;
  }

  /** The tiers `shared` (p1, which fails, then p2) and `lone` (p1). */
  static async start(url: string, breaker: JsonObject = {}): Promise<FleetPair> {
    const address = readRedisAddress(url);
    if (!address.ok) throw new Error(address.fault);
    const redis = address.value;
    const pair = new FleetPair([await startGateway({ redis }), await startGateway({ redis })]);
    for (const index of [0, 1]) {
      pair.setUpstream(index, 'failing');
      pair.at(index).simulation.control.script('p2', hello.anthropic);
      const first = { provider: 'p1', model: pair.model };
      const second = { provider: 'p2', model: modelNames.p2 };
      await pair.#putTier(index, 'shared', { breaker, targets: [first, second] });
      await pair.#putTier(index, 'lone', { breaker, targets: [first] });
    }
    return pair;
  }

  at(index: number): RunningGateway {
    const found = this.#gateways[index];
    if (found === undefined) throw new Error(`there is no gateway ${index}`);
    return found;
  }

  get target(): string {
    return `p1/${this.model}`;
  }

  get key(): string {
    return `tiergate:breaker:${this.target}`;
  }

  setUpstream(index: number, state: 'failing' | 'well'): void {
    const calls = state === 'well' ? hello.openai : [{ status: 500 }];
    this.at(index).simulation.control.script('p1', calls);
  }

  /** One streamed request; its row. */
  async ask(index: number, tier: 'shared' | 'lone' = 'shared'): Promise<ServedRowWithAttempts> {
    const gateway = this.at(index);
    const response = await gateway.post('/v1/chat/completions', chat(tier, { stream: true }));
    await response.text();
    const id = response.headers.get('x-tiergate-request-id') ?? 'none';
    return (await (await gateway.admin(`/served/${id}`)).json()) as ServedRowWithAttempts;
  }

  /** So many calls to p1 that one gateway makes its breaker open. */
  async trip(index: number): Promise<void> {
    for (let nth = 0; nth < 50; nth += 1) {
      await this.ask(index);
      if ((await this.breaker(index)) !== 'closed') return;
      await pause(100);
    }
    throw new Error('the breaker did not open');
  }

  async status(index: number): Promise<Status> {
    return (await (await this.at(index).admin('/status')).json()) as Status;
  }

  async breaker(index: number): Promise<string> {
    const { targets } = await this.status(index);
    return targets.find(({ id }) => id === this.target)?.breaker.state ?? 'unknown';
  }

  async ready(
    index: number,
  ): Promise<{ readonly status: number; readonly reasons: readonly string[] }> {
    const response = await fetch(`${this.at(index).origin}/readyz`);
    const { reasons } = (await response.json()) as { reasons: readonly string[] };
    return { status: response.status, reasons };
  }

  /** Waits until it is so; how long that took. */
  async until(what: string, isSo: () => Promise<boolean>): Promise<number> {
    const startedMs = performance.now();
    while (!(await isSo())) {
      if (performance.now() - startedMs > waitMsMax) throw new Error(`never: ${what}`);
      await pause(lookEveryMs);
    }
    return performance.now() - startedMs;
  }

  async close(): Promise<void> {
    for (const gateway of this.#gateways) await gateway.close();
  }

  async #putTier(index: number, name: string, config: JsonObject): Promise<void> {
    const response = await this.at(index).admin(`/tiers/${name}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'if-none-match': '*' },
      body: JSON.stringify({
        hedge: false,
        retry: { ...quickRetry, attempts: 1 },
        ...config,
      }),
    });
    if (!response.ok) throw new Error(await response.text());
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
