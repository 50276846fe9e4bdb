import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type EdgeUnderTest,
  postCall,
  snapshotWith,
  startEdge,
  streamAnswer,
  wholeAnswer,
} from './edge-under-test.ts';
import { pause, RawClient, until } from './raw-client.ts';

const limit = 1024 * 1024;
const kib64 = 64 * 1024;
let edge: EdgeUnderTest;

afterEach(() => edge.server.close());

describe('SE-11 the body limit', () => {
  it('SE-11 refuses a length that is too large before a byte of it is read', async () => {
    edge = await startEdge(() => wholeAnswer());
    const client = await RawClient.open(edge.port);
    client.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${limit + 1}\r\n\r\n`,
    );
    await client.receives('413 Payload Too Large');
    expect(client.text).toContain('body_too_large');
    expect(client.text).toContain('x-should-retry: false');
    expect(edge.pipeline.calls).toHaveLength(0);
    client.socket.destroy();
  });

  it('SE-11 refuses a chunked body as soon as it is past the limit', async () => {
    edge = await startEdge(() => wholeAnswer());
    const client = await RawClient.open(edge.port);
    client.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n',
    );
    const piece = Buffer.concat([
      Buffer.from('10000\r\n'),
      Buffer.alloc(kib64, 97),
      Buffer.from('\r\n'),
    ]);
    let sent = 0;
    while (!client.text.includes('413') && sent < 10 * limit) {
      client.write(piece);
      sent += kib64;
      await pause(1);
    }
    expect(client.text).toContain('413 Payload Too Large');
    // What the kernel took ahead of the gateway's reads is on top of its own 64 KiB.
    expect(sent).toBeLessThan(limit + 40 * kib64);
    expect(edge.pipeline.calls).toHaveLength(0);
    client.socket.destroy();
  });

  it('SE-11 takes a body of exactly the limit', async () => {
    edge = await startEdge((call) => wholeAnswer(String(call.body.length)));
    expect(await (await postCall(edge, 'x'.repeat(limit))).text()).toBe(String(limit));
    expect((await postCall(edge, 'x'.repeat(limit + 1))).status).toBe(413);
  });

  it('SE-11 a 40 MB body gets its 413 although the client writes on, and the connection is not broken', async () => {
    edge = await startEdge(() => wholeAnswer());
    const response = await postCall(edge, 'x'.repeat(40 * 1024 * 1024));
    expect(response.status).toBe(413);
    expect(await response.text()).toContain('server.max_body');
    expect((await postCall(edge)).status).toBe(200);
  });

  it('SE-11 cuts a client off that never ends a refused body', async () => {
    edge = await startEdge(() => wholeAnswer(), {
      snapshot: () => snapshotWith({ bodyBytesMax: 10 }),
    });
    const client = await RawClient.open(edge.port);
    client.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n40\r\n',
    );
    client.write(`${'x'.repeat(64)}\r\n`);
    await client.receives('413');
    await client.closes(5000);
  });

  it('SE-11 refuses a compressed body with 415 unopened', async () => {
    edge = await startEdge(() => wholeAnswer());
    const response = await fetch(`${edge.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
      body: gzipSync(Buffer.alloc(1024 * 1024)),
    });
    expect(response.status).toBe(415);
    expect(edge.pipeline.calls).toHaveLength(0);
  });

  it('SE-11 a length that lies leaves nothing hanging', async () => {
    edge = await startEdge(() => wholeAnswer());
    const short = await RawClient.open(edge.port);
    short.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{}',
    );
    await pause(20);
    short.socket.end();
    await short.closes();
    const long = await RawClient.open(edge.port);
    long.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}GARBAGE\r\n\r\n',
    );
    await long.receives('400 Bad Request');
    await long.closes();
    expect(edge.pipeline.calls).toHaveLength(1);
    expect(edge.pipeline.inFlight()).toBe(0);
  });

  it('asks for the body only when it will be taken', async () => {
    edge = await startEdge(() => wholeAnswer());
    const refused = await RawClient.open(edge.port);
    refused.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: ${limit * 2}\r\n\r\n`,
    );
    await refused.receives('413');
    expect(refused.text).not.toContain('100 Continue');
    const taken = await RawClient.open(edge.port);
    taken.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n',
    );
    await taken.receives('100 Continue');
    taken.write('{}');
    await taken.receives('{"ok":true}');
    refused.socket.destroy();
    taken.socket.destroy();
  });
});

describe('unreadable requests', () => {
  it('headers beyond server.max_header are 431', async () => {
    edge = await startEdge(() => wholeAnswer());
    const client = await RawClient.open(edge.port);
    client.post('{}', [`x-long: ${'a'.repeat(40_000)}`]);
    await client.receives('431');
    await client.closes();
  });

  it.each([
    ['no HTTP at all', 'hello there\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
  ])('%s is 400 and the connection ends', async (_name, bytes) => {
    edge = await startEdge(() => wholeAnswer());
    const client = await RawClient.open(edge.port);
    client.write(bytes);
    await client.receives('400');
    await client.closes();
    expect((await postCall(edge)).status).toBe(200);
  });

  it.each([
    '/v1/chat/completions/../../x',
    '/%',
    '/v1/tiers/%E0%A4%A/chat/completions',
    '//x',
    '/a b',
    '/\\..\\x',
  ])('the path %s gets an answer', async (path) => {
    edge = await startEdge(() => wholeAnswer());
    const client = await RawClient.open(edge.port);
    client.post('{}', ['connection: close'], path);
    await client.closes();
    expect(client.text).toMatch(/^HTTP\/1\.1 (200|400|404)/);
    await until(() => edge.pipeline.inFlight() === 0);
  });
});

describe('a request that does not arrive', () => {
  const arrival = { headMs: 100, wholeMs: 300, lookMs: 30 };

  it('in its head is ended with 408', async () => {
    edge = await startEdge(() => wholeAnswer(), { arrival });
    const client = await RawClient.open(edge.port);
    client.write('POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nx-slow: ');
    await client.receives('408 Request Timeout');
    await client.closes();
  });

  it('in its body is ended too, and nothing is left under way', async () => {
    edge = await startEdge(() => wholeAnswer(), { arrival });
    const client = await RawClient.open(edge.port);
    client.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{',
    );
    await client.closes();
    expect(edge.pipeline.calls).toHaveLength(0);
    expect(await edge.server.drain({ delayMs: 0, timeoutMs: 1000 })).toEqual({ cut: 0 });
  });

  it('a stream outlives every one of these limits', async () => {
    async function* chunks(): AsyncGenerator<string, void, undefined> {
      for (let n = 0; n < 8; n += 1) {
        yield `data: ${n}\n\n`;
        await pause(100);
      }
    }
    edge = await startEdge(() => streamAnswer(chunks()), { arrival });
    expect(await (await postCall(edge)).text()).toContain('data: 7');
  });
});
