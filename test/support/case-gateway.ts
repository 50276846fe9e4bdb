/** One running gateway for many cases: each case gets a tier of its own, over models no other case has asked. */
import type { JsonObject } from '../../src/base/json.ts';
import type { ScriptedCall } from '../../src/simulator/script/scripted-call.ts';
import {
  chat,
  type GatewayOptions,
  modelNames,
  type ProviderName,
  quickRetry,
  type RunningGateway,
  readChatStream,
  type ServedRowWithAttempts,
  type StreamRead,
  startGateway,
} from './running-gateway.ts';
import { shippedPrompts } from './shipped-prompts.ts';

export type Scripts = { readonly [name in ProviderName]?: readonly ScriptedCall[] };

export type CaseOptions = {
  /** Of the tier; `retry` is taken over field by field. No hedge unless one is asked for. */
  readonly policies?: JsonObject;
  /** Settings of single targets. */
  readonly targets?: { readonly [name in ProviderName]?: JsonObject };
};

/** What came out of a JSON document: each test checks it field by field. */
type Parsed = ReturnType<typeof JSON.parse>;

export type ServedRow = JsonObject & Pick<ServedRowWithAttempts, 'id' | 'outcome' | 'target'>;
type ServedPage = {
  readonly data: readonly ServedRow[];
  readonly next_cursor: string | null;
};
type StatusRead = {
  readonly targets: readonly {
    readonly id: string;
    readonly breaker: { readonly state: string };
  }[];
};

export type Asked = {
  readonly response: Response;
  readonly stream: StreamRead;
  readonly row: ServedRowWithAttempts;
};

/** The scripted answers that most cases end with. */
export const hello = {
  openai: [{ sse: ['ROLE', 'T:hello', 'FIN:stop', 'DONE'] }],
  anthropic: [{ sse: ['ROLE', 'T:hello', 'FIN:end_turn', 'DONE'] }],
  gemini: [{ sse: ['T:hello', 'FIN:STOP'] }],
} as const satisfies { readonly [vendor: string]: readonly ScriptedCall[] };

/** A user's settings of the cases: two retries a provider, with waits that take no time. */
const caseRetry = { ...quickRetry, attempts: 3 };

export class CaseGateway {
  readonly gateway: RunningGateway;
  #count = 0;

  private constructor(gateway: RunningGateway) {
    this.gateway = gateway;
  }

  static async start(options: GatewayOptions = {}): Promise<CaseGateway> {
    // Cases read their row at once: on a busy machine a slow commit must not send it the long way round.
    const log = { commit_wait: '15s' };
    // No tier of a case has the name of a shipped prompt: only the one that asks for the rest is used.
    const promptDirectories = [shippedPrompts];
    const document = { log, ...options.document };
    return new CaseGateway(await startGateway({ promptDirectories, ...options, document }));
  }

  get control(): RunningGateway['simulation']['control'] {
    return this.gateway.simulation.control;
  }

  close(): Promise<void> {
    return this.gateway.close();
  }

  /** Puts the scripts in place, forgets what came in before, and makes a fresh tier; its name. */
  async tier(
    names: readonly ProviderName[],
    scripts: Scripts = {},
    options: CaseOptions = {},
  ): Promise<string> {
    this.#count += 1;
    const tier = `case-${this.#count}`;
    this.control.clear();
    this.control.forgetRequests();
    for (const [name, calls] of Object.entries(scripts)) {
      this.control.script(name as ProviderName, calls);
    }
    const { retry, ...policies } = options.policies ?? {};
    await this.put(
      tier,
      {
        hedge: false,
        ...policies,
        retry: { ...caseRetry, ...(retry as JsonObject | undefined) },
        targets: names.map((name) => ({
          provider: name,
          model: this.modelOf(name),
          ...options.targets?.[name],
        })),
      },
      { 'if-none-match': '*' },
    );
    return tier;
  }

  /** The snapshot of the usual model that the present case asks: breakers and rests are its own. */
  modelOf(name: ProviderName): string {
    return `${modelNames[name]}-${String(this.#count).padStart(8, '0')}`;
  }

  targetOf(name: ProviderName): string {
    return `${name}/${this.modelOf(name)}`;
  }

  async put(tier: string, config: JsonObject, headers: Record<string, string>): Promise<void> {
    const response = await this.gateway.admin(`/tiers/${tier}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(config),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  }

  /** A chat request to `tier`. */
  post(
    tier: string,
    over: JsonObject = {},
    init: { readonly headers?: Record<string, string>; readonly signal?: AbortSignal } = {},
  ): Promise<Response> {
    return this.gateway.post('/v1/chat/completions', chat(tier, over), init);
  }

  /** A streamed request, read to its end, with its row. */
  async stream(
    tier: string,
    over: JsonObject = {},
    headers: Record<string, string> = {},
  ): Promise<Asked> {
    const response = await this.post(tier, { stream: true, ...over }, { headers });
    const stream = await readChatStream(response);
    return { response, stream, row: await this.rowOf(response) };
  }

  async rowOf(response: Response): Promise<ServedRowWithAttempts> {
    return this.rowWithId(response.headers.get('x-tiergate-request-id') ?? 'none');
  }

  async rowWithId(id: string): Promise<ServedRowWithAttempts> {
    return (await (await this.gateway.admin(`/served/${id}`)).json()) as ServedRowWithAttempts;
  }

  /** All rows of `tier`, by id; without their attempts. */
  async rowsOfTier(tier: string): Promise<ReadonlyMap<string, ServedRow>> {
    const rows = new Map<string, ServedRow>();
    let cursor: string | null = null;
    do {
      const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const answer = await this.gateway.admin(`/served?tier=${tier}&limit=1000${after}`);
      const page = (await answer.json()) as ServedPage;
      for (const row of page.data) rows.set(row.id, row);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return rows;
  }

  /** As status shows it: closed, open or half_open. */
  async breakerOf(name: ProviderName): Promise<string | null> {
    const status = (await (await this.gateway.admin('/status')).json()) as StatusRead;
    const target = status.targets.find(({ id }) => id === this.targetOf(name));
    return target?.breaker.state ?? null;
  }

  /** The bodies that `name` received, in order. */
  bodies(name: ProviderName): readonly Parsed[] {
    return this.received(name).map(({ body }) => JSON.parse(body.toString('utf8')));
  }

  received(name: ProviderName) {
    return this.control.requests(name);
  }

  calls(name: ProviderName): number {
    return this.received(name).length;
  }
}

/** How each attempt of a row ended: provider and class, or `served`. */
export function attemptsOf(row: ServedRowWithAttempts): readonly string[] {
  return row.attempts.map(
    ({ provider, outcome, error_class: errorClass }) => `${provider} ${errorClass ?? outcome}`,
  );
}
