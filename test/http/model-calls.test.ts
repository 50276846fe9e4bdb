import { afterEach, describe, expect, it } from 'vitest';
import type { Call } from '../../src/pipeline/answer.ts';
import {
  clientKey,
  collectingLog,
  type EdgeUnderTest,
  type LogLine,
  postCall,
  startEdge,
  streamAnswer,
  wholeAnswer,
} from './edge-under-test.ts';
import { RawClient } from './raw-client.ts';

let edge: EdgeUnderTest;

afterEach(() => edge.server.close());

function lastCall(): Call {
  const call = edge.pipeline.calls.at(-1);
  if (call === undefined) throw new Error('the pipeline saw no call');
  return call;
}

describe('a model call', () => {
  it('reaches the pipeline with its body as sent and its answer comes back whole', async () => {
    edge = await startEdge(() => wholeAnswer('{"text":"grüße"}'));
    const response = await postCall(edge, '{"model": "fast",   "x": "ü"}');
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('{"text":"grüße"}');
    expect(response.headers.get('content-length')).toBe('18');
    expect(response.headers.get('transfer-encoding')).toBeNull();
    expect(lastCall().body.toString()).toBe('{"model": "fast",   "x": "ü"}');
    expect(lastCall().tierInPath).toBeNull();
    expect(lastCall().keyId).toBeNull();
  });

  it.each([
    ['/v1/chat/completions', null],
    ['/v1/chat/completions?key=whatever', null],
    ['/v1/tiers/fast/chat/completions', 'fast'],
    ['/v1/tiers/smart/v1/chat/completions', 'smart'],
    ['/v1/tiers/a%2Fb/chat/completions', 'a/b'],
  ])('POST %s names the tier %s', async (path, tier) => {
    edge = await startEdge(() => wholeAnswer());
    expect((await postCall(edge, {}, { path })).status).toBe(200);
    expect(lastCall().tierInPath).toBe(tier);
  });

  it('passes status, headers and bytes of an error answer', async () => {
    edge = await startEdge(() => ({
      kind: 'whole',
      status: 429,
      headers: { 'content-type': 'application/json', 'retry-after': '7', 'x-should-retry': 'true' },
      body: Buffer.from('{"error":1}'),
    }));
    const response = await postCall(edge);
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(await response.text()).toBe('{"error":1}');
  });

  it('puts a body in many packets together again', async () => {
    edge = await startEdge(() => wholeAnswer());
    const client = await RawClient.open(edge.port);
    const body = JSON.stringify({ model: 'fast', text: 'ä'.repeat(100) });
    client.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    for (const byte of Buffer.from(body))
      client.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]));
    client.write('0\r\n\r\n');
    await client.receives('{"ok":true}');
    expect(lastCall().body.toString()).toBe(body);
    client.socket.destroy();
  });

  it('serves one connection again and again', async () => {
    edge = await startEdge((call) => wholeAnswer(call.body));
    const client = await RawClient.open(edge.port);
    for (let round = 0; round < 5; round += 1) {
      client.post(`{"round":${round}}`);
      await client.receives(`{"round":${round}}`);
    }
    expect(client.isClosed).toBe(false);
    client.socket.destroy();
  });

  it('takes an empty body and lets the pipeline judge it', async () => {
    edge = await startEdge(() => wholeAnswer('{"error":"empty"}', 400));
    const response = await postCall(edge, '');
    expect(response.status).toBe(400);
    expect(lastCall().body.length).toBe(0);
  });

  it('SE-02 SE-03 gives no credential on, in whichever header it came', async () => {
    edge = await startEdge(() => wholeAnswer(), { withClientKey: true });
    const ways: Record<string, string>[] = [
      { authorization: `Bearer ${clientKey}` },
      { authorization: `bearer ${clientKey}` },
      { 'x-api-key': clientKey },
      { 'api-key': clientKey },
      { 'x-goog-api-key': clientKey },
      { authorization: 'Bearer wrong', 'x-api-key': clientKey },
    ];
    for (const headers of ways) {
      expect((await postCall(edge, {}, { headers })).status).toBe(200);
      expect(lastCall().keyId).toBe('env');
      expect(JSON.stringify(lastCall().headers)).not.toContain(clientKey);
    }
    const inQuery = await postCall(edge, {}, { path: `/v1/chat/completions?key=${clientKey}` });
    expect(inQuery.status).toBe(200);
    expect(JSON.stringify(lastCall().headers)).not.toContain(clientKey);
  });

  it('answers a fault of the pipeline with 500 in the dialect, and says nothing of it', async () => {
    const lines: LogLine[] = [];
    edge = await startEdge(() => Promise.reject(new Error('secret detail at /tmp/x')), {
      log: collectingLog(lines),
    });
    const response = await postCall(edge);
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).toContain('internal');
    expect(text).not.toContain('secret detail');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.level).toBe('error');
  });

  it('answers with a header that no header may hold as a fault of ours, not with a crash', async () => {
    edge = await startEdge(() => ({
      kind: 'whole',
      status: 200,
      headers: { 'x-bad': 'a\r\nb' },
      body: '',
    }));
    expect((await postCall(edge)).status).toBe(500);
  });
});

