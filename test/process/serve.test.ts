import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { type GatewayProcess, Workplace } from './gateway-process.ts';

const shell = promisify(execFile);
const place = new Workplace();
const minute = 60_000;

afterEach(() => place.close());

/** The command that the banner prints below `title`. */
function printed(gateway: GatewayProcess, title: string): string {
  const command = gateway.out.split(title)[1]?.split('\n\n')[0]?.trim();
  if (command === undefined) throw new Error(`no command below "${title}" in: ${gateway.out}`);
  return command;
}

async function paste(command: string, cwd: string): Promise<string> {
  return (await shell('sh', ['-c', command], { cwd })).stdout;
}

async function servedRows(
  origin: string,
  directory: string,
  query = '',
): Promise<Record<string, unknown>[]> {
  const key = readFileSync(join(directory, 'data', 'admin.key'), 'utf8').trim();
  const answer = await fetch(`${origin}/admin/v1/served${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return ((await answer.json()) as { data: Record<string, unknown>[] }).data;
}

function streamed(origin: string): Promise<Response> {
  return fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'smart',
      stream: true,
      messages: [{ role: 'user', content: `Repeat: ${'some words '.repeat(60)}` }],
    }),
  });
}

describe('a first start, with nothing', () => {
  it(
    'SE-05 prints commands that work as pasted, and makes an admin key for its owner alone',
    async () => {
      const directory = place.directory();
      const gateway = place.run(['serve', '--port', '0'], directory);
      const origin = await gateway.origin();
      expect(gateway.out).toContain('simulated');
      expect(await paste(printed(gateway, 'Ask a tier:'), directory)).toContain('HTTP/1.1 200');
      await paste(printed(gateway, 'a few times:'), directory);
      const broken = await paste(printed(gateway, 'Ask a tier:'), directory);
      expect(broken).toContain('HTTP/1.1 200');
      const [latest, first] = await servedRows(origin, directory);
      expect(latest?.['provider']).not.toBe(first?.['provider']);
      expect(
        JSON.parse(await paste(printed(gateway, 'Read who served:'), directory)),
      ).toMatchObject({
        data: [{ outcome: 'served' }, { outcome: 'served' }],
      });
      const edited = JSON.parse(await paste(printed(gateway, 'follows:'), directory));
      expect(edited).toMatchObject({ name: 'smart', version: 2 });
      const after = await paste(printed(gateway, 'Ask a tier:'), directory);
      expect(after).toContain('x-tiergate-config-version: 2');
      expect(after).toContain('x-tiergate-attempts: 1');

      const keyFile = join(directory, 'data', 'admin.key');
      expect(statSync(keyFile).mode & 0o777).toBe(0o600);
      expect(gateway.out + gateway.err).not.toContain(readFileSync(keyFile, 'utf8').trim());
      gateway.signal('SIGTERM');
      expect(await gateway.ended).toBe(0);
    },
    2 * minute,
  );

  it(
    'LG-06 SIGTERM lets a running stream end, refuses new connections, loses no row; exit 0',
    async () => {
      const directory = place.directory();
      const first = place.run(['serve', '--port', '0'], directory);
      const origin = await first.origin();
      const response = await streamed(origin);
      const id = response.headers.get('x-tiergate-request-id') ?? '';
      const reader = response.body?.getReader();
      await reader?.read();
      first.signal('SIGTERM');
      await first.says(/draining/);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await expect(fetch(`${origin}/healthz`)).rejects.toThrow();
      let last = '';
      for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
        last = Buffer.from(step.value).toString();
      }
      expect(last).toContain('[DONE]');
      expect(await first.ended).toBe(0);

      const second = place.run(['serve', '--port', '0'], directory);
      const rows = await servedRows(await second.origin(), directory);
      expect(rows).toEqual([expect.objectContaining({ id, outcome: 'served' })]);
      second.signal('SIGINT');
      expect(await second.ended).toBe(0);
    },
    2 * minute,
  );

  it(
    'LG-06 a second signal ends it at once',
    async () => {
      const gateway = place.run(['serve', '--port', '0'], place.directory());
      const response = await streamed(await gateway.origin());
      await response.body?.getReader().read();
      gateway.signal('SIGTERM');
      await gateway.says(/draining/);
      const told = performance.now();
      gateway.signal('SIGTERM');
      expect(await gateway.ended).toBe(143);
      expect(performance.now() - told).toBeLessThan(2000);
    },
    2 * minute,
  );
});

describe('a start that cannot be', () => {
  it(
    'on a port in use says which and what to do',
    async () => {
      const holder = createServer();
      const port = await new Promise<number>((resolve) => {
        holder.listen(0, '127.0.0.1', () => {
          const address = holder.address();
          resolve(typeof address === 'object' && address !== null ? address.port : 0);
        });
      });
      const gateway = place.run(['serve', '--port', String(port)], place.directory());
      expect(await gateway.ended).toBe(1);
      expect(gateway.err).toContain(`port ${port} on 127.0.0.1 is in use`);
      expect(gateway.err).toContain('--port N');
      expect(gateway.err).not.toContain('    at ');
      holder.close();
    },
    minute,
  );

  it.each<[string, string[], Record<string, string>, RegExp]>([
    ['beyond loopback without keys', ['--host', '0.0.0.0'], {}, /openssl rand/],
    [
      'SE-05 with a blank client key',
      [],
      { TIERGATE_CLIENT_KEY: ' ' },
      /TIERGATE_CLIENT_KEY is set and blank/,
    ],
    ['with a document that is not there', ['--config', 'none.yaml'], {}, /none\.yaml/],
  ])(
    '%s is refused with what to do',
    async (_name, argv, variables, words) => {
      const gateway = place.run(['serve', '--port', '0', ...argv], place.directory(), variables);
      expect(await gateway.ended).toBe(1);
      expect(gateway.err).toMatch(words);
      expect(gateway.err).not.toContain('    at ');
    },
    minute,
  );
});
