/** The commands of `tiergate`. What a command needs is loaded when it runs, so that help is quick. */
import { readFileSync } from 'node:fs';
import { parseJson, stringAt } from '../base/json.ts';
import type { Command, CommandRun } from './command-line.ts';
import { serveFlags } from './serve-settings.ts';

export const commands: readonly Command[] = [
  {
    name: 'serve',
    summary: 'Start the gateway',
    details: `Without a document and without provider keys in the environment it starts on
simulated providers and prints commands to try. Flags win over environment
variables (in brackets, with the default). SIGTERM or SIGINT drains and ends
it; a second one ends it at once.
`,
    flags: serveFlags,
    run: async (run) => {
      const { runServe } = await import('./serve.ts');
      const loadApp = async () => (await import('../app.ts')).startApp;
      return runServe({ ...run, loadApp, version: productVersion() });
    },
  },
  {
    name: 'doctor',
    summary: 'Check keys, providers, prompts, database, clock and port',
    details: `Takes the flags and variables of serve. Spends no tokens. Exit code 1 when
something is wrong.
`,
    flags: [
      ...serveFlags,
      { name: 'json', kind: 'switch', summary: 'one JSON document instead of lines' },
    ],
    run: async (run) => (await import('./doctor.ts')).runDoctor(run),
  },
  {
    name: 'simulate',
    summary: 'Start the simulated providers alone',
    details: `Three servers that speak real wire formats on loopback, with faults on demand.
`,
    flags: [
      { name: 'host', kind: 'text', placeholder: 'H', summary: 'address (127.0.0.1)' },
      {
        name: 'port',
        kind: 'text',
        placeholder: 'N',
        summary: 'control; providers take the four after it; 0 = any (8438)',
      },
      { name: 'instant', kind: 'switch', summary: 'answer at once instead of at a lifelike pace' },
      { name: 'require-key', kind: 'switch', summary: 'refuse requests without a credential' },
      { name: 'seed', kind: 'text', placeholder: 'N', summary: 'decides ids and shares (1)' },
    ],
    run: simulate,
  },
  {
    name: 'demo',
    summary: 'Watch a tier survive an outage, in about 20 seconds',
    details: '',
    flags: [],
    run: demo,
  },
];

/** From package.json, the one place that states it. */
export function productVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const manifest = parseJson(text);
  return (manifest.ok ? stringAt(manifest.value, 'version') : null) ?? 'unknown';
}

async function simulate({ flags, console }: CommandRun): Promise<number> {
  const port = wholeNumber(flags.text('port') ?? '8438', 65_532);
  const seed = wholeNumber(flags.text('seed') ?? '1', 2 ** 31 - 1);
  if (port === null || seed === null) {
    const [name, max] = port === null ? ['--port', 65_532] : ['--seed', 2 ** 31 - 1];
    console.writeError(`tiergate simulate: ${name} is no whole number from 0 to ${max}\n`);
    return 2;
  }
  const { runSimulate } = await import('./simulate.ts');
  return runSimulate({
    host: flags.text('host') ?? '127.0.0.1',
    port,
    seed,
    isInstant: flags.isOn('instant'),
    isKeyRequired: flags.isOn('require-key'),
    write: console.write,
  });
}

async function demo({ console }: CommandRun): Promise<number> {
  const { runDemo } = await import('./demo.ts');
  const ending = new AbortController();
  const stop = console.onSignal(() => ending.abort());
  try {
    return await runDemo({
      write: console.write,
      isTerminal: console.isTerminal,
      columns: console.columns,
      signal: ending.signal,
    });
  } finally {
    stop();
  }
}

function wholeNumber(text: string, max: number): number | null {
  return /^\d{1,10}$/.test(text) && Number(text) <= max ? Number(text) : null;
}
