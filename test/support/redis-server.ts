/**
 * Redis for tests: the server that answers at TIERGATE_TEST_REDIS (127.0.0.1:6379), and servers of a
 * test's own. Without one a suite says why it did not run; in CI that is a failure (`.ci/run` brings both).
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createClient } from '@redis/client';

const readyMsMax = 10_000;

/** A client for a test: each command is a list of words. */
export type RedisConsole = {
  readonly run: (...command: readonly string[]) => Promise<unknown>;
  readonly close: () => void;
};

export async function openConsole(url: string): Promise<RedisConsole> {
  const client = createClient({ url, socket: { reconnectStrategy: false, connectTimeout: 2_000 } });
  client.on('error', () => undefined);
  await client.connect();
  return {
    run: (...command) => client.sendCommand([...command]),
    close: () => client.destroy(),
  };
}

/** The address of the server that is there anyway, for tests that leave nothing but short-lived keys. */
export async function standingRedis(): Promise<string | null> {
  const url = process.env['TIERGATE_TEST_REDIS'] ?? 'redis://127.0.0.1:6379';
  if ((await readyFault(url)) === null) return url;
  return missing(`no Redis answers at ${url} (set TIERGATE_TEST_REDIS)`);
}

/** Whether `OwnRedis` can be started here. */
export function hasRedisServer(): boolean {
  if (spawnSync('redis-server', ['--version']).status === 0) return true;
  missing('there is no redis-server to start');
  return false;
}

function missing(reason: string): null {
  if (process.env['CI'] === 'true') throw new Error(reason);
  console.log(`${reason}: its tests did not run`);
  return null;
}

async function readyFault(url: string): Promise<string | null> {
  try {
    const console = await openConsole(url);
    await console.run('PING');
    console.close();
    return null;
  } catch (error) {
    // What it says while it loads or wants a password is an answer too, but not one to test with.
    return error instanceof Error ? error.message : String(error);
  }
}

/** A server on a loopback port, which keeps nothing on disk and can be killed and started again. */
export class OwnRedis {
  readonly port: number;
  readonly #password: string | null;
  #child: ChildProcess | null = null;

  private constructor(port: number, password: string | null) {
    this.port = port;
    this.#password = password;
  }

  static async start(options: { readonly password?: string } = {}): Promise<OwnRedis> {
    const server = new OwnRedis(await freePort(), options.password ?? null);
    await server.start();
    return server;
  }

  get url(): string {
    const user = this.#password === null ? '' : `:${this.#password}@`;
    return `redis://${user}127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const settings = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', ''];
    const secret = this.#password === null ? [] : ['--requirepass', this.#password];
    this.#child = spawn('redis-server', [...settings, ...secret], { stdio: 'ignore' });
    const untilMs = Date.now() + readyMsMax;
    for (;;) {
      const fault = await readyFault(this.url);
      if (fault === null) return;
      if (Date.now() > untilMs) throw new Error(`redis-server is not ready: ${fault}`);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
