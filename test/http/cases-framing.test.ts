/** Bytes cut anywhere, every line end, comments, oddities and limits of an event stream: the cases of streaming. */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CaseGateway, hello } from '../support/case-gateway.ts';
import { type LoopbackServer, startHttp } from '../support/loopback-server.ts';

let cases: CaseGateway;
/** What stands in p2b's place: the test itself writes its answers. */
let byHand: LoopbackServer;
const asked: ((response: ServerResponse) => void)[] = [];
beforeAll(async () => {
  byHand = await startHttp((_request, response) => asked.shift()?.(response));
  cases = await CaseGateway.start({
    providers: {
      p1b: { max_event: '64kb' },
      p2b: { kind: 'openai', base_url: byHand.origin },
    },
  });
});
afterAll(async () => {
  await cases.close();
  await byHand.close();
});

const utf8 = '你好🌍é';

describe('chunk boundaries', () => {
  it.each([0, 1, 2, 3, 5, 7, 64])(
    'ST-13 characters of several bytes survive writes of %i bytes',
    async (split) => {
      const tier = await cases.tier(['p1'], {
        p1: [{ sse: ['ROLE', `T:${utf8}`, 'FIN:stop', 'DONE'], split }],
      });
      const { stream } = await cases.stream(tier);
      expect(stream.text).toBe(utf8);
      expect(stream.raw).not.toContain('\uFFFD');
      expect(stream.isDone).toBe(true);
    },
  );

  it.each(['p2', 'p3'] as const)('ST-13 translated from %s, byte by byte', async (name) => {
    const finish = name === 'p2' ? ['FIN:end_turn', 'DONE'] : ['FIN:STOP'];
    const steps = name === 'p2' ? ['ROLE', `T:${utf8}`] : [`T:${utf8}`];
    const tier = await cases.tier([name], { [name]: [{ sse: [...steps, ...finish], split: 1 }] });
    expect((await cases.stream(tier)).stream).toMatchObject({
      text: utf8,
      finishReasons: ['stop'],
    });
  });

  it('ST-17 events cut at every 37th byte', async () => {
    const tier = await cases.tier(['p1'], {
      p1: [{ sse: ['ROLE', 'REP:50:T:abc ', 'FIN:stop', 'DONE'], split: 37 }],
    });
    const { stream, row } = await cases.stream(tier);
    expect(stream.text).toBe('abc '.repeat(50));
    expect(row['malformed_events']).toBe(0);
  });

  it.each([
    ['\r\n', 0],
    ['\r\n', 1],
    ['\r', 0],
    ['\r', 1],
  ])('ST-14 line end %j in writes of %i bytes', async (eol, split) => {
    const tier = await cases.tier(['p1'], {
      p1: [{ sse: ['ROLE', 'T:hello', 'FIN:stop', 'DONE'], eol, split }],
    });
    const { stream, row } = await cases.stream(tier);
    expect(stream).toMatchObject({ text: 'hello', isDone: true, finishReasons: ['stop'] });
    expect(row).toMatchObject({ outcome: 'served', malformed_events: 0 });
  });
});

