import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { blankCredentials, presentedCredentials } from '../../../src/http/credentials.ts';
import { createRequestGuard, isLoopbackName } from '../../../src/http/request-guard.ts';

function incoming(headers: Record<string, string>, url = '/'): IncomingMessage {
  return { headers, url } as unknown as IncomingMessage;
}

describe('a loopback name', () => {
  it.each(['localhost', 'LocalHost.', 'a.localhost', '127.0.0.1', '127.255.0.9', '::1', '[::1]'])(
    '%s is one',
    (name) => expect(isLoopbackName(name)).toBe(true),
  );

  it.each([
    '',
    'localhost.example',
    '127.0.0.1.example',
    '127.1',
    '128.0.0.1',
    '::',
    '0.0.0.0',
    '[::2]',
    'xlocalhost',
  ])('%s is none', (name) => expect(isLoopbackName(name)).toBe(false));
});

describe('the guard', () => {
  const guard = (origins: string[], loopback = true) =>
    createRequestGuard({ isLoopback: () => loopback, origins: () => origins });

  it('a good host does not vouch for the next one', () => {
    const screen = guard([]).screen;
    expect(screen(incoming({ host: 'localhost:1' })).isAllowed).toBe(true);
    expect(screen(incoming({ host: 'evil.example' })).isAllowed).toBe(false);
    expect(screen(incoming({ host: 'localhost:1' })).isAllowed).toBe(true);
    expect(screen(incoming({ host: '[::1' })).isAllowed).toBe(false);
    expect(screen(incoming({ host: '' })).isAllowed).toBe(false);
  });

  it('reads the listed origins anew, since the config changes', () => {
    const origins: string[] = [];
    const { screen } = guard(origins);
    const request = incoming({ host: 'localhost', origin: 'https://app.example' });
    expect(screen(request).isAllowed).toBe(false);
    origins.push('https://app.example');
    expect(screen(request)).toMatchObject({
      isAllowed: true,
      headers: { 'access-control-allow-origin': 'https://app.example', vary: 'Origin' },
    });
  });

  it('compares origins whole', () => {
    const { screen } = guard(['https://app.example']);
    for (const origin of [
      'https://app.example.evil',
      'http://app.example',
      'https://app.example:444',
      '',
    ]) {
      expect(screen(incoming({ host: 'localhost', origin })).isAllowed).toBe(false);
    }
  });

  it('lets any origin in where the config says *', () => {
    const { screen } = guard(['*']);
    expect(screen(incoming({ host: 'localhost', origin: 'null' }))).toMatchObject({
      isAllowed: true,
      headers: { 'access-control-allow-origin': '*' },
    });
  });

  it('echoes no header name that is none', () => {
    const { preflightHeaders } = guard([]);
    const sound = incoming({ 'access-control-request-headers': 'x-a, x-b' });
    expect(preflightHeaders(sound)['access-control-allow-headers']).toBe('x-a, x-b');
    const odd = incoming({ 'access-control-request-headers': 'x-a; drop' });
    expect(preflightHeaders(odd)['access-control-allow-headers']).toBeUndefined();
  });
});

describe('credentials', () => {
  it('are found wherever an SDK puts them, all of them', () => {
    const request = incoming(
      { authorization: 'Bearer a', 'x-api-key': 'b', 'api-key': ' c ', 'x-goog-api-key': 'd' },
      '/v1?alt=sse&key=e',
    );
    expect(presentedCredentials(request)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it.each([
    [{ authorization: 'Basic abc' }, '/'],
    [{ authorization: 'Bearer' }, '/'],
    [{ authorization: 'Bearer  ' }, '/'],
    [{ authorization: 'Bearer a b' }, '/'],
    [{ 'x-api-key': '' }, '/?key='],
    [{ 'x-api-key': 'x'.repeat(513) }, '/?monkey=x'],
    [{ cookie: 'key=x' }, '/#key=x'],
  ])('%j %s holds none', (headers, url) => {
    expect(presentedCredentials(incoming(headers as Record<string, string>, url))).toEqual([]);
  });

  it('are blanked before anything behind the edge sees them', () => {
    const headers: Record<string, string | undefined> = {
      authorization: 'Bearer a',
      'proxy-authorization': 'Basic a',
      'x-api-key': 'b',
      'api-key': 'c',
      'x-goog-api-key': 'd',
      accept: '*/*',
    };
    blankCredentials(headers);
    expect(JSON.stringify(headers)).toBe('{"accept":"*/*"}');
  });
});
