import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { BodyChunk, Transport, UpstreamResponse } from '../../../src/transport/transport.ts';
import { createUndiciTransport, poolOptions } from '../../../src/transport/undici-transport.ts';
import { type LoopbackServer, startHttp, startTcp } from '../../support/loopback-server.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function transport(): Transport {
  const made = createUndiciTransport();
  closers.push(made.close);
  return made;
}

async function serve(listener: RequestListener): Promise<LoopbackServer> {
  const server = await startHttp(listener);
  closers.push(server.close);
  return server;
}

function post(from: Transport, url: string, signal = new AbortController().signal) {
  return from.send({ url, headers: {}, body: '{}' }, { signal, connectTimeoutMs: 1000 });
}

async function readAll(response: UpstreamResponse): Promise<{ text: string; last: BodyChunk }> {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = await response.read();
    if (chunk.kind !== 'bytes') return { text: Buffer.concat(chunks).toString(), last: chunk };
    chunks.push(chunk.bytes);
  }
}

/** undici uses a connection again one turn of the event loop after its answer. */
async function freeConnection(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function eventually(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2000 && !condition(); turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(condition()).toBe(true);
}

describe('undici transport', () => {
  it('gives status, headers and the body by pulling', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(201, { 'x-a': ['1', '2'] });
      response.end('hello');
    });
    const result = await post(transport(), `${server.origin}/v1/x?y=1`);
    if (!result.ok) throw new Error(result.fault.code);
    expect(result.value.status).toBe(201);
    expect(result.value.headers['x-a']).toBe('1, 2');
    expect(await readAll(result.value)).toEqual({ text: 'hello', last: { kind: 'end' } });
  });

  it('SE-04 follows no redirect', async () => {
    let calls = 0;
    const server = await serve((_request, response) => {
      calls += 1;
      response.writeHead(302, { location: '/elsewhere' });
      response.end();
    });
    const result = await post(transport(), server.origin);
    expect(result.ok && result.value.status).toBe(302);
    expect(calls).toBe(1);
  });

  it('R10 tells a refused connection from one that broke', async () => {
    const server = await startTcp((socket) => socket.destroy());
    const reset = await post(transport(), server.origin);
    await server.close();
    const refused = await post(transport(), server.origin);
    expect(reset).toMatchObject({ ok: false, fault: { kind: 'reset', isStaleSocket: false } });
    expect(refused).toMatchObject({ ok: false, fault: { kind: 'refused', code: 'ECONNREFUSED' } });
  });

  it.each([
    ['what is no TLS', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), false],
    ['a reset in the handshake', (socket: Socket) => socket.resetAndDestroy(), false],
    ['silence in the handshake', () => undefined, true],
  ] as const)('R10 %s is a connection that never stood', async (_, answer, isConnectTimeout) => {
    const server = await startTcp((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => answer(socket));
    });
    closers.push(server.close);
    const broken = await post(transport(), server.origin.replace('http:', 'https:'));
    expect(broken).toMatchObject({ ok: false, fault: { kind: 'refused', isConnectTimeout } });
  });

  it('R10 a name that nobody knows is a connection that never stood', async () => {
    expect(await post(transport(), 'http://nobody.invalid')).toMatchObject({
      ok: false,
      fault: { kind: 'refused' },
    });
  });

  it.each(['end', 'reset'] as const)(
    'RH-10 a reused socket that is gone before any byte came is told apart (%s)',
    async (how) => {
      let served = 0;
      const server = await startTcp((socket) => {
        socket.on('data', () => {
          served += 1;
          if (served === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
          else if (how === 'end') socket.end();
          else socket.resetAndDestroy();
        });
      });
      closers.push(server.close);
      const sender = transport();
      const first = await post(sender, server.origin);
      if (!first.ok) throw new Error(first.fault.code);
      await readAll(first.value);
      await freeConnection();
      const second = await post(sender, server.origin);
      expect(second).toMatchObject({ ok: false, fault: { kind: 'reset', isStaleSocket: true } });
    },
  );

  it.each([
    ['nothing', ''],
    ['half a head', 'HTTP/1.1 200 OK\r\nx-a: '],
    ['what is no head', 'garbage\r\n\r\n'],
    ['a head without end', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(5000)}`],
    ['an interim answer alone', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
  ])('RH-10 a fresh socket that breaks after %s is a normal failure', async (_, bytes) => {
    const server = await startTcp((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.end(bytes));
    });
    closers.push(server.close);
    const broken = await post(transport(), server.origin);
    expect(broken).toMatchObject({ ok: false, fault: { kind: 'reset', isStaleSocket: false } });
  });

  it('RH-10 a reused socket that breaks in the middle of a head is a normal failure', async () => {
    let served = 0;
    const server = await startTcp((socket) => {
      socket.on('data', () => {
        served += 1;
        if (served === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        else socket.end('HTTP/1.1 200 OK\r\nx-a: ');
      });
    });
    closers.push(server.close);
    const sender = transport();
    const first = await post(sender, server.origin);
    if (!first.ok) throw new Error(first.fault.code);
    await readAll(first.value);
    await freeConnection();
    const second = await post(sender, server.origin);
    expect(server.sockets.size).toBeLessThanOrEqual(1);
    expect(second).toMatchObject({ ok: false, fault: { kind: 'reset', isStaleSocket: false } });
  });

  it.each(['gzip', 'br'])(
    'a body that is no %s ends its connection, however much more would come',
    async (encoding) => {
      const server = await serve((_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding });
        const pump = setInterval(() => response.write('z'.repeat(1024)), 1);
        response.on('close', () => clearInterval(pump));
      });
      const result = await post(transport(), server.origin);
      if (!result.ok) throw new Error(result.fault.code);
      const { last } = await readAll(result.value);
      expect(last).toMatchObject({ kind: 'failed', failure: { code: 'BAD_ENCODING' } });
      await eventually(() => server.sockets.size === 0);
    },
  );

  it('a body that breaks off is a failure, after what had come', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('part');
      setTimeout(() => response.destroy(), 20);
    });
    const result = await post(transport(), server.origin);
    if (!result.ok) throw new Error(result.fault.code);
    const { text, last } = await readAll(result.value);
    expect(text).toBe('part');
    expect(last).toMatchObject({ kind: 'failed', failure: { kind: 'reset' } });
  });

  it('an abort before the headers resolves at once and closes the connection', async () => {
    const server = await serve(() => undefined);
    const abort = new AbortController();
    const pending = post(transport(), server.origin, abort.signal);
    await eventually(() => server.sockets.size === 1);
    abort.abort();
    expect(await pending).toMatchObject({ ok: false, fault: { kind: 'aborted' } });
    await eventually(() => server.sockets.size === 0);
  });

  it('an abort before the request is sent sends nothing', async () => {
    const server = await serve((_request, response) => response.end());
    expect(await post(transport(), server.origin, AbortSignal.abort())).toMatchObject({
      ok: false,
      fault: { kind: 'aborted' },
    });
    expect(server.sockets.size).toBe(0);
  });

  it('cancel while the body is read closes the connection and ends the reader', async () => {
    const server = await serve((_request, response) => {
      response.write('a');
    });
    const result = await post(transport(), server.origin);
    if (!result.ok) throw new Error(result.fault.code);
    await result.value.read();
    const pending = result.value.read();
    result.value.cancel();
    expect(await pending).toMatchObject({ kind: 'failed', failure: { kind: 'aborted' } });
    await eventually(() => server.sockets.size === 0);
  });

  it('a body that nobody reads stops the sender', async () => {
    let written = 0;
    const block = Buffer.alloc(64 * 1024);
    const server = await serve((_request, response) => {
      const pump = (): void => {
        while (written < 64 * 1024 * 1024) {
          written += block.length;
          if (!response.write(block)) {
            response.once('drain', pump);
            return;
          }
        }
        response.end();
      };
      pump();
    });
    const result = await post(transport(), server.origin);
    if (!result.ok) throw new Error(result.fault.code);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(written).toBeLessThan(32 * 1024 * 1024);
    const { text } = await readAll(result.value);
    expect(text.length).toBe(64 * 1024 * 1024);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)(
    'of a body in %s nothing is inflated that nobody reads',
    async (encoding, compress) => {
      const whole = 4 * 1024 * 1024;
      const server = await serve((_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding });
        response.end(compress(Buffer.alloc(whole)));
      });
      const result = await post(transport(), server.origin);
      if (!result.ok) throw new Error(result.fault.code);
      let bytes = 0;
      for (let pieces = 0; pieces < 2; pieces += 1) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        const chunk = await result.value.read();
        if (chunk.kind !== 'bytes') throw new Error(chunk.kind);
        expect(chunk.bytes.length).toBeLessThan(1024 * 1024);
        bytes += chunk.bytes.length;
      }
      expect(bytes + (await readAll(result.value)).text.length).toBe(whole);
    },
  );

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('SE-13 a body that comes as %s unasked is inflated', async (encoding, compress) => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding });
      response.end(compress('hello'));
    });
    const result = await post(transport(), server.origin);
    if (!result.ok) throw new Error(result.fault.code);
    expect(result.value.headers['content-encoding']).toBeUndefined();
    expect((await readAll(result.value)).text).toBe('hello');
  });

  it('ST-23 no timer of the pool undercuts a configured clock', () => {
    expect(poolOptions).toMatchObject({ headersTimeout: 0, bodyTimeout: 0 });
  });

  it('a connection serves one answer after another', async () => {
    let connections = 0;
    const server = await startHttp((_request, response) => response.end('x'));
    closers.push(server.close);
    const sender = transport();
    for (let turn = 0; turn < 5; turn += 1) {
      const result = await post(sender, server.origin);
      if (!result.ok) throw new Error(result.fault.code);
      await readAll(result.value);
      await freeConnection();
      connections = Math.max(connections, server.sockets.size);
    }
    expect(connections).toBe(1);
  });
});
