import { describe, expect, it } from 'vitest';
import { createProcessLog, type ProcessLogOptions } from '../../../src/telemetry/process-log.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

function logInto(lines: string[], changes: Partial<ProcessLogOptions> = {}) {
  const clock = new VirtualClock();
  const made = createProcessLog({
    level: 'info',
    isTerminal: false,
    hasColor: false,
    write: (line) => void lines.push(line),
    secrets: [],
    clock,
    ...changes,
  });
  return { ...made, clock };
}

describe('the process log', () => {
  it('writes one JSON object a line', () => {
    const lines: string[] = [];
    const { log } = logInto(lines);
    log.info('listening', { port: 1, origin: 'http://127.0.0.1:1', missing: null });
    log.debug('not at this level');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/\}\n$/);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      time: '2026-01-01T00:00:00.000Z',
      msg: 'listening',
      port: 1,
      origin: 'http://127.0.0.1:1',
      missing: null,
    });
  });

  it('writes a readable line on a terminal, and no control character of a message', () => {
    const lines: string[] = [];
    const { log } = logInto(lines, { isTerminal: true });
    log.warn('forged\n00:00:00 info fine\u001b[2J', { target: 'p1/m', error: 'two words' });
    expect(lines).toEqual([
      '00:00:00 warn  forged 00:00:00 info fine [2J target=p1/m error="two words"\n',
    ]);
  });

  it.each([
    ['a bearer token', 'sent Bearer abc.def-123456 to it', 'abc.def-123456'],
    ['a key in a URL', 'GET /v1beta/models?key=AIzaSyCANARY123456&alt=sse', 'AIzaSyCANARY123456'],
    ['another key in a URL', '/x?a=1&api_key=canary', 'canary'],
    ['a provider key', 'Incorrect API key provided: sk-live-CANARY0123', 'sk-live-CANARY0123'],
    ['our own admin key', 'tg_admin_0123456789abcdefghij', 'tg_admin_0123456789abcdefghij'],
    ['a token of this process', 'it was hunter2-and-more', 'hunter2-and-more'],
    ['a JSON web token', 'eyJhbGciOiJI.eyJzdWIiOiIx.abc', 'eyJzdWIiOiIx'],
  ])('SE-08 takes out %s, in messages and in fields', (_name, text, secret) => {
    const lines: string[] = [];
    const { log } = logInto(lines, { secrets: ['hunter2-and-more'] });
    log.error(text, { reason: text });
    expect(lines.join()).not.toContain(secret);
    expect(lines.join()).toContain('[redacted]');
  });

  it.each(['authorization', 'x-api-key', 'api_key', 'password', 'Cookie', 'access_token'])(
    'shows nothing of a field named %s',
    (name) => {
      const lines: string[] = [];
      const { log } = logInto(lines);
      log.info('headers', { [name]: 'plain-looking' });
      expect(lines.join()).not.toContain('plain-looking');
    },
  );

  it('cuts a message that has no end', () => {
    const lines: string[] = [];
    const { log } = logInto(lines);
    log.info('x'.repeat(1_000_000));
    expect(lines[0]?.length).toBeLessThan(5_000);
  });
});

describe('LG-07 a flood', () => {
  it('LG-07 of one complaint is written ten times, then counted and told once a window', async () => {
    const lines: string[] = [];
    const { log, clock } = logInto(lines);
    for (let call = 0; call < 1000; call += 1) {
      log.warn('attempt failed', { error_class: 'transient_infra', request_id: String(call) });
      await clock.advance(10);
    }
    await clock.advance(20_000);
    expect(lines.length).toBeLessThan(30);
    const told = lines
      .map((line) => JSON.parse(line))
      .map(({ repeats }) => (repeats === undefined ? 1 : repeats));
    expect(told.reduce((sum, count) => sum + count, 0)).toBe(1000);
  });

  it('LG-07 of different complaints is written as it is', () => {
    const lines: string[] = [];
    const { log } = logInto(lines);
    for (const error_class of ['overload', 'timeout', 'auth']) {
      for (let n = 0; n < 5; n += 1) log.warn('attempt failed', { error_class });
    }
    expect(lines).toHaveLength(15);
  });

  it('LG-07 holds one stack trace a minute for each distinct error', async () => {
    const lines: string[] = [];
    const { log, clock } = logInto(lines);
    const stack = new Error('broken').stack ?? '';
    for (let second = 0; second < 130; second += 1) {
      log.error('a route failed', { error: stack });
      log.error('a route failed', { error: 'other error\n    at x (y.ts:1:1)' });
      await clock.advance(1000);
    }
    const stacks = lines.filter((line) => line.includes('\\n    at '));
    expect(stacks).toHaveLength(6);
  });

  it('LG-07 never holds an alert back', () => {
    const lines: string[] = [];
    const { log } = logInto(lines);
    for (let n = 0; n < 50; n += 1) log.error('key refused', { alert: 'auth_rejected' });
    expect(lines).toHaveLength(50);
  });

  it('LG-07 what was counted is told before the process ends, and no timer stays', () => {
    const lines: string[] = [];
    const { log, flush, clock } = logInto(lines);
    for (let n = 0; n < 15; n += 1) log.warn('same');
    expect(lines).toHaveLength(10);
    flush();
    expect(JSON.parse(lines[10] ?? '')).toMatchObject({ msg: 'same (repeated)', repeats: 5 });
    expect(clock.pending).toBe(0);
  });

  it('LG-07 remembers a bounded number of kinds', () => {
    const lines: string[] = [];
    const { log } = logInto(lines);
    for (let n = 0; n < 2000; n += 1) log.warn(`message ${n}`);
    expect(lines).toHaveLength(2000);
  });
});
