import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseFlags } from '../../../src/cli/flags.ts';
import { exposureFault, readServeSettings, serveFlags } from '../../../src/cli/serve-settings.ts';
import { readEnvironment } from '../../../src/env.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tiergate-settings-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function settings(argv: readonly string[] = [], variables: Record<string, string> = {}) {
  const flags = parseFlags(serveFlags, argv);
  if (!flags.ok) throw new Error(flags.fault);
  return readServeSettings(flags.value, readEnvironment(variables), directory);
}

function settled(argv: readonly string[] = [], variables: Record<string, string> = {}) {
  const read = settings(argv, variables);
  if (!read.ok) throw new Error(read.fault.lines.join('\n'));
  return read.value;
}

describe('what serve runs with', () => {
  it('by default', () => {
    expect(settled()).toEqual({
      configFile: null,
      configMode: 'database',
      dataDirectory: join(directory, 'data'),
      host: '127.0.0.1',
      port: 8437,
      logLevel: 'info',
      redis: null,
    });
  });

  it('finds the document in the working directory', () => {
    writeFileSync(join(directory, 'tiergate.json'), '{}');
    expect(settled().configFile).toBe(join(directory, 'tiergate.json'));
    writeFileSync(join(directory, 'tiergate.yaml'), '{}');
    expect(settled().configFile).toBe(join(directory, 'tiergate.yaml'));
  });

  it('takes flags before the environment, and a blank variable as unset', () => {
    writeFileSync(join(directory, 'c.yaml'), '');
    const variables = {
      PORT: '1',
      HOST: '127.0.0.2',
      TIERGATE_DATA: 'elsewhere',
      TIERGATE_CONFIG: 'c.yaml',
      TIERGATE_CONFIG_MODE: 'file',
      LOG_LEVEL: 'warn',
    };
    expect(settled([], variables)).toEqual({
      configFile: join(directory, 'c.yaml'),
      configMode: 'file',
      dataDirectory: join(directory, 'elsewhere'),
      host: '127.0.0.2',
      port: 1,
      logLevel: 'warn',
      redis: null,
    });
    expect(settled(['--port', '0', '--host', '[::1]'], variables)).toMatchObject({
      port: 0,
      host: '::1',
    });
    expect(settled([], { PORT: ' ', HOST: '' })).toMatchObject({ port: 8437, host: '127.0.0.1' });
  });

  it.each<[string[], Record<string, string>, number, string]>([
    [['--port', '70000'], {}, 2, '--port'],
    [['--port', '-1'], {}, 2, '--port'],
    [['--port', '80x'], {}, 2, '--port'],
    [[], { PORT: '1e3' }, 2, 'PORT'],
    [['--host', 'a b'], {}, 2, '--host'],
    [['--config-mode', 'git'], {}, 2, '--config-mode'],
    [['--config-mode', 'file'], {}, 2, 'there is no file'],
    [['--config', 'missing.yaml'], {}, 1, 'missing.yaml'],
    [[], { LOG_LEVEL: 'loud' }, 2, 'LOG_LEVEL'],
    [[], { REDIS_URL: 'localhost:6379' }, 2, 'REDIS_URL is no address of the form redis://'],
  ])('%j with %j is refused', (argv, variables, code, word) => {
    const read = settings(argv, variables);
    expect(read.ok ? null : read.fault).toMatchObject({ code });
    expect(read.ok ? '' : read.fault.lines.join()).toContain(word);
  });

  it('takes the address of Redis, and a blank one as unset', () => {
    const variables = { REDIS_URL: 'rediss://u:secret-word@redis.example:6380/2' };
    expect(settled([], variables).redis).toMatchObject({ shown: 'redis.example:6380/2' });
    expect(settled([], { REDIS_URL: ' ' }).redis).toBeNull();
  });

  it.each(['TIERGATE_ADMIN_KEY', 'TIERGATE_CLIENT_KEY'])(
    'SE-05 %s set and blank does not count as unset',
    (name) => {
      for (const blank of ['', '  ', '\n']) {
        const read = settings([], { [name]: blank });
        expect(read.ok ? '' : read.fault.lines.join()).toContain(name);
      }
      const odd = settings([], { [name]: 'two words' });
      expect(odd.ok ? '' : odd.fault.lines.join()).not.toContain('two words');
      expect(odd.ok).toBe(false);
    },
  );
});

describe('listening beyond loopback', () => {
  const both = { TIERGATE_ADMIN_KEY: 'a-key-0123456789', TIERGATE_CLIENT_KEY: 'c-key-0123456789' };

  it.each(['127.0.0.1', '127.9.9.9', 'localhost', '::1'])('is not done by %s', (host) => {
    expect(exposureFault(settled(['--host', host]), readEnvironment({}))).toBeNull();
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', 'gateway.example', '127.0.0.1.example'])(
    '%s wants both keys and says how to make them',
    (host) => {
      const wide = settled(['--host', host]);
      const fault = exposureFault(wide, readEnvironment({}));
      expect(fault?.code).toBe(1);
      expect(fault?.lines.filter((line) => line.includes('openssl rand'))).toHaveLength(2);
      expect(
        exposureFault(wide, readEnvironment({ TIERGATE_ADMIN_KEY: 'a-key-0123456789' })),
      ).not.toBeNull();
      expect(
        exposureFault(wide, readEnvironment({ TIERGATE_CLIENT_KEY: 'c-key-0123456789' })),
      ).not.toBeNull();
      expect(exposureFault(wide, readEnvironment(both))).toBeNull();
    },
  );
});

it('the environment hands references on, without our own keys and blank ones', () => {
  const environment = readEnvironment({
    P1_KEY: 'k',
    EMPTY: ' ',
    TIERGATE_ADMIN_KEY: 'a',
    TIERGATE_CLIENT_KEY: 'c',
    REDIS_URL: 'redis://x',
    DATABASE_URL: 'postgres://x',
  });
  expect(environment.references).toEqual({
    P1_KEY: 'k',
    DATABASE_URL: 'postgres://x',
  });
  expect(environment.unused).toEqual(['DATABASE_URL']);
  expect(environment.redisUrl).toBe('redis://x');
  expect(environment.adminKey).toBe('a');
});
