import { describe, expect, it } from 'vitest';
import { type Command, runCommandLine } from '../../../src/cli/command-line.ts';
import { commands, productVersion } from '../../../src/cli/commands.ts';
import { type Flag, parseFlags } from '../../../src/cli/flags.ts';
import { readEnvironment } from '../../../src/env.ts';
import { FakeConsole } from './fake-console.ts';

const flags: readonly Flag[] = [
  { name: 'port', kind: 'text', placeholder: 'N', summary: 'a port' },
  { name: 'json', kind: 'switch', summary: 'as JSON' },
];

const echo: Command = {
  name: 'serve',
  summary: 'Echo',
  details: 'More.\n',
  flags,
  run: async ({ flags: given, console }) => {
    console.write(`port ${given.text('port')}, json ${given.isOn('json')}`);
    return 7;
  },
};

async function run(...argv: string[]) {
  const console = new FakeConsole();
  const environment = () => readEnvironment({});
  const code = await runCommandLine({
    argv,
    commands: [echo],
    version: '1.2.3',
    console,
    environment,
  });
  return { code, out: console.out, err: console.err };
}

describe('a command line', () => {
  it('runs the command and gives its code', async () => {
    expect(await run('serve', '--port', '1', '--json')).toMatchObject({
      code: 7,
      out: 'port 1, json true',
    });
    expect(await run('serve', '--port=1')).toMatchObject({ out: 'port 1, json false' });
  });

  it.each([['--version'], ['-v'], ['version']])('%s tells the version', async (argument) => {
    expect(await run(argument)).toEqual({ code: 0, out: '1.2.3\n', err: '' });
  });

  it.each([[['--help']], [['-h']], [['help']]])('%s shows every command', async (argv) => {
    const { code, out } = await run(...argv);
    expect(code).toBe(0);
    expect(out).toContain('serve');
  });

  it.each([
    [['serve', '--help']],
    [['serve', '-h']],
    [['help', 'serve']],
    [['serve', '--port', '1', '--help']],
  ])('%s shows the flags and runs nothing', async (argv) => {
    const { code, out } = await run(...argv);
    expect(code).toBe(0);
    expect(out).toContain('--port N');
    expect(out).toContain('More.');
    expect(out).not.toContain('port 1,');
  });

  it.each<[string[], string]>([
    [[], 'Usage'],
    [['srve'], 'did you mean serve?'],
    [['help', 'srve'], 'did you mean serve?'],
    [['x\u001b[2Jy'], 'x?[2Jy'],
    [['serve', '--prot', '1'], 'did you mean --port?'],
    [['serve', '--zzzzzz'], 'unknown flag --zzzzzz'],
    [['serve', '-p'], 'unknown flag -p'],
    [['serve', '--port'], '--port wants a value (N)'],
    [['serve', '--port='], '--port wants a value'],
    [['serve', '--port', '--json'], '--port wants a value'],
    [['serve', '--json=yes'], '--json takes no value'],
    [['serve', 'extra'], 'unexpected argument "extra"'],
    [['serve', '--', 'extra'], 'unexpected argument "extra"'],
  ])('%j is wrong usage: code 2 and a word on it', async (argv, word) => {
    const { code, err, out } = await run(...argv);
    expect(code).toBe(2);
    expect(err).toContain(word);
    expect(out).toBe('');
  });
});

it('a value may begin with a dash behind "="', () => {
  const parsed = parseFlags(flags, ['--port=--1']);
  expect(parsed.ok && parsed.value.text('port')).toBe('--1');
});

it('every command of the product has help of its own', async () => {
  for (const { name } of commands) {
    const console = new FakeConsole();
    const code = await runCommandLine({
      argv: [name, '--help'],
      commands,
      version: productVersion(),
      console,
      environment: () => readEnvironment({}),
    });
    expect(code).toBe(0);
    expect(console.out).toContain(`Usage: tiergate ${name}`);
  }
  expect(productVersion()).toMatch(/^\d+\.\d+\.\d+/);
});

it.each([['--help'], ...commands.map(({ name }) => [name, '--help'])])(
  'the help of %s %s fits a terminal of 80 columns',
  async (...argv) => {
    const console = new FakeConsole();
    const environment = () => readEnvironment({});
    const version = productVersion();
    await runCommandLine({ argv, commands, version, console, environment });
    expect(console.out).toContain('Usage: tiergate');
    expect(console.out.split('\n').filter((line) => line.length > 80)).toEqual([]);
  },
);
