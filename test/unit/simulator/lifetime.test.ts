/** What a simulation holds open, and that it lets go of all of it. */
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { runSimulate } from '../../../src/cli/simulate.ts';
import { instantPace, type SimulationOptions } from '../../../src/simulator/settings.ts';
import { startProviders, startSimulator } from '../../../src/simulator/simulator.ts';
import { caseScripts, readCases } from '../../support/case-script.ts';
import {
  type SimulatedUpstream,
  startSimulatedUpstream,
} from '../../support/simulated-upstream.ts';
import { settle, VirtualClock } from '../../support/virtual-clock.ts';
import { bodyText, dataEvents, parseReply, rawRequest } from './raw-client.ts';
import {
  chatRequest,
  generateRequest,
  messagesRequest,
  streamed,
  type ValidRequest,
} from './requests.ts';

const opened: { readonly close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function start(options: SimulationOptions = {}): Promise<SimulatedUpstream> {
  const upstream = await startSimulatedUpstream(options);
  opened.push(upstream);
  return upstream;
}

function send(url: string, request: ValidRequest, options = {}) {
  return rawRequest(url + request.path, request.body, { headers: request.headers, ...options });
}

/** Sockets and servers of this process. */
function handles(): number {
  return process.getActiveResourcesInfo().filter((name) => /TCP|Timeout/.test(name)).length;
}

describe('closing', () => {
  it('ends every reply, whatever it was doing, and leaves no handle behind', async () => {
    const before = handles();
    const upstream = await startSimulatedUpstream();
    upstream.script('p1', [
      { sse: ['ROLE', 'HANG'] },
      { delay: 60_000, body: {} },
      { sse: ['SLEEP:60000'] },
      { socket: ['HANG'] },
    ]);
    upstream.control.fault('p2', 'silent', { forMs: 60_000 });
    upstream.control.closeIdleAfter('p3', 60_000);
    const replies = [
      ...Array.from({ length: 4 }, () => send(upstream.url('p1'), streamed('p1'))),
      send(upstream.url('p2'), streamed('p2')),
    ];
    await upstream.until(
      () => upstream.control.requests().filter((one) => one.answeredBy !== null).length === 5,
    );
    const idle = await send(upstream.url('p3'), generateRequest, {
      keepsAlive: true,
      leaveWhen: (text: string) => text.includes('\r\n0\r\n') || text.includes('responseId'),
    });
    expect(idle.end).toBe('left');
    await upstream.close();
    expect((await Promise.all(replies)).map(({ end }) => end)).toEqual(Array(5).fill('end'));
    expect(upstream.control.requests('p1').map(({ end }) => end)).toEqual(Array(4).fill('stopped'));
    // The clients' own ends close a moment later.
    for (let turn = 0; turn < 100 && handles() > before; turn += 1) await settle();
    expect(handles()).toBeLessThanOrEqual(before);
  });

  it('counts sockets down to none after clients that left in every way', async () => {
    const upstream = await start();
    upstream.script('p1', [{ sse: ['ROLE', { repeat: 1_000, steps: ['T:x ', 'SLEEP:5'] }] }]);
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        send(upstream.url('p1'), streamed('p1'), {
          leaveWhen: (text: string) => text.includes('"x "') || index % 4 === 0,
          leavesWithReset: index % 2 === 0,
        }),
      ),
    );
    const isQuiet = (): boolean =>
      upstream.control.openRequests('p1') === 0 && upstream.control.openSockets('p1') === 0;
    await upstream.until(isQuiet);
    expect(upstream.control.requests('p1').every(({ end }) => end === 'peer_closed')).toBe(true);
  });

  it('is possible twice, and a busy port is told', async () => {
    const simulation = await startSimulator({ pace: instantPace });
    const { port } = simulation.providers.openai;
    await expect(startProviders({ a: { vendor: 'openai', port } })).rejects.toThrow('EADDRINUSE');
    await simulation.close();
    await simulation.close();
  });
});

