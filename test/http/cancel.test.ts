/** Clients that leave, at any phase: the upstream request ends with them, nobody is charged, nothing stays open. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CaseGateway, hello } from '../support/case-gateway.ts';
import { chat, type ServedRowWithAttempts } from '../support/running-gateway.ts';
import { pause, RawClient, until } from './raw-client.ts';

/** Five times the figure of the design (p99 200 ms): a bound for machines that do other things as well. */
const cancelMsMax = 1000;

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

function portOf(): number {
  return Number(new URL(cases.gateway.origin).port);
}

/** A raw request to `tier`; the result is connected and has sent all of it. */
async function begin(tier: string, over: Record<string, unknown> = {}): Promise<RawClient> {
  const client = await RawClient.open(portOf());
  client.post(JSON.stringify(chat(tier, over as never)));
  return client;
}

/** A row is written by a thread of its own, which a busy machine may keep waiting. */
const bound = { timeout: 20_000, interval: 100 };

async function inFlight(): Promise<number> {
  const status = await (await cases.gateway.admin('/status')).json();
  return (status as { totals: { in_flight: number } }).totals.in_flight;
}

async function pageOf(tier: string): Promise<readonly unknown[]> {
  const page = await (await cases.gateway.admin(`/served?tier=${tier}&limit=1000`)).json();
  return (page as { data: readonly unknown[] }).data;
}

async function latestRow(tier: string): Promise<ServedRowWithAttempts> {
  let rows: readonly ServedRowWithAttempts[] = [];
  await expect
    .poll(async () => {
      rows = await cases.gateway.rows(`?tier=${tier}&limit=1`);
      return rows.length;
    }, bound)
    .toBe(1);
  const [row] = rows;
  if (row === undefined) throw new Error('no row');
  return row;
}

/** Waits until the provider's request has ended by its peer; how long after `leftMs` that was. */
async function cancelledAfter(name: 'p1' | 'p2' | 'p3', leftMs: number): Promise<number> {
  await until(() => cases.received(name).at(-1)?.end === 'peer_closed');
  const closedMs = cases.received(name).at(-1)?.peerClosedMs ?? Number.POSITIVE_INFINITY;
  return closedMs - leftMs;
}

describe('a client that leaves', () => {
  it('before its body has ended: nobody is asked, and no row is left', async () => {
    const tier = await cases.tier(['p1'], { p1: hello.openai });
    const client = await RawClient.open(portOf());
    client.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 500\r\n\r\n{"model":',
    );
    await pause(50);
    client.socket.resetAndDestroy();
    await pause(100);
    expect(cases.calls('p1')).toBe(0);
    expect(await cases.gateway.rows(`?tier=${tier}`)).toEqual([]);
  });

  it('ST-28 before the headers of a whole reply: cancelled, not asked again, not counted', async () => {
    const tier = await cases.tier(['p1', 'p2'], { p1: [{ delay: 8000, body: { choices: [] } }] });
    const client = await begin(tier);
    await until(() => cases.calls('p1') === 1);
    await pause(100);
    const leftMs = performance.now();
    client.socket.destroy();
    expect(await cancelledAfter('p1', leftMs)).toBeLessThan(cancelMsMax);
    const row = await latestRow(tier);
    expect(row).toMatchObject({
      outcome: 'client_gone',
      error_class: 'client_gone',
      status: 499,
      attempt_count: 1,
    });
    expect(row.attempts[0]).toMatchObject({ outcome: 'client_gone', breaker_after: 'closed' });
    expect([cases.calls('p1'), cases.calls('p2')]).toEqual([1, 0]);
  });

  it('LG-04 before the first event of a stream: one row that tells when its attempt began', async () => {
    const tier = await cases.tier(['p1'], { p1: [{ sse: ['SLEEP:8000', 'T:x'] }] });
    const client = await begin(tier, { stream: true });
    await until(() => cases.calls('p1') === 1);
    await pause(300);
    const leftMs = performance.now();
    client.socket.resetAndDestroy();
    expect(await cancelledAfter('p1', leftMs)).toBeLessThan(cancelMsMax);
    const row = await latestRow(tier);
    expect(row).toMatchObject({ outcome: 'client_gone', provider: 'p1' });
    expect(row.attempts).toHaveLength(1);
    expect(Date.parse(String(row.attempts[0]?.['started_at']))).toBeGreaterThan(0);
  });

  it('during the hold: cancelled, and nothing of it was sent', async () => {
    const tier = await cases.tier(
      ['p1', 'p2'],
      { p1: [{ sse: ['ROLE', 'T:secret', 'HANG'] }] },
      { policies: { stream: { hold_max: '20s' }, timeout: { idle: '20s' } } },
    );
    const client = await begin(tier, { stream: true });
    await until(() => cases.calls('p1') === 1);
    await pause(100);
    const leftMs = performance.now();
    client.socket.destroy();
    expect(await cancelledAfter('p1', leftMs)).toBeLessThan(cancelMsMax);
    expect(client.text).toBe('');
    expect(await latestRow(tier)).toMatchObject({ outcome: 'client_gone', attempt_count: 1 });
    expect(cases.calls('p2')).toBe(0);
  });

  // Told at the very beginning, by each vendor in its own way.
  it.each([
    ['p1', 7, 3],
    ['p2', 8, 1],
    ['p3', 2, 0],
  ] as const)(
    'ST-29 in the middle of a stream from %s: cancelled, with the tokens that were told so far',
    async (name, input, output) => {
      const tier = await cases.tier([name], {
        [name]: [{ sse: ['USAGE:7:3', 'ROLE', { repeat: 200, steps: ['T:word ', 'SLEEP:50'] }] }],
      });
      const client = await begin(tier, { stream: true });
      await client.receives('word');
      const leftMs = performance.now();
      client.socket.destroy();
      expect(await cancelledAfter(name, leftMs)).toBeLessThan(cancelMsMax);
      await until(() => cases.control.openRequests(name) === 0, cancelMsMax);
      await until(() => cases.control.openSockets(name) === 0, cancelMsMax);
      const row = await latestRow(tier);
      expect(row).toMatchObject({ outcome: 'client_gone', provider: name, status: 499 });
      expect([row['input_tokens'], row['output_tokens']]).toEqual([input, output]);
      expect(row.attempts[0]).toMatchObject({ outcome: 'client_gone', breaker_after: 'closed' });
      expect(row.attempts[0]?.['ttft_ms']).toEqual(expect.any(Number));
    },
  );

  it('during a backoff: the sleep ends with it, and no further attempt is made', async () => {
    const tier = await cases.tier(
      ['p1'],
      { p1: [{ status: 500 }] },
      { policies: { retry: { base: '1s', cap: '1s', jitter: 'none' } } },
    );
    const client = await begin(tier);
    await until(() => cases.received('p1').some(({ end }) => end !== null));
    await pause(50);
    client.socket.destroy();
    const row = await latestRow(tier);
    expect(row).toMatchObject({ outcome: 'client_gone', attempt_count: 1 });
    expect(row['latency_ms']).toBeLessThan(1000);
    await pause(1100);
    expect(cases.calls('p1')).toBe(1);
  });
});

