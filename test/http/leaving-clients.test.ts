import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EdgeUnderTest, startEdge, streamAnswer, wholeAnswer } from './edge-under-test.ts';
import { pause, RawClient, until } from './raw-client.ts';

/** Five times the figure of the design (p99 200 ms): a bound for machines that do other things as well. */
const abortMsMax = 1000;

let edge: EdgeUnderTest;
const unhandled: unknown[] = [];
const keep = (error: unknown): void => void unhandled.push(error);

beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', keep);
  process.on('uncaughtExceptionMonitor', keep);
});

afterEach(async () => {
  await edge.server.close();
  process.off('unhandledRejection', keep);
  process.off('uncaughtExceptionMonitor', keep);
  expect(unhandled).toEqual([]);
});

/** Waits until the call is aborted, as a pipeline that has asked a provider does. */
function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

describe('a client that leaves', () => {
  it('while its body is on the way: the pipeline hears nothing of it', async () => {
    edge = await startEdge(() => wholeAnswer());
    const client = await RawClient.open(edge.port);
    client.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{',
    );
    await pause(20);
    client.socket.resetAndDestroy();
    await pause(50);
    expect(edge.pipeline.calls).toHaveLength(0);
  });

  it.each(['reset', 'close', 'half-close'] as const)(
    'by %s while the answer is made: the signal aborts at once',
    async (way) => {
      edge = await startEdge(async (call) => {
        await whenAborted(call.signal);
        return { kind: 'gone' };
      });
      const client = await RawClient.open(edge.port);
      client.post('{}');
      await until(() => edge.pipeline.calls.length === 1);
      const left = performance.now();
      if (way === 'reset') client.socket.resetAndDestroy();
      else if (way === 'close') client.socket.destroy();
      else client.socket.end();
      await until(() => edge.pipeline.inFlight() === 0);
      expect(performance.now() - left).toBeLessThan(abortMsMax);
      expect(edge.pipeline.calls[0]?.signal.reason).toBe('client_gone');
      await client.closes();
    },
  );

  it('in the middle of a stream: the signal aborts and the generator is returned to', async () => {
    let hasReturned = false;
    async function* chunks(signal: AbortSignal): AsyncGenerator<string, void, undefined> {
      try {
        yield 'data: one\n\n';
        await whenAborted(signal);
      } finally {
        hasReturned = true;
      }
    }
    edge = await startEdge((call) => streamAnswer(chunks(call.signal)));
    const client = await RawClient.open(edge.port);
    client.post('{}');
    await client.receives('data: one');
    client.socket.destroy();
    await until(() => hasReturned, 500);
    await until(() => edge.pipeline.inFlight() === 0, 500);
  });

  it('before the stream begins: the generator is returned to without a pull', async () => {
    let pulls = 0;
    async function* chunks(): AsyncGenerator<string, void, undefined> {
      pulls += 1;
      yield 'data: one\n\n';
    }
    edge = await startEdge(async (call) => {
      await whenAborted(call.signal);
      return streamAnswer(chunks());
    });
    const client = await RawClient.open(edge.port);
    client.post('{}');
    await until(() => edge.pipeline.calls.length === 1);
    client.socket.destroy();
    await until(() => edge.pipeline.calls[0]?.signal.aborted === true);
    await pause(20);
    expect(pulls).toBe(0);
  });

  it('ST-31 that reads no more slows the stream down, and frees it when it closes', async () => {
    let pulled = 0;
    let hasReturned = false;
    async function* chunks(): AsyncGenerator<string, void, undefined> {
      try {
        for (; pulled < 20_000; pulled += 1) yield 'x'.repeat(2000);
      } finally {
        hasReturned = true;
      }
    }
    edge = await startEdge(() => streamAnswer(chunks()));
    const client = await RawClient.open(edge.port);
    client.post('{}');
    await client.receives('xxxx');
    client.socket.pause();
    await pause(200);
    const seen = pulled;
    await pause(100);
    expect(pulled).toBe(seen);
    // 40 MB were on offer; what left is what the kernel and one buffer hold.
    expect(pulled * 2000).toBeLessThan(20_000_000);
    client.socket.destroy();
    await until(() => hasReturned && edge.pipeline.inFlight() === 0, 2000);
  });

  it('half-closes while it reads no more: freed although its socket stays', async () => {
    let hasReturned = false;
    async function* chunks(): AsyncGenerator<string, void, undefined> {
      try {
        for (;;) yield 'x'.repeat(2000);
      } finally {
        hasReturned = true;
      }
    }
    edge = await startEdge(() => streamAnswer(chunks()));
    const client = await RawClient.open(edge.port);
    client.post('{}');
    await client.receives('xxxx');
    client.socket.pause();
    await pause(100);
    client.socket.end();
    await until(() => hasReturned, 2000);
    client.socket.destroy();
  });

  it('takes nothing for the stall time with bytes waiting: it is gone', async () => {
    let hasReturned = false;
    async function* chunks(): AsyncGenerator<string, void, undefined> {
      try {
        for (;;) yield 'x'.repeat(2000);
      } finally {
        hasReturned = true;
      }
    }
    edge = await startEdge(() => streamAnswer(chunks()), { clientStallMs: 150 });
    const client = await RawClient.open(edge.port);
    client.post('{}');
    await client.receives('xxxx');
    client.socket.pause();
    await until(() => hasReturned, 3000);
    expect(edge.pipeline.calls[0]?.signal.reason).toBe('client_gone');
    client.socket.destroy();
  });

  it('takes nothing of a large whole answer: its socket is closed', async () => {
    edge = await startEdge(() => wholeAnswer(Buffer.alloc(30_000_000, 97)), { clientStallMs: 150 });
    const client = await RawClient.open(edge.port);
    client.socket.pause();
    client.post('{}');
    // On a busy machine the kernels' buffers take their time to fill.
    await pause(2000);
    client.socket.resume();
    await client.closes();
    expect(client.text.length).toBeLessThan(30_000_000);
  });

  it('reads slowly but steadily: it gets everything', async () => {
    const bytes = 24_000_000;
    const stallMs = 1000;
    // A kernel lets a sender go on once a good part of its buffer is free, so a step is a megabyte.
    const step = 1_000_000;
    edge = await startEdge(() => wholeAnswer(Buffer.alloc(bytes, 97)), { clientStallMs: stallMs });
    const client = await RawClient.open(edge.port);
    const started = performance.now();
    client.post('{}', ['connection: close']);
    let read = 0;
    client.socket.on('data', (chunk: Buffer) => {
      const steps = Math.floor(read / step);
      read += chunk.length;
      if (Math.floor(read / step) === steps) return;
      client.socket.pause();
      setTimeout(() => client.socket.resume(), 60);
    });
    await until(() => read >= bytes, 18_000);
    expect(performance.now() - started).toBeGreaterThan(stallMs);
  });
});

it('ST-30 200 clients that reset after 1 to 50 ms leave nothing behind', async () => {
  async function* chunks(signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    for (let n = 0; n < 100 && !signal.aborted; n += 1) {
      yield 'data: x\n\n';
      await Promise.race([pause(20), whenAborted(signal)]);
    }
  }
  edge = await startEdge((call) => streamAnswer(chunks(call.signal)));
  const clients = await Promise.all(Array.from({ length: 200 }, () => RawClient.open(edge.port)));
  await Promise.all(
    clients.map(async (client, n) => {
      client.post('{}');
      await pause(1 + (n % 50));
      client.socket.resetAndDestroy();
    }),
  );
  await until(() => edge.pipeline.inFlight() === 0, 2000);
  const alive = await RawClient.open(edge.port);
  alive.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  await alive.receives('200 OK');
});
