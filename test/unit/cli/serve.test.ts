import { describe, expect, it } from 'vitest';
import { parseFlags } from '../../../src/cli/flags.ts';
import { runServe } from '../../../src/cli/serve.ts';
import { serveFlags } from '../../../src/cli/serve-settings.ts';
import { readEnvironment } from '../../../src/env.ts';
import type { App, AppOptions, StartApp } from '../../../src/http/app-ports.ts';
import { settle } from '../../support/virtual-clock.ts';
import { FakeConsole } from './fake-console.ts';

const facts: App['facts'] = {
  origin: 'http://127.0.0.1:1',
  configVersion: 1,
  configSource: 'tiergate.yaml',
  tiers: [],
  simulatorOrigin: null,
  adminKeyFile: null,
  isClientKeyRequired: false,
  notices: ['look here'],
};

type Started = { options: AppOptions | null; drains: number; finishDrain: () => void };

function appThat(drains: 'at once' | 'never'): { startApp: StartApp; seen: Started } {
  const seen: Started = { options: null, drains: 0, finishDrain: () => undefined };
  const startApp: StartApp = async (options) => {
    seen.options = options;
    const app: App = {
      facts,
      drain: () => {
        seen.drains += 1;
        if (drains === 'at once') return Promise.resolve({ cut: 0 });
        return new Promise((resolve) => {
          seen.finishDrain = () => resolve({ cut: 0 });
        });
      },
      close: async () => undefined,
    };
    return { ok: true, value: app };
  };
  return { startApp, seen };
}

function serve(input: {
  readonly startApp: StartApp;
  readonly console: FakeConsole;
  readonly argv?: readonly string[];
  readonly variables?: Record<string, string>;
}) {
  const flags = parseFlags(serveFlags, input.argv ?? []);
  if (!flags.ok) throw new Error(flags.fault);
  return runServe({
    flags: flags.value,
    console: input.console,
    environment: readEnvironment(input.variables ?? {}),
    loadApp: async () => input.startApp,
    version: '1.2.3',
  });
}

describe('serve', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('LG-06 drains on %s and ends with 0', async (signal) => {
    const { startApp, seen } = appThat('at once');
    const console = new FakeConsole();
    const ended = serve({ startApp, console });
    await settle();
    expect(seen.drains).toBe(0);
    console.send(signal);
    expect(await ended).toBe(0);
    expect(seen.drains).toBe(1);
    expect(console.listeners).toBe(0);
  });

  it('LG-06 a second signal ends it at once', async () => {
    const { startApp, seen } = appThat('never');
    const console = new FakeConsole();
    const ended = serve({ startApp, console });
    await settle();
    console.send('SIGTERM');
    await settle();
    expect(seen.drains).toBe(1);
    console.send('SIGTERM');
    expect(await ended).toBe(143);
  });

  it('a rejection that nobody caught is logged, and it serves on', async () => {
    const { startApp, seen } = appThat('at once');
    const console = new FakeConsole('/nowhere', false);
    const ended = serve({ startApp, console });
    await settle();
    console.break(new Error('lost promise'), true);
    await settle();
    expect(seen.drains).toBe(0);
    expect(console.out).toContain('internal_error');
    expect(console.out).toContain('lost promise');
    console.send('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('an exception that nobody caught drains it, with code 1', async () => {
    const { startApp, seen } = appThat('at once');
    const console = new FakeConsole();
    const ended = serve({ startApp, console });
    await settle();
    console.break(new Error('broken'), false);
    expect(await ended).toBe(1);
    expect(seen.drains).toBe(1);
  });

  it('says the commands to people, and one JSON line to a program', async () => {
    for (const isTerminal of [true, false]) {
      const { startApp } = appThat('at once');
      const console = new FakeConsole('/nowhere', isTerminal);
      const ended = serve({ startApp, console, variables: { DATABASE_URL: 'postgres://x' } });
      await settle();
      console.send('SIGTERM');
      await ended;
      if (isTerminal) expect(console.out).toContain('Tiergate 1.2.3 listens on http://127.0.0.1:1');
      else {
        const lines = console.out
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line));
        expect(lines[0]).toMatchObject({ msg: 'listening', origin: 'http://127.0.0.1:1' });
        expect(lines.map(({ msg }) => msg)).toContain('look here');
      }
      expect(console.out).toContain('DATABASE_URL is set and not used');
      expect(console.out).not.toContain('postgres://x');
    }
  });

  it('hands keys and references on, and never writes a key', async () => {
    const { startApp, seen } = appThat('at once');
    const console = new FakeConsole();
    const variables = {
      TIERGATE_ADMIN_KEY: 'admin-secret-0123',
      TIERGATE_CLIENT_KEY: 'client-secret-0123',
      P1_KEY: 'provider-secret',
      REDIS_URL: 'redis://:redis%2Dsecret@127.0.0.1',
    };
    const ended = serve({ startApp, console, variables, argv: ['--host', '0.0.0.0'] });
    await settle();
    seen.options?.log.error('client-secret-0123 and admin-secret-0123');
    seen.options?.log.error('redis-secret, redis%2Dsecret, redis://:redis%2Dsecret@127.0.0.1');
    console.send('SIGTERM');
    await ended;
    expect(seen.options).toMatchObject({
      adminKey: 'admin-secret-0123',
      clientKey: 'client-secret-0123',
      environment: { P1_KEY: 'provider-secret' },
      redis: { shown: '127.0.0.1:6379/0' },
      host: '0.0.0.0',
    });
    expect(seen.options?.environment['REDIS_URL']).toBeUndefined();
    expect(console.out + console.err).not.toMatch(/(-|%2D)secret/);
  });

  it('refuses to listen beyond loopback without keys, before anything starts', async () => {
    const { startApp, seen } = appThat('at once');
    const console = new FakeConsole();
    expect(await serve({ startApp, console, argv: ['--host', '0.0.0.0'] })).toBe(1);
    expect(seen.options).toBeNull();
    expect(console.err).toContain('TIERGATE_CLIENT_KEY=$(openssl rand -hex 32)');
  });

  it('a start that fails says what, where and what to do', async () => {
    const console = new FakeConsole();
    const startApp: StartApp = async () => ({
      ok: false,
      fault: {
        code: 'port_in_use',
        message: 'port 8437 on 127.0.0.1 is in use',
        details: ['by x'],
      },
    });
    expect(await serve({ startApp, console })).toBe(1);
    expect(console.err).toContain('port 8437 on 127.0.0.1 is in use');
    expect(console.err).toContain('  by x');
    expect(console.err).toContain('--port N');
    expect(console.listeners).toBe(0);
  });
});
