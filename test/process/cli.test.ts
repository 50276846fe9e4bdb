import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { Workplace } from './gateway-process.ts';

const place = new Workplace();
const minute = 60_000;

afterEach(() => place.close());

async function run(
  argv: readonly string[],
  cwd = place.directory(),
  variables: Record<string, string> = {},
) {
  const command = place.run(argv, cwd, variables);
  const code = await command.ended;
  return { code, out: command.out, err: command.err };
}

describe('the command line', () => {
  it(
    'tells its version and its commands, and what was meant by a wrong one',
    async () => {
      expect((await run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
      const help = await run(['--help']);
      expect(help.code).toBe(0);
      for (const name of ['serve', 'simulate', 'doctor', 'demo']) expect(help.out).toContain(name);
      const wrong = await run(['docter']);
      expect(wrong).toMatchObject({ code: 2, out: '' });
      expect(wrong.err).toContain('did you mean doctor?');
    },
    minute,
  );

  it(
    'does not mind a reader that goes away',
    async () => {
      const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
      const script = `"${process.execPath}" "${main}" --help | head -c 1; echo; echo "$?"`;
      const out = await new Promise<string>((resolve, reject) => {
        execFile('sh', ['-c', script], (error, stdout, stderr) => {
          if (error !== null) reject(error);
          else resolve(stdout + stderr);
        });
      });
      expect(out).toBe('T\n0\n');
    },
    minute,
  );
});

describe('doctor', () => {
  const tiers = 'tiers: { fast: { targets: [{ provider: p1, model: m }] } }\n';

  it(
    'finds nothing wrong where nothing is, without asking for an answer',
    async () => {
      const asked: string[] = [];
      const provider = createServer((request, response) => {
        asked.push(`${request.method} ${JSON.stringify(request.headers)}`);
        response.writeHead(404).end();
      });
      await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
      const address = provider.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      const directory = place.directory();
      const document = `providers: { p1: { kind: openai-compatible, base_url: "http://127.0.0.1:${port}/v1", api_keys: [env:P1_KEY] } }\n${tiers}`;
      writeFileSync(join(directory, 'tiergate.yaml'), document);
      const report = await run(['doctor', '--json', '--port', '0'], directory, {
        P1_KEY: 'sk-CANARY-0123456789',
      });
      provider.close();
      const { ok, checks } = JSON.parse(report.out);
      expect({ ok, code: report.code }).toEqual({ ok: true, code: 0 });
      expect(checks).toContainEqual({
        subject: 'provider p1',
        state: 'ok',
        message: 'key P1_KEY is set',
        advice: null,
      });
      expect(asked).toHaveLength(1);
      expect(asked[0]).toMatch(/^GET/);
      expect(asked[0] + report.out + report.err).not.toContain('CANARY');
    },
    minute,
  );

  it(
    'says what is wrong and what to do, with code 1',
    async () => {
      const directory = place.directory();
      const document = `providers: { p1: { kind: openai-compatible, base_url: "http://127.0.0.1:1/v1", api_keys: [env:P1_KEY] } }\n${tiers}`;
      writeFileSync(join(directory, 'tiergate.yaml'), document);
      const unreachable = await run(['doctor', '--port', '0'], directory);
      expect(unreachable.code).toBe(1);
      expect(unreachable.out).toContain('set the variable P1_KEY');
      expect(unreachable.out).toContain('refuses connections');
      expect(unreachable.out).toContain('2 things are wrong');

      writeFileSync(join(directory, 'tiergate.yaml'), `${document}tires: {}\n`);
      const invalid = await run(['doctor', '--json', '--port', '0'], directory);
      expect(invalid.code).toBe(1);
      const { checks } = JSON.parse(invalid.out);
      expect(checks).toContainEqual(
        expect.objectContaining({
          subject: 'config',
          state: 'wrong',
          message: expect.stringContaining('tires'),
        }),
      );
    },
    minute,
  );

  it(
    'knows a start without anything, and a flag that is no port',
    async () => {
      const fresh = await run(['doctor', '--port', '0']);
      expect(fresh.code).toBe(0);
      expect(fresh.out).toContain('simulated providers');
      expect((await run(['doctor', '--port', 'x'])).code).toBe(2);
    },
    minute,
  );
});
