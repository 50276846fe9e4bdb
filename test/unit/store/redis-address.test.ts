/** `REDIS_URL`: what is taken, what is shown of it, and what never is. */
import { describe, expect, it } from 'vitest';
import { readRedisAddress } from '../../../src/store/redis/redis-address.ts';

describe('the address of Redis', () => {
  it.each([
    ['redis://localhost', 'localhost:6379/0', []],
    ['redis://127.0.0.1:7000/3', '127.0.0.1:7000/3', []],
    ['rediss://[::1]:7000/', '[::1]:7000/0', []],
    ['redis://:pa%40ss@r.example', 'r.example:6379/0', ['pa%40ss', 'pa@ss']],
    ['redis://user:word@r.example/15', 'r.example:6379/15', ['word', 'word']],
  ])('%s is shown as %s', (url, shown, secrets) => {
    expect(readRedisAddress(url)).toEqual({
      ok: true,
      value: { url, shown, secrets: [url, ...secrets] },
    });
  });

  it.each([
    'localhost:6379',
    '127.0.0.1',
    'http://:hidden@localhost',
    'redis:///0',
    'redis://:hidden@localhost/zero',
    'redis://:hidden@localhost/1/2',
    'redis://:hidden@localhost/0?tls=yes',
    'redis://:hidden%@localhost',
    'redis://:hidden@localhost:99999',
    '',
  ])('%s is refused, and nothing of it is quoted', (url) => {
    const read = readRedisAddress(url);
    expect(read.ok).toBe(false);
    expect(read.ok ? '' : read.fault).not.toContain('hidden');
  });
});
