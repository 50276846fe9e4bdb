/** Real SDKs, with the retries that they come with, in front of a gateway whose providers are down. */
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { ChatOpenAI } from '@langchain/openai';
import { generateText } from 'ai';
import OpenAI from 'openai';
import type { JsonObject } from '../../src/base/json.ts';
import {
  modelNames,
  type ProviderName,
  quickRetry,
  type RunningGateway,
  type ServedRowWithAttempts,
  startGateway,
} from './running-gateway.ts';

type Ask = {
  readonly origin: string;
  readonly tier: string;
  readonly signal: AbortSignal;
  /** Undefined = the SDK's own way to the network. */
  readonly fetch: typeof fetch | undefined;
};

/** One logical request. Nothing is set but where to go and whom to ask. */
export const sdks = {
  openai: ({ origin, tier, signal, fetch }: Ask) =>
    new OpenAI({ ...openaiOptions(origin), ...(fetch && { fetch }) }).chat.completions.create(
      { model: tier, messages: [{ role: 'user', content: 'hi' }] },
      { signal },
    ),
  anthropic: ({ origin, tier, signal, fetch }: Ask) =>
    new Anthropic({ baseURL: origin, apiKey: 'any', ...(fetch && { fetch }) }).messages.create(
      { model: tier, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] },
      { signal },
    ),
  ai: ({ origin, tier, signal, fetch }: Ask) =>
    generateText({
      model: createOpenAI({ ...openaiOptions(origin), ...(fetch && { fetch }) }).chat(tier),
      prompt: 'hi',
      abortSignal: signal,
    }),
  langchain: ({ origin, tier, signal, fetch }: Ask) =>
    new ChatOpenAI({
      model: tier,
      apiKey: 'any',
      configuration: { ...openaiOptions(origin), ...(fetch && { fetch }) },
    }).invoke('hi', { signal }),
} as const;
export type SdkName = keyof typeof sdks;
export const sdkNames = Object.keys(sdks) as readonly SdkName[];

function openaiOptions(origin: string) {
  return { baseURL: `${origin}/v1`, apiKey: 'any' };
}

export type Outage = {
  readonly title: string;
  readonly targets: readonly ProviderName[];
  readonly policies: JsonObject;
  /** Breaks what stands behind `model` of `provider`. */
  readonly strike: (gateway: RunningGateway, provider: ProviderName, model: string) => void;
};

const retryAfterSeconds = 4;

export const outages = {
  errors: {
    title: 'both targets answer 500',
    targets: ['p1', 'p2'],
    policies: {},
    strike: ({ simulation }, provider, model) =>
      simulation.control.fault(provider, 'server_error', { model }),
  },
  overload: {
    title: 'both targets are overloaded (503, 529)',
    targets: ['p1', 'p2'],
    policies: {},
    strike: ({ simulation }, provider, model) =>
      simulation.control.fault(provider, 'overload', { model }),
  },
  auth: {
    title: "both targets refuse the gateway's key (401)",
    targets: ['p1', 'p2'],
    policies: {},
    strike: ({ simulation }, provider, model) =>
      simulation.control.fault(provider, 'auth', { model }),
  },
  lone: {
    title: `a lone target answers 529 with \`Retry-After: ${retryAfterSeconds}\`, and the deadline is 2 s`,
    targets: ['p2b'],
    policies: { deadline: '2s' },
    strike: ({ simulation }, provider) =>
      simulation.control.script(provider, [
        {
          status: 529,
          headers: { 'retry-after': String(retryAfterSeconds) },
          body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
        },
      ]),
  },
} as const satisfies { readonly [name: string]: Outage };
export type OutageName = keyof typeof outages;
export const outageNames = Object.keys(outages) as readonly OutageName[];

/** One client try as the gateway saw it. */
export type Try = {
  readonly repeat: number;
  readonly upstreamCalls: number;
  readonly status: number;
  readonly row: ServedRowWithAttempts;
};

export type Run = {
  readonly tries: readonly Try[];
  /** As the providers counted them. */
  readonly upstreamCalls: number;
  /** What the SDK threw; null when it was given up before. */
  readonly error: unknown;
};

export class SdkOutages {
  readonly gateway: RunningGateway;