describe('comments and odd events', () => {
  it('ST-15 comments are comments or nothing, never data', async () => {
    const tier = await cases.tier(['p1'], {
      p1: [
        {
          sse: ['C: OPENROUTER PROCESSING', 'ROLE', 'C:', 'T:hello', 'C: x', 'FIN:stop', 'DONE'],
        },
      ],
    });
    const { stream } = await cases.stream(tier);
    expect(stream.text).toBe('hello');
    for (const line of stream.raw.split('\n')) expect(line).toMatch(/^(data: |:|$)/);
  });

  it('ST-16 a comment between events ends nothing', async () => {
    const delta = (text: string): string =>
      `: ping\\n\\ndata: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\\n\\n`;
    const tier = await cases.tier(['p1'], {
      p1: [{ sse: ['ROLE', `RAW:${delta('x')}${delta('y')}`, 'FIN:stop', 'DONE'] }],
    });
    expect((await cases.stream(tier)).stream).toMatchObject({ text: 'xy', isDone: true });
  });

  it('ST-18 half an event at the end is an interruption, and the next target answers', async () => {
    const tier = await cases.tier(['p3', 'p1'], {
      p3: [{ sse: ['T:par', 'RAW:data: {"candidates":[{"content":{"parts":[{"te', 'END'] }],
      p1: hello.openai,
    });
    const { stream, row } = await cases.stream(tier);
    expect(stream.text).toBe('hello');
    expect(row).toMatchObject({ outcome: 'served', provider: 'p1', recovery: 'restarted' });
    expect(row.attempts[0]).toMatchObject({
      provider: 'p3',
      error_class: 'stream_interrupted',
      outcome: 'failed',
    });
  });

  it('ST-19 events without choices change nothing, and the usage arrives', async () => {
    const tier = await cases.tier(['p1'], {
      p1: [
        {
          sse: [
            'RAW:data: {"choices":[],"prompt_filter_results":[]}\\n\\n',
            'ROLE',
            'T:hel',
            'RAW:data: {"choices":null}\\n\\n',
            'RAW:data: {"id":"x"}\\n\\n',
            'T:lo',
            'FIN:stop',
            'USAGE:3:2',
            'DONE',
          ],
        },
      ],
    });
    const { stream, row } = await cases.stream(tier, { stream_options: { include_usage: true } });
    expect(stream.text).toBe('hello');
    const usage = stream.events.map((event) => event.usage).findLast((one) => one != null);
    expect(usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 });
    expect(row).toMatchObject({ input_tokens: 3, output_tokens: 2, outcome: 'served' });
  });

  it('ST-26 an event beyond max_event fails the attempt; no answer lacks its middle', async () => {
    const large = `RAW:data: {"choices":[{"delta":{"content":"${'x'.repeat(300_000)}"}}]}\\n\\n`;
    const tier = await cases.tier(['p1b', 'p2'], {
      p1b: [{ sse: ['ROLE', 'T:ok ', large, 'FIN:stop', 'DONE'] }],
      p2: hello.anthropic,
    });
    const { stream, row } = await cases.stream(tier);
    expect(stream).toMatchObject({ text: 'hello', isDone: true });
    expect(row.attempts[0]).toMatchObject({ provider: 'p1b', error_class: 'malformed_response' });
    const policies = { stream: { hold_tokens: 0, on_interrupt: 'fail_forward' } };
    const open = await cases.tier(
      ['p1b', 'p2'],
      { p1b: [{ sse: ['ROLE', 'T:ok ', 'SLEEP:30', large, 'FIN:stop', 'DONE'] }] },
      { policies },
    );
    const late = await cases.stream(open);
    expect(late.stream).toMatchObject({ text: 'ok ', isDone: false, finishReasons: [] });
    expect(late.stream.error).not.toBeNull();
    expect(late.row).toMatchObject({ outcome: 'failed', recovery: 'failed_forward' });
  });

  it('ST-27 a finish reason on every chunk is one finish', async () => {
    const chunk = (text: string): string =>
      `RAW:data: {"candidates":[{"content":{"parts":[{"text":"${text}"}]},"finishReason":"STOP"}]}\\n\\n`;
    const tier = await cases.tier(['p3'], { p3: [{ sse: [chunk('he'), chunk('llo'), 'END'] }] });
    const { stream } = await cases.stream(tier);
    expect(stream).toMatchObject({ text: 'hello', finishReasons: ['stop'], isDone: true });
  });

  it('one unreadable event is skipped and marked in the row, two fail the attempt', async () => {
    const broken = 'RAW:data: {"choices":[{"delta"\\n\\n';
    const tier = await cases.tier(['p1', 'p2'], {
      p1: [
        { sse: ['ROLE', 'T:fine', broken, 'FIN:stop', 'DONE'] },
        { sse: ['ROLE', 'T:not', broken, broken, 'FIN:stop', 'DONE'] },
      ],
      p2: hello.anthropic,
    });
    const one = await cases.stream(tier);
    expect(one.stream.text).toBe('fine');
    expect(one.row).toMatchObject({ outcome: 'served', malformed_events: 1 });
    const two = await cases.stream(tier);
    expect(two.stream.text).toBe('hello');
    expect(two.row.attempts[0]).toMatchObject({ error_class: 'malformed_response' });
  });
});

describe('pace and encoding', () => {
  it('ST-25 FO-10 each event leaves as it comes, with headers that proxies obey', async () => {
    const policies = { stream: { hold_tokens: 0 } };
    const tier = await cases.tier(['p2b'], {}, { policies });
    const upstream = new Promise<ServerResponse>((resolve) => asked.push(resolve));
    const answer = cases.post(tier, { stream: true });
    const provider = await upstream;
    provider.writeHead(200, { 'content-type': 'text/event-stream' });
    const write = (choice: object): boolean =>
      provider.write(
        `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, ...choice }] })}\n\n`,
      );
    const tookMs: number[] = [];
    let sentMs = performance.now();
    write({ delta: { content: 'word 0' } });
    const response = await answer;
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('cache-control')).toContain('no-cache');
    expect(response.headers.get('content-encoding')).toBeNull();
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let received = '';
    for (let word = 0; word < 10; word += 1) {
      // Whoever gathers events would keep this one for ever: nothing comes after it.
      while (!received.includes(`word ${word}`)) received += (await reader?.read())?.value ?? '';
      tookMs.push(performance.now() - sentMs);
      sentMs = performance.now();
      write({ delta: { content: `word ${word + 1}` } });
    }
    write({ delta: {}, finish_reason: 'stop' });
    provider.end('data: [DONE]\n\n');
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      received += read.value;
    }
    expect(received).toContain('[DONE]');
    expect(tookMs.toSorted((one, other) => one - other)[5]).toBeLessThan(50);
  });

  it('SE-13 compressed answers are opened; what the client gets says what it is', async () => {
    const tier = await cases.tier(['p1'], {
      p1: [
        { headers: { 'content-encoding': 'gzip' }, body: 'ok' },
        {
          headers: { 'content-encoding': 'br' },
          sse: ['ROLE', 'T:hello', 'FIN:stop', 'DONE'],
        },
      ],
    });
    const whole = await cases.post(tier, {}, { headers: { 'accept-encoding': 'gzip' } });
    const body = await whole.clone().text();
    expect(whole.headers.get('content-encoding')).toBeNull();
    expect(whole.headers.get('content-length')).toBe(String(Buffer.byteLength(body)));
    expect(await whole.json()).toMatchObject({ choices: [{ message: { content: 'ok' } }] });
    const { response, stream } = await cases.stream(tier);
    expect(stream.text).toBe('hello');
    expect(response.headers.get('content-encoding')).toBeNull();
  });
});
