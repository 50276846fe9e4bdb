import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSecretResolver, parseSecretReference } from '../../../src/providers/secrets.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'secrets-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

describe('secret references', () => {
  it.each(['env:NAME', 'env:_a1', 'file:/run/secrets/x'])('knows %s', (text) => {
    expect(parseSecretReference(text)).not.toBeNull();
  });

  it.each(['NAME', 'env:', 'env:1A', 'env:A B', 'env:A\nB', 'file:relative', 'file:', 'sk-1'])(
    'refuses %j',
    (text) => {
      expect(parseSecretReference(text)).toBeNull();
    },
  );

  it('a variable is read at the time of use; empty or unprintable is unresolved', () => {
    const environment: Record<string, string | undefined> = {
      A: ' key ',
      E: '',
      N: 'a\nb',
      U: 'ü',
    };
    const resolve = createSecretResolver({ environment, clock: new VirtualClock() });
    expect(resolve('env:A')).toBe('key');
    environment['A'] = 'other';
    expect(resolve('env:A')).toBe('other');
    for (const name of ['env:E', 'env:N', 'env:U', 'env:MISSING', 'env:toString', 'literal']) {
      expect(resolve(name)).toBeNull();
    }
  });

  it('a file is read again after a while, so that a rotated key is used', async () => {
    const clock = new VirtualClock();
    const path = join(directory, 'key');
    const resolve = createSecretResolver({ environment: {}, clock, cacheMs: 1000 });
    expect(resolve(`file:${path}`)).toBeNull();
    await clock.advance(1000);
    writeFileSync(path, 'first\n');
    expect(resolve(`file:${path}`)).toBe('first');
    writeFileSync(path, 'second');
    await clock.advance(999);
    expect(resolve(`file:${path}`)).toBe('first');
    await clock.advance(1);
    expect(resolve(`file:${path}`)).toBe('second');
  });

  it('a JSON document over several lines is read as one', () => {
    const path = join(directory, 'account.json');
    const account = { type: 'service_account', private_key: 'a\nb\n' };
    writeFileSync(path, `${JSON.stringify(account, null, 2)}\n`);
    const environment = { J: '{\n "a": 1\n}', B: '{\n "a": \n' };
    const resolve = createSecretResolver({ environment, clock: new VirtualClock() });
    expect(resolve(`file:${path}`)).toBe(JSON.stringify(account));
    expect(resolve('env:J')).toBe('{"a":1}');
    expect(resolve('env:B')).toBeNull();
  });

  it('a folder, a pipe, a huge file and a device do not resolve', () => {
    const resolve = createSecretResolver({ environment: {}, clock: new VirtualClock() });
    const huge = join(directory, 'huge');
    writeFileSync(huge, 'x'.repeat(20_000));
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const path of [directory, pipe, huge, '/dev/zero', '/nonexistent']) {
      expect(resolve(`file:${path}`)).toBeNull();
    }
  });
});
