/** One retry layer, seen with the real SDKs and the retries that they come with, while nobody answers (R32). */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type OutageName,
  outageNames,
  type Run,
  type SdkName,
  SdkOutages,
  sdkNames,
} from '../support/sdk-outages.ts';

const outcomes = new Map<string, Promise<Run>>();
let outages: SdkOutages;

/** All at once, since what takes time is that SDKs wait. */
beforeAll(async () => {
  outages = await SdkOutages.start();
  for (const sdk of sdkNames) {
    for (const outage of outageNames) {
      for (const isVeiled of [false, true]) {
        const run = outages.run(sdk, outage, {
          isVeiled,
          triesMax: triesMax(sdk, outage, isVeiled),
        });
        outcomes.set(`${sdk} ${outage} ${isVeiled}`, run);
      }
    }
  }
});
afterAll(() => outages.close());

/** Those that take long are given up after their first repeat; null = the SDK decides. */
function triesMax(sdk: SdkName, outage: OutageName, isVeiled: boolean): number | null {
  const isObeying = sdk === 'openai' || sdk === 'anthropic';
  const isQuick = outage !== 'lone' && (outage !== 'auth' || !isVeiled);
  return isObeying && isQuick ? null : 2;
}

async function outcome(sdk: SdkName, outage: OutageName, isVeiled = false): Promise<Run> {
  const run = await outcomes.get(`${sdk} ${outage} ${isVeiled}`);
  if (run === undefined) throw new Error(`no run of ${sdk}`);
  return run;
}

/** Upstream calls of each try, in order. */
function calls({ tries }: Run): readonly number[] {
  return tries.map(({ upstreamCalls }) => upstreamCalls);
}

describe.each(['errors', 'overload'] as const)('%s: two targets, four asks of each', (outage) => {
  it.each([
    ['openai', OpenAI.InternalServerError],
    ['anthropic', Anthropic.InternalServerError],
  ] as const)('R32 %s is told that a repeat is of no use, and makes none', async (sdk, kind) => {
    const run = await outcome(sdk, outage);
    expect(calls(run)).toEqual([8]);
    expect(run.upstreamCalls).toBe(8);
    expect(run.error).toBeInstanceOf(kind);
    expect(run.error).toMatchObject({ status: 502 });
  });

  it.each(['openai', 'anthropic'] as const)(
    'R32 %s, were it not told: every try is multiplied',
    async (sdk) => {
      const run = await outcome(sdk, outage, true);
      expect(calls(run)).toEqual([8, 8, 8]);
      expect(run.upstreamCalls).toBe(24);
    },
  );

  it.each(['ai', 'langchain'] as const)(
    'R32 %s is not stopped, but its repeat is known by its bytes, and each target is asked once',
    async (sdk) => {
      const run = await outcome(sdk, outage);
      expect(calls(run)).toEqual([8, 2]);
      expect(run.upstreamCalls).toBe(10);
      expect(run.tries.map(({ repeat }) => repeat)).toEqual([0, 1]);
      const repeated = run.tries[1]?.row;
      expect(repeated).toMatchObject({ retry_count: 0, backoff_ms: 0, failover_count: 1 });
    },
  );

  it.each(['ai', 'langchain'] as const)(
    'R32 %s, were its repeat not known: it is multiplied',
    async (sdk) => {
      const run = await outcome(sdk, outage, true);
      expect(calls(run)).toEqual([8, 8]);
      expect(run.tries.map(({ repeat }) => repeat)).toEqual([0, 0]);
    },
  );
});

describe('targets that refuse the key', () => {
  it.each(['openai', 'anthropic'] as const)('R32 %s makes no repeat', async (sdk) => {
    const run = await outcome(sdk, 'auth');
    expect(calls(run)).toEqual([2]);
    expect(run.error).toMatchObject({ status: 502 });
  });

  it.each(['ai', 'langchain'] as const)('R32 %s finds the targets parked', async (sdk) => {
    const run = await outcome(sdk, 'auth');
    expect(calls(run)).toEqual([2, 0]);
    expect(run.tries.map(({ repeat, status }) => [repeat, status])).toEqual([
      [0, 502],
      [1, 503],
    ]);
  });
});

describe('a lone target that says when to come back', () => {
  it.each(['openai', 'anthropic', 'ai'] as const)(
    'R32 %s waits, and the target is asked once more',
    async (sdk) => {
      const run = await outcome(sdk, 'lone');
      expect(calls(run)).toEqual([1, 1]);
      expect(run.tries.map(({ repeat, status }) => [repeat, status])).toEqual([
        [0, 503],
        [1, 503],
      ]);
      const [first, second] = run.tries.map(({ row }) => Date.parse(String(row['started_at'])));
      expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(3990);
    },
  );

  it('R32 langchain does not wait, and gets the failure again without a call', async () => {
    const run = await outcome('langchain', 'lone');
    expect(calls(run)).toEqual([1, 0]);
    const [first, again] = run.tries;
    expect(again).toMatchObject({ repeat: 1, status: 503 });
    expect(again?.row).toMatchObject({ error_class: 'no_target_available', attempts: [] });
    expect(again?.row.id).not.toBe(first?.row.id);
  });

  it('R32 langchain, were its repeat not known: the target is asked before its time', async () => {
    expect(calls(await outcome('langchain', 'lone', true))).toEqual([1, 1]);
  });
});

it('R32 the operator is told of the key whose SDKs repeat', async () => {
  const runs = await Promise.all(outcomes.values());
  const repeats = runs.flatMap(({ tries }) => tries).filter(({ repeat }) => repeat > 0).length;
  const status = (await (await outages.gateway.admin('/status')).json()) as {
    readonly totals: { readonly client_repeats: number };
    readonly alerts: readonly { readonly kind: string; readonly subject: string }[];
  };
  expect(status.totals.client_repeats).toBeGreaterThanOrEqual(repeats);
  expect(repeats).toBeGreaterThanOrEqual(10);
  expect(status.alerts).toContainEqual(
    expect.objectContaining({ kind: 'stacked_retries', subject: 'no key' }),
  );
});
