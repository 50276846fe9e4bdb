import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../support/virtual-clock.ts';
import {
  type EdgeUnderTest,
  postCall,
  startEdge,
  streamAnswer,
  wholeAnswer,
} from './edge-under-test.ts';
import { pause, RawClient, until } from './raw-client.ts';

let edge: EdgeUnderTest;

afterEach(() => edge.server.close());

function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });
}

async function* ticks(count: number, everyMs: number): AsyncGenerator<string, void, undefined> {
  for (let n = 0; n < count; n += 1) {
    yield `data: ${n}\n\n`;
    await pause(everyMs);
  }
  yield 'data: [DONE]\n\n';
}

describe('LG-06 a drain', () => {
  it('LG-06 accepts nothing new and lets a stream run to its end', async () => {
    edge = await startEdge(() => streamAnswer(ticks(10, 30)));
    const response = await postCall(edge);
    const drained = edge.server.drain({ delayMs: 0, timeoutMs: 5000 });
    await pause(10);
    expect(await isRefused(edge.port)).toBe(true);
    const text = await response.text();
    expect(text).toContain('data: 9');
    expect(text).toContain('[DONE]');
    expect(await drained).toEqual({ cut: 0 });
    expect(edge.pipeline.inFlight()).toBe(0);
  });

  it('LG-06 cuts a stream when the time is up, with the error event of its dialect', async () => {
    let reason: unknown = null;
    edge = await startEdge((call) => {
      call.signal.addEventListener('abort', () => {
        reason = call.signal.reason;
      });
      return streamAnswer(ticks(1000, 20));
    });
    const response = await postCall(edge);
    const report = await edge.server.drain({ delayMs: 0, timeoutMs: 100 });
    expect(report.cut).toBe(1);
    expect(await response.text()).toMatch(/data: \{"error":"stream_interrupted"\}\n\n$/);
    expect(reason).toBe('shutdown');
  });

  it('LG-06 answers 503 to a whole request that is not done in time', async () => {
    edge = await startEdge(
      (call) =>
        new Promise((resolve) => {
          call.signal.addEventListener('abort', () => resolve({ kind: 'gone' }), { once: true });
        }),
    );
    const pending = postCall(edge);
    await until(() => edge.pipeline.calls.length === 1);
    await edge.server.drain({ delayMs: 0, timeoutMs: 50 });
    const response = await pending;
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('x-should-retry')).toBe('true');
    expect(response.headers.get('connection')).toBe('close');
  });

  it('LG-06 is not ready and still serving during the delay', async () => {
    const clock = new VirtualClock();
    edge = await startEdge(() => wholeAnswer(), { clock });
    let isDrained = false;
    const drained = edge.server.drain({ delayMs: 200, timeoutMs: 60_000 }).then(() => {
      isDrained = true;
    });
    const ready = await fetch(`${edge.origin}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ status: 'unavailable', reasons: ['draining'] });
    const response = await postCall(edge);
    expect(response.status).toBe(200);
    expect(response.headers.get('connection')).toBe('close');
    await clock.advance(199);
    expect(isDrained).toBe(false);
    // After the delay it looks every few milliseconds whether the last call is over.
    for (; !isDrained; await pause(1)) await clock.advance(5);
    await drained;
    expect(await isRefused(edge.port)).toBe(true);
  });

  it('LG-06 refuses a request that comes on an open connection after the stop', async () => {
    edge = await startEdge((call) =>
      String(call.body) === 'slow' ? streamAnswer(ticks(20, 20)) : wholeAnswer(),
    );
    const running = await postCall(edge, 'slow');
    const client = await RawClient.open(edge.port);
    client.write('POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n');
    await pause(30);
    const drained = edge.server.drain({ delayMs: 0, timeoutMs: 3000 });
    client.write('content-length: 2\r\n\r\n{}');
    await client.receives('503 Service Unavailable');
    await client.closes();
    await running.text();
    await drained;
  });

  it('ends an idle connection at once', async () => {
    edge = await startEdge(() => wholeAnswer());
    const client = await RawClient.open(edge.port);
    client.post('{}');
    await client.receives('{"ok":true}');
    const started = performance.now();
    await edge.server.drain({ delayMs: 0, timeoutMs: 5000 });
    await client.closes();
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it('a close ends streams at once', async () => {
    edge = await startEdge(() => streamAnswer(ticks(1000, 20)));
    const response = await postCall(edge);
    await edge.server.close();
    await expect(response.text()).rejects.toThrow();
    await until(() => edge.pipeline.inFlight() === 0);
  });
});