describe('a stream', () => {
  it('ST-25 flushes each chunk as it comes, uncompressed, with headers that proxies obey', async () => {
    const gates: (() => void)[] = [];
    async function* chunks(): AsyncGenerator<string, void, undefined> {
      for (const text of ['data: one\n\n', 'data: two\n\n', 'data: [DONE]\n\n']) {
        yield text;
        await new Promise<void>((resolve) => gates.push(resolve));
      }
    }
    edge = await startEdge(() => streamAnswer(chunks()));
    const response = await postCall(edge, {}, { headers: { 'accept-encoding': 'gzip, br' } });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('content-encoding')).toBeNull();
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (const expected of ['data: one\n\n', 'data: two\n\n', 'data: [DONE]\n\n']) {
      expect((await reader?.read())?.value).toBe(expected);
      gates.shift()?.();
    }
    expect((await reader?.read())?.done).toBe(true);
  });

  it('sends its head before the first chunk exists', async () => {
    let release: () => void = () => undefined;
    async function* chunks(): AsyncGenerator<string, void, undefined> {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      yield 'data: late\n\n';
    }
    edge = await startEdge(() => streamAnswer(chunks()));
    const response = await postCall(edge);
    expect(response.status).toBe(200);
    release();
    expect(await response.text()).toBe('data: late\n\n');
  });

  it('writes what was produced in one tick as one chunk', async () => {
    async function* chunks(): AsyncGenerator<Buffer | string, void, undefined> {
      for (let n = 0; n < 50; n += 1) yield n % 2 === 0 ? 'ab' : Buffer.from('cd');
    }
    edge = await startEdge(() => streamAnswer(chunks()));
    const client = await RawClient.open(edge.port);
    client.post('{}', ['connection: close']);
    await client.closes();
    const body = client.text.split('\r\n\r\n').slice(1).join('\r\n\r\n');
    expect(body).toBe(`64\r\n${'abcd'.repeat(25)}\r\n0\r\n\r\n`);
  });

  it('carries chunks of any size unharmed', async () => {
    const parts = [Buffer.alloc(300_000, 1), 'é'.repeat(200_000), Buffer.alloc(70_000, 2), 'end'];
    async function* chunks(): AsyncGenerator<Buffer | string, void, undefined> {
      yield* parts;
    }
    edge = await startEdge(() => streamAnswer(chunks()));
    const received = Buffer.from(await (await postCall(edge)).arrayBuffer());
    const sent = Buffer.concat(parts.map((part) => Buffer.from(part)));
    expect(received.equals(sent)).toBe(true);
  });

  it('ends with the dialect\u2019s error event when the gateway fails within it', async () => {
    const lines: LogLine[] = [];
    async function* chunks(): AsyncGenerator<string, void, undefined> {
      yield 'data: one\n\n';
      throw new Error('broken inside');
    }
    edge = await startEdge(() => streamAnswer(chunks()), { log: collectingLog(lines) });
    const text = await (await postCall(edge)).text();
    expect(text).toBe('data: one\n\ndata: {"error":"stream_interrupted"}\n\n');
    expect(lines.map(({ level }) => level)).toEqual(['error']);
  });
});