it('BR-04 twenty clients that leave are charged to nobody', async () => {
  const tier = await cases.tier(
    ['p1'],
    { p1: [{ sse: ['ROLE', 'T:a', 'HANG'] }] },
    { policies: { breaker: { failures: 1, min_span: '0s' }, stream: { hold_tokens: 0 } } },
  );
  const clients = await Promise.all(
    Array.from({ length: 20 }, () => begin(tier, { stream: true })),
  );
  await Promise.all(clients.map((client) => client.receives('data:')));
  for (const client of clients) client.socket.destroy();
  await expect
    .poll(async () => (await cases.gateway.rows(`?tier=${tier}&outcome=client_gone`)).length, bound)
    .toBe(20);
  cases.control.script('p1', hello.openai);
  expect((await cases.stream(tier)).row.attempts[0]).toMatchObject({ breaker_before: 'closed' });
});

it('ST-30 SE-12 two hundred clients that reset at random leave no socket, request or listener', async () => {
  const tier = await cases.tier(['p1'], {
    p1: [{ sse: ['ROLE', { repeat: 100, steps: ['T:x ', 'SLEEP:20'] }] }],
  });
  const unhandled: unknown[] = [];
  const note = (reason: unknown): number => unhandled.push(reason);
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
  const warnings: Error[] = [];
  const noteWarning = (warning: Error): number => warnings.push(warning);
  process.on('warning', noteWarning);
  const leave = async (nth: number): Promise<void> => {
    const client = await begin(tier, { stream: nth % 2 === 0 });
    await pause(1 + ((nth * 7) % 50));
    client.socket.resetAndDestroy();
  };
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(Array.from({ length: 50 }, (_, nth) => leave(nth)));
  }
  await expect.poll(async () => (await pageOf(tier)).length, bound).toBe(200);
  await until(() => cases.control.openRequests('p1') === 0);
  await until(() => cases.control.openSockets('p1') === 0);
  await expect.poll(inFlight, bound).toBe(0);
  process.off('unhandledRejection', note);
  process.off('uncaughtException', note);
  process.off('warning', noteWarning);
  expect(unhandled).toEqual([]);
  expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
  cases.control.script('p1', hello.openai);
  expect((await cases.stream(tier)).stream.text).toBe('hello');
});

it('ST-31 a client that stops reading slows the provider down, and its row comes when it leaves', async () => {
  const tier = await cases.tier(['p1'], {
    p1: [{ sse: ['ROLE', { repeat: 8000, steps: [`T:${'x'.repeat(2000)}`] }, 'FIN:stop', 'DONE'] }],
  });
  const client = await begin(tier, { stream: true });
  await client.receives('data:');
  client.socket.pause();
  await pause(700);
  expect(cases.received('p1')[0]?.end).toBeNull();
  const leftMs = performance.now();
  client.socket.destroy();
  expect(await cancelledAfter('p1', leftMs)).toBeLessThan(cancelMsMax);
  expect(await latestRow(tier)).toMatchObject({ outcome: 'client_gone' });
  await expect.poll(inFlight, bound).toBe(0);
});