  private constructor(gateway: RunningGateway) {
    this.gateway = gateway;
  }

  /** Each combination has a tier and models of its own, so that none feels another's breakers and rests. */
  static async start(): Promise<SdkOutages> {
    const tiers = combinations().map(({ tier, outage, index }) => [tier, tierOf(outage, index)]);
    const gateway = await startGateway({
      document: { tiers: Object.fromEntries(tiers), log: { commit_wait: '15s' } },
    });
    for (const { outage, index } of combinations()) {
      for (const name of outage.targets) outage.strike(gateway, name, modelOf(name, index));
    }
    return new SdkOutages(gateway);
  }

  /**
   * One logical request of `sdk`, given up after `triesMax` tries (null = the SDK decides). `isVeiled`: the
   * gateway is kept from knowing a repeat, and the SDK from hearing that it is of no use.
   */
  async run(
    sdk: SdkName,
    outage: OutageName,
    { isVeiled, triesMax }: { readonly isVeiled: boolean; readonly triesMax: number | null },
  ): Promise<Run> {
    const tier = tierName(sdk, outage, isVeiled);
    const giveUp = new AbortController();
    const ended = sdks[sdk]({
      origin: this.gateway.origin,
      tier,
      signal: giveUp.signal,
      fetch: isVeiled ? veiledFetch() : undefined,
    }).then(
      () => new Error('it was served'),
      (error: unknown) => error,
    );
    const error =
      triesMax === null
        ? await ended
        : await Promise.race([ended, this.#triesReach(tier, triesMax)]);
    giveUp.abort();
    const tries = (await this.#rows(tier)).map((row) => ({
      repeat: Number(row['client_retry_count']),
      upstreamCalls: row.attempts.length,
      status: Number(row['status']),
      row,
    }));
    return { tries, error, upstreamCalls: this.#upstreamCalls(tier) };
  }

  close(): Promise<void> {
    return this.gateway.close();
  }

  async #triesReach(tier: string, count: number): Promise<null> {
    while ((await this.#rows(tier)).length < count) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return null;
  }

  /** Oldest first. */
  async #rows(tier: string): Promise<readonly ServedRowWithAttempts[]> {
    return (await this.gateway.rows(`?tier=${tier}`)).toReversed();
  }

  #upstreamCalls(tier: string): number {
    const found = combinations().find((one) => one.tier === tier);
    if (found === undefined) throw new Error(`no tier ${tier}`);
    const models = found.outage.targets.map((name) => modelOf(name, found.index));
    return this.gateway.simulation.control
      .requests()
      .filter(({ body }) => models.includes(JSON.parse(body.toString('utf8')).model)).length;
  }
}

function combinations() {
  return outageNames
    .flatMap((outage) =>
      sdkNames.flatMap((sdk) => [false, true].map((veil) => ({ outage, sdk, veil }))),
    )
    .map(({ outage, sdk, veil }, index) => ({
      tier: tierName(sdk, outage, veil),
      outage: outages[outage] as Outage,
      index,
    }));
}

function tierName(sdk: SdkName, outage: OutageName, isVeiled: boolean): string {
  return `${sdk}-${outage}${isVeiled ? '-veiled' : ''}`;
}

function modelOf(name: ProviderName, index: number): string {
  return `${modelNames[name]}-${String(20_250_000 + index)}`;
}

/** Waits that take no time, and no breaker: an open one would hide what the retry layers do to each other. */
function tierOf({ targets, policies }: Outage, index: number): JsonObject {
  return {
    retry: quickRetry,
    hedge: false,
    breaker: { failures: 1000 },
    ...policies,
    targets: targets.map((name) => ({ provider: name, model: modelOf(name, index) })),
  };
}

/** The same bytes never twice, no count of tries, and no word on whether to repeat. */
function veiledFetch(): typeof fetch {
  let tries = 0;
  return async (input, init) => {
    tries += 1;
    const headers = new Headers(init?.headers);
    headers.delete('x-stainless-retry-count');
    headers.delete('content-length');
    const body = `${String(init?.body)}${' '.repeat(tries)}`;
    const response = await fetch(input, { ...init, headers, body });
    const told = new Headers(response.headers);
    told.delete('x-should-retry');
    return new Response(response.body, { status: response.status, headers: told });
  };
}
