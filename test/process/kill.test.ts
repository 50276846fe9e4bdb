/** `kill -9` at random moments under load: every answer that a client saw to its end has its row after the restart. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { type Simulation, startSimulator } from '../../src/simulator/simulator.ts';
import { effort } from '../support/effort.ts';
import { type GatewayProcess, Workplace } from './gateway-process.ts';

const rounds = effort(20, 200);
const clientsAtOnce = 8;
/** The process is killed once clients have seen up to so many answers of the round, and a moment later. */
const answersMax = 40;
const momentMsMax = 20;
const random = seededRandom(7);

let simulation: Simulation<'openai' | 'anthropic' | 'gemini'>;
beforeAll(async () => {
  simulation = await startSimulator({ auth: 'open', pace: { firstTokenMs: 1, gapMs: 1 } });
});
afterAll(() => simulation.close());

let place: Workplace;
let directory = '';
beforeEach(() => {
  place = new Workplace();
  directory = place.directory();
  writeFileSync(join(directory, 'tiergate.json'), JSON.stringify(documentOf(simulation)));
});
afterEach(() => place.close());

function documentOf({ providers }: typeof simulation): object {
  return {
    providers: {
      a: { kind: 'openai', base_url: providers.openai.url },
      b: { kind: 'anthropic', base_url: providers.anthropic.url },
    },
    tiers: {
      fast: {
        targets: [
          { provider: 'a', model: 'gpt-5.1' },
          { provider: 'b', model: 'claude-haiku-4-5' },
        ],
      },
    },
  };
}

function serve(): GatewayProcess {
  return place.run(['serve', '--port', '0', '--data', 'data'], directory);
}

/** What clients saw to its end before the process died: ids of rows. */
type Seen = { readonly complete: Set<string>; begun: number };

async function askOnce(origin: string, isStream: boolean, seen: Seen): Promise<void> {
  seen.begun += 1;
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'fast',
      stream: isStream,
      messages: [{ role: 'user', content: 'hello' }],
    }),
  });
  const text = await response.text();
  const isWhole = isStream ? text.includes('data: [DONE]') : text.endsWith('}');
  const id = response.headers.get('x-tiergate-request-id');
  if (response.status === 200 && isWhole && id !== null) seen.complete.add(id);
}

/** Clients that ask without a pause until the process is gone. */
async function load(origin: string, gateway: GatewayProcess, seen: Seen): Promise<void> {
  const client = async (nth: number): Promise<void> => {
    for (let turn = nth; gateway.child.exitCode === null && !gateway.child.killed; turn += 1) {
      try {
        await askOnce(origin, turn % 2 === 0, seen);
      } catch {
        // The process was killed while this client waited: it saw no end, and nothing is owed to it.
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: clientsAtOnce }, (_, nth) => client(nth)));
}

async function untilKill(seen: Seen, answers: number): Promise<void> {
  await expect
    .poll(() => seen.complete.size >= answers, { timeout: 30_000, interval: 1 })
    .toBe(true);
  await new Promise((resolve) => setTimeout(resolve, random.next() * momentMsMax));
}

async function rowsOf(origin: string): Promise<ReadonlyMap<string, string>> {
  const key = readFileSync(join(directory, 'data', 'admin.key'), 'utf8').trim();
  const outcomes = new Map<string, string>();
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const response = await fetch(`${origin}/admin/v1/served?limit=1000${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const page = (await response.json()) as {
      readonly data: readonly { readonly id: string; readonly outcome: string }[];
      readonly next_cursor: string | null;
    };
    for (const { id, outcome } of page.data) outcomes.set(id, outcome);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return outcomes;
}

describe('kill -9', () => {
  it(
    `in ${rounds} rounds under load loses no answer that a client saw to its end`,
    async () => {
      const all = new Set<string>();
      let gateway = serve();
      for (let round = 0; round < rounds; round += 1) {
        const origin = await gateway.origin();
        const seen: Seen = { complete: new Set(), begun: 0 };
        const running = load(origin, gateway, seen);
        await untilKill(seen, Math.ceil(random.next() * answersMax));
        gateway.signal('SIGKILL');
        await Promise.all([running, gateway.ended]);
        for (const id of seen.complete) all.add(id);
        gateway = serve();
      }
      const outcomes = await rowsOf(await gateway.origin());
      expect(all.size).toBeGreaterThan(rounds);
      const unserved = [...all].filter((id) => outcomes.get(id) !== 'served');
      expect(unserved).toEqual([]);
      gateway.signal('SIGTERM');
      expect(await gateway.ended).toBe(0);
    },
    rounds * 20_000,
  );

  it('LG-04 in the middle of a slow request leaves a row that says it was lost', async () => {
    const first = serve();
    const origin = await first.origin();
    simulation.control.fault('openai', 'silent');
    const asked = askOnce(origin, true, { complete: new Set(), begun: 0 }).catch(() => 'cut');
    await expect.poll(() => simulation.control.openRequests('openai')).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 700));
    first.signal('SIGKILL');
    await first.ended;
    expect(await asked).toBe('cut');
    simulation.control.clear();
    const outcomes = await rowsOf(await serve().origin());
    expect([...outcomes.values()]).toEqual(['lost']);
  }, 60_000);
});