describe('a client', () => {
  it('that stops reading stops the writing, and costs no memory', async () => {
    const upstream = await start();
    upstream.script('p1', [{ sse: [`REP:100000:T:${'x'.repeat(2_000)}`] }]);
    const { port } = upstream.providers.p1;
    const body = JSON.stringify(streamed('p1').body);
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await upstream.until(() => upstream.requests('p1').at(-1)?.answeredBy?.kind === 'script');
    const before = process.memoryUsage().rss;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    expect(upstream.control.openRequests('p1')).toBe(1);
    socket.destroy();
    await upstream.until(() => upstream.requests('p1').at(-1)?.end === 'peer_closed');
  });

  it('that leaves in the middle of its body is not answered', async () => {
    const upstream = await start();
    const socket = connect(upstream.providers.p1.port, '127.0.0.1');
    socket.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{"model"',
    );
    await upstream.until(() => upstream.requests('p1').length === 1);
    socket.destroy();
    await upstream.until(() => upstream.requests('p1')[0]?.end === 'peer_closed');
    expect(upstream.requests('p1')[0]).toMatchObject({ status: null, answeredBy: null });
    expect(upstream.calls()).toEqual({});
  });

  it('with too large a body gets 413 and is cut off', async () => {
    const upstream = await start({ bodyBytesMax: 10_000 });
    const large = { ...messagesRequest, body: { text: 'x'.repeat(200_000) } };
    const reply = await send(upstream.url('p2'), large);
    expect(parseReply(reply.bytes)).toMatchObject({ status: 413 });
    expect(bodyText(reply)).toContain('request_too_large');
  });

  it.each([
    ['broken JSON', '{"model":'],
    ['100,000 brackets', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['100,000 objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['a number', '5'],
    ['nothing', ''],
  ])('with %s gets a 400 of the vendor, from each', async (_, body) => {
    const upstream = await start();
    for (const [name, { path, headers }] of [
      ['p1', chatRequest],
      ['p2', messagesRequest],
      ['p3', generateRequest],
    ] as const) {
      const reply = parseReply(
        (await rawRequest(upstream.url(name) + path, body, { headers })).bytes,
      );
      expect([name, reply.status]).toEqual([name, 400]);
      expect(JSON.parse(reply.body.toString())).toHaveProperty('error.message');
    }
  });

  it('that is loose is answered when the rules are off', async () => {
    const upstream = await start({ isStrict: false, auth: 'open' });
    for (const [name, path] of [
      ['p1', chatRequest.path],
      ['p2', messagesRequest.path],
      ['p3', generateRequest.path],
    ] as const) {
      const reply = await rawRequest(upstream.url(name) + path, {
        contents: 5,
        messages: [{ role: 7 }, null],
        tools: {},
      });
      expect(parseReply(reply.bytes).status).toBe(200);
    }
  });

  it('on a kept connection is let go some time after its last answer', async () => {
    const upstream = await start();
    upstream.given({ p1: 'server closes the idle socket 1 ms before the next request is written' });
    const reply = await send(upstream.url('p1'), chatRequest, { keepsAlive: true });
    expect(reply.end).toBe('end');
    expect(parseReply(reply.bytes)).toMatchObject({ status: 200, isComplete: true });
  });
});

describe('pace and lean mode', () => {
  it('waits before the first token and between tokens, on the clock that it was given', async () => {
    const clock = new VirtualClock();
    const upstream = await start({ clock, pace: { firstTokenMs: 300, gapMs: 25 } });
    const asking = send(upstream.url('p1'), streamed('p1'));
    const contents = async (text: Promise<string> | string): Promise<number> =>
      ((await text).match(/"content":"[^"]/g) ?? []).length;
    await upstream.until(() => upstream.requests('p1')[0]?.answeredBy?.kind === 'answer');
    await clock.advance(299);
    expect(upstream.requests('p1')[0]?.end).toBeNull();
    await clock.advance(1);
    await clock.advance(25 * 20);
    const reply = await asking;
    expect(await contents(bodyText(reply))).toBe(11);
    expect(clock.monotonicMs()).toBe(800);
  });

  it('answers fixed bytes, whole and streamed, and still takes scripts and faults', async () => {
    const upstream = await start({ lean: { words: 200, eventsPerWrite: 1 }, auth: 'any' });
    const whole = await rawRequest(`${upstream.url('p1')}/chat/completions`, { anything: true });
    expect(JSON.parse(bodyText(whole)).choices[0].message.content.split(' ')).toHaveLength(200);
    for (const name of ['p1', 'p2', 'p3'] as const) {
      const text = bodyText(await send(upstream.url(name), streamed(name)));
      expect(dataEvents(text).length).toBeGreaterThanOrEqual(201);
    }
    expect(upstream.requests('p1')).toEqual([]);
    expect(upstream.calls()).toEqual({ p1: 2, p2: 1, p3: 1 });
    upstream.control.fault('p1', 'overload', { count: 1 });
    expect(parseReply((await send(upstream.url('p1'), chatRequest)).bytes).status).toBe(503);
    expect(parseReply((await send(upstream.url('p1'), chatRequest)).bytes).status).toBe(200);
    expect(upstream.requests('p1')).toHaveLength(1);
  });
});

describe('ids', () => {
  it('replay with the seed and never repeat', async () => {
    const run = async (seed: number): Promise<readonly string[]> => {
      const upstream = await start({ seed });
      const ids: string[] = [];
      for (let turn = 0; turn < 3; turn += 1) {
        ids.push(JSON.parse(bodyText(await send(upstream.url('p1'), chatRequest))).id);
      }
      return ids;
    };
    const first = await run(1);
    expect(new Set(first).size).toBe(3);
    expect(await run(1)).toEqual(first);
    expect(await run(2)).not.toEqual(first);
  });
});

describe('the cases', () => {
  const cases = readCases();
  const name = 'each can be scripted, or says that it is done by hand';

  it.runIf(cases !== null)(cases === null ? `${name} (no cases found)` : name, async () => {
    const upstream = await start();
    const byHand: string[] = [];
    for (const { id, given } of cases ?? []) {
      for (const [provider, script] of Object.entries(caseScripts(given))) {
        if (script.kind === 'by_hand') byHand.push(`${id} ${provider}`);
        else upstream.given({ [provider]: given[provider] });
      }
    }
    expect(byHand).toEqual(['BR-03 p1']);
  });
});

describe('tiergate simulate', () => {
  it('prints base URLs and commands that work, and stops when told', async () => {
    const stopping = new AbortController();
    let text = '';
    const running = runSimulate({
      host: '127.0.0.1',
      port: 0,
      isInstant: true,
      signal: stopping.signal,
      write: (part) => {
        text += part;
      },
    });
    while (!text.includes('Ctrl-C stops.')) await new Promise((resolve) => setImmediate(resolve));
    const url = /openai +(http:\S+)/.exec(text)?.[1] ?? '';
    expect(
      parseReply((await rawRequest(`${url}/chat/completions`, chatRequest.body)).bytes).status,
    ).toBe(200);
    const [, faults = '', order = ''] = /curl -s -X POST (\S+) -d '(.*)'/.exec(text) ?? [];
    expect(parseReply((await rawRequest(faults, order)).bytes).status).toBe(201);
    expect(
      parseReply((await rawRequest(`${url}/chat/completions`, chatRequest.body)).bytes).status,
    ).toBe(503);
    stopping.abort();
    expect(await running).toBe(0);
    expect(process.listenerCount('SIGTERM') + process.listenerCount('SIGINT')).toBeLessThanOrEqual(
      2,
    );
  });

  it('says which ports it needs when one is taken', async () => {
    const simulation = await startSimulator();
    opened.push(simulation);
    const { port } = simulation.providers.openai;
    let text = '';
    const code = await runSimulate({ host: '127.0.0.1', port, write: (part) => (text += part) });
    expect(code).toBe(1);
    expect(text).toContain(`They need the ports ${port} to ${port + 4}`);
  });
});
