import { describe, expect, it } from 'vitest';
import { type ClientAsk, ClientRepeats } from '../../../src/resilience/client-repeats.ts';

function ask(nowMs: number, changes: Partial<ClientAsk> = {}): ClientAsk {
  const body = Buffer.from('{"model":"reasoning"}');
  return { keyId: 'key-1', path: '/v1/chat/completions', body, nowMs, ...changes };
}

function failedAt(nowMs: number, retryAfterUntilMs: number | null = null) {
  const repeats = new ClientRepeats<string>();
  repeats.noteFailure(ask(nowMs), { failure: 'down', retryAfterUntilMs, clientRetryCount: 0 });
  return repeats;
}

/** A body whose bytes must not be looked at: to hash it throws. */
function untouchable(byteLength: number): Uint8Array {
  return new Proxy(new Uint8Array(byteLength), {
    get: (target, name) => {
      if (name === 'byteLength') return target.byteLength;
      throw new Error(`read ${String(name)} of a body that needs no look`);
    },
  });
}

describe('client repeats', () => {
  it('R32 counts the repeats of a request that failed, by its bytes', () => {
    const repeats = failedAt(0);
    expect(repeats.countRepeat(ask(1_000))).toEqual({ count: 1, answer: null });
    expect(repeats.countRepeat(ask(2_000))).toEqual({ count: 2, answer: null });
  });

  it('R32 gives the failure again while its Retry-After runs, with what is left of it', () => {
    const repeats = failedAt(0, 5_000);
    expect(repeats.countRepeat(ask(1_000))?.answer).toEqual({
      failure: 'down',
      retryAfterMs: 4_000,
    });
    expect(repeats.countRepeat(ask(4_999.5))?.answer?.retryAfterMs).toBe(0.5);
    expect(repeats.countRepeat(ask(5_000))).toEqual({ count: 3, answer: null });
  });

  it('R32 forgets after 60 s; a repeat that got the failure again has failed anew', () => {
    expect(failedAt(0).countRepeat(ask(59_999))).not.toBeNull();
    expect(failedAt(0).countRepeat(ask(60_000))).toBeNull();
    const answered = failedAt(0, 90_000);
    expect(answered.countRepeat(ask(59_000))?.answer).not.toBeNull();
    expect(answered.countRepeat(ask(118_000))).toEqual({ count: 2, answer: null });
    expect(answered.countRepeat(ask(119_000))).toBeNull();
  });

  it('the count goes on when the repeat fails too, also when its forerunner expired meanwhile', () => {
    const repeats = failedAt(0);
    const again = { failure: 'down still', retryAfterUntilMs: null };
    const first = repeats.countRepeat(ask(50_000));
    repeats.noteFailure(ask(80_000), { ...again, clientRetryCount: first?.count ?? 0 });
    expect(repeats.countRepeat(ask(81_000))?.count).toBe(2);
    repeats.noteFailure(ask(82_000), { ...again, clientRetryCount: 0 });
    expect(repeats.countRepeat(ask(83_000))?.count).toBe(3);
  });

  it('a later failure replaces the one to give again', () => {
    const repeats = failedAt(0, 5_000);
    const later = { failure: 'busy', retryAfterUntilMs: 30_000, clientRetryCount: 1 };
    repeats.noteFailure(ask(6_000), later);
    expect(repeats.countRepeat(ask(7_000))?.answer).toEqual({
      failure: 'busy',
      retryAfterMs: 23_000,
    });
  });

  it.each([
    ['key', { keyId: 'key-2' }],
    ['absence of a key', { keyId: null }],
    ['path', { path: '/v1/messages' }],
    ['body of the same length', { body: Buffer.from('{"model":"reasoninG"}') }],
    ['longer body', { body: Buffer.from('{"model":"reasoning"} ') }],
  ])('another %s is another request', (_, changes) => {
    expect(failedAt(0).countRepeat(ask(1, changes))).toBeNull();
  });

  it('path and body do not run into each other', () => {
    const repeats = new ClientRepeats<string>();
    const ended = { failure: 'down', retryAfterUntilMs: null, clientRetryCount: 0 };
    repeats.noteFailure(ask(0, { path: '/a', body: Buffer.from('bc') }), ended);
    repeats.noteFailure(ask(0, { path: '/a', body: Buffer.from('x') }), ended);
    expect(repeats.countRepeat(ask(0, { path: '/ab', body: Buffer.from('c') }))).toBeNull();
  });

  it('R32 a healthy process hashes nothing, and an ailing one only what could be a repeat', () => {
    const body = untouchable(21);
    expect(new ClientRepeats<string>().countRepeat(ask(0, { body }))).toBeNull();
    expect(failedAt(0).countRepeat(ask(60_000, { body }))).toBeNull();
    expect(failedAt(0).countRepeat(ask(1, { body: untouchable(22) }))).toBeNull();
    expect(failedAt(0).countRepeat(ask(1, { body, keyId: 'key-2' }))).toBeNull();
    expect(() => failedAt(0).countRepeat(ask(1, { body }))).toThrow();
  });

  it('once served the same bytes are a new request', () => {
    const repeats = failedAt(0);
    repeats.noteServed(ask(1, { body: untouchable(22) }));
    expect(repeats.isEmpty(1)).toBe(false);
    repeats.noteServed(ask(1));
    expect([repeats.countRepeat(ask(2)), repeats.isEmpty(2)]).toEqual([null, true]);
  });

  it('holds 10,000 failures, the oldest out, and forgets their lengths with them', () => {
    const repeats = failedAt(0);
    const ended = { failure: 'down', retryAfterUntilMs: null, clientRetryCount: 0 };
    for (let count = 0; count < 10_000; count += 1) {
      repeats.noteFailure(ask(1, { body: Buffer.from(`${count}`) }), ended);
    }
    expect(repeats.size(1)).toBe(10_000);
    expect(repeats.countRepeat(ask(1, { body: untouchable(21) }))).toBeNull();
  });
});
