import { describe, expect, it } from 'vitest';
import { redact } from '../../../src/failure/redact.ts';

/** Put together here, so that no scanner takes a test for a leak. */
const key = (...parts: readonly string[]): string => parts.join('');

describe('redact', () => {
  const secrets: readonly (readonly [string, string])[] = [
    ['a bearer token', key('Bear', 'er abc.def-ghi_jkl')],
    ['a key with a prefix', key('sk', '-proj-abcdEFGH12345678')],
    ['a key with a vendor prefix', key('xai', '-AbCdEfGhIjKlMnOp1234567')],
    ['a cloud key', key('AI', 'zaSyA1234567890abcdefghijklmnopq')],
    ['an access key id', key('AK', 'IAIOSFODNN7EXAMPLE')],
    ['a JSON web token', key('eyJ', 'hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl')],
    ['a token of a cloud', key('ya', '29.AbCd_EFGH1234-horse')],
    ['a client secret of a cloud', key('GOC', 'SPX-EFGH1234-horse')],
    ['a refresh token of a cloud', key('1/', '/0EFGH1234-horse_wxyz')],
    ['a named key', 'api_key=correct-horse-battery'],
    ['a named key in JSON', '"api_key": "correct-horse-battery"'],
    ['a named key in words', 'Your api key: correct-horse is invalid'],
    ['a provided key', 'Incorrect API key provided: correct-horse-battery'],
    ['a masked key', 'abcd****wxyz'],
    ['a long hexadecimal word', 'deadbeef'.repeat(4).replace('b', '1')],
    ['a password in an address', 'https://user:hunter22@api.example.com/v1'],
    ['a key in a query', 'https://api.example.com/v1?key=hunter22'],
  ];
  it.each(secrets)('takes out %s', (_what, secret) => {
    const clean = redact(`refused (${secret}) by the service`);
    for (const part of [
      'abc.def',
      'EFGH1234',
      'GhIjKl',
      '34567890',
      'FODNN7',
      'hbGci',
      'horse',
      'wxyz',
      'beefdead',
      'hunter22',
    ]) {
      expect(clean).not.toContain(part);
    }
    expect(clean).toMatch(/^refused \(.*by the service$/);
  });

  it('tells no private key, and not whose project it is nor where', () => {
    const pem = `${key('-----BEGIN ', 'PRIVATE KEY-----')}\nabc.def+GhIjKl/horse\n`;
    expect(redact(`bad key ${pem}`)).toBe('bad key [redacted]');
    const path = '`projects/my-project/locations/europe-west4/publishers/p/models/m`';
    expect(redact(`Publisher Model ${path} was not found.`)).toBe(
      'Publisher Model `projects/[redacted]/locations/[redacted]/publishers/p/models/m` was not found.',
    );
  });

  const addresses = [
    'http://10.0.0.5:8000/v1/chat',
    'https://172.16.3.4/x',
    'http://192.168.1.9',
    'http://localhost:11434/api',
    'http://vllm-0.models.svc.cluster.local:8000/v1',
    'http://inference:8080/generate',
    'http://[::1]:9000/',
    'http://169.254.169.254/latest/meta-data',
    '10.1.2.3:443',
    '192.168.0.10',
    'localhost:6379',
    'db1.prod.internal:5432',
    'ip-10-0-0-1.ec2.internal',
  ];
  it.each(addresses)('takes out the internal address %s', (address) => {
    const clean = redact(`cannot reach ${address}, giving up`);
    expect(clean).toBe('cannot reach [internal address], giving up');
  });

  it('takes out e-mail addresses', () => {
    expect(redact('ask jane.doe+x@corp.example.com for access')).toBe('ask [e-mail] for access');
  });

  const kept = [
    'The model `m-4.1-nano-2025-04-14-preview-long` does not exist or you do not have access to it.',
    "This model's maximum context length is 1048565 tokens. However, you requested 1250025 tokens.",
    'See https://docs.example.com/models. Ask there.',
    'Unsupported parameter: max_tokens is not supported with this model. Use max_completion_tokens instead.',
    'llama-4-maverick-17b-128e-instruct-fp8 is overloaded',
    'max_tokens: 1000000 is above the limit of 8192 for version 3.5.10.2',
    'Request 00000000-0000-0000-0000-000000000000 failed.',
  ];
  it.each(kept)('keeps "%s"', (message) => {
    expect(redact(message)).toBe(message);
  });

  it('gives one line without control characters, cut to 500 characters', () => {
    expect(redact('a\r\n\tb\u0000c\u001b[31m\u2028d')).toBe('a b c [31m d');
    const long = redact('word '.repeat(300));
    expect(long).toHaveLength(500);
    expect(long.endsWith('…')).toBe(true);
    expect(redact('')).toBe('');
  });

  it('does not cut a character in two', () => {
    const cut = redact('😀'.repeat(400));
    expect(cut.isWellFormed()).toBe(true);
    expect(cut.length).toBeLessThanOrEqual(500);
  });

  it('drops a stack trace', () => {
    expect(redact('boom\n    at run (/srv/app/main.js:1:2)\n    at next')).toBe('boom');
    expect(redact('failed: Traceback (most recent call last): File "/srv/a.py"')).toBe('failed:');
  });

  it('a secret at the cut is dropped whole, and hostile text costs little', () => {
    const long = `${'x '.repeat(1_995)}${key('sk', '-abcdefghijklmnop12345678')}`;
    expect(redact(long)).not.toContain('sk-');
    const started = performance.now();
    for (const text of [
      '*'.repeat(1e6),
      'a-'.repeat(5e5),
      `http://${'a.'.repeat(5e5)}`,
      '@a'.repeat(5e5),
      'key=token='.repeat(1e5),
    ]) {
      expect(redact(text).length).toBeLessThanOrEqual(500);
    }
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
