/** Chooses the command, shows help, and turns what happened into an exit code: 0, 1 (not fine), 2 (usage). */
import { nearest } from '../base/nearest.ts';
import type { Environment } from '../env.ts';
import type { Console } from './console.ts';
import { describeFlags, type Flag, type FlagValues, parseFlags } from './flags.ts';

export type CommandRun = {
  readonly flags: FlagValues;
  readonly console: Console;
  readonly environment: Environment;
};

export type Command = {
  readonly name: string;
  /** One line. */
  readonly summary: string;
  /** What help says beside the flags; lines end in a newline. */
  readonly details: string;
  readonly flags: readonly Flag[];
  /** Gives the exit code. */
  readonly run: (run: CommandRun) => Promise<number>;
};

export type CommandLine = {
  readonly argv: readonly string[];
  readonly commands: readonly Command[];
  readonly version: string;
  readonly console: Console;
  readonly environment: () => Environment;
};

const usageCode = 2;

export async function runCommandLine(line: CommandLine): Promise<number> {
  const { argv, commands, version, console } = line;
  const [name = '', ...rest] = argv;
  if (name === '--version' || name === '-v' || name === 'version') {
    console.write(`${version}\n`);
    return 0;
  }
  if (name === '--help' || name === '-h' || name === 'help') return help(line, rest[0]);
  const command = commands.find((known) => known.name === name);
  if (command === undefined) {
    console.writeError(name === '' ? overview(line) : `${unknownCommand(name, commands)}\n`);
    return usageCode;
  }
  const flags = parseFlags(command.flags, rest);
  if (!flags.ok) {
    console.writeError(
      `tiergate ${command.name}: ${flags.fault}\nSee tiergate ${command.name} --help.\n`,
    );
    return usageCode;
  }
  if (flags.value.isOn('help')) {
    console.write(commandHelp(command));
    return 0;
  }
  return command.run({ flags: flags.value, console, environment: line.environment() });
}

function help(line: CommandLine, name: string | undefined): number {
  const command = line.commands.find((known) => known.name === name);
  if (name !== undefined && command === undefined) {
    line.console.writeError(`${unknownCommand(name, line.commands)}\n`);
    return usageCode;
  }
  line.console.write(command === undefined ? overview(line) : commandHelp(command));
  return 0;
}

function overview({ commands, version }: CommandLine): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`);
  return [
    `Tiergate ${version}: applications ask for a tier, the gateway finds who can answer.\n\n`,
    'Usage: tiergate COMMAND [flags]\n\n',
    ...list,
    '\nFlags of a command: tiergate COMMAND --help. Version: tiergate --version.\n',
  ].join('');
}

function commandHelp(command: Command): string {
  const usage = `Usage: tiergate ${command.name} [flags]\n\n${command.summary}.\n`;
  const details = command.details === '' ? '' : `\n${command.details}`;
  return `${usage}${details}\n${describeFlags(command.flags)}`;
}

function unknownCommand(name: string, commands: readonly Command[]): string {
  const shown = name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
  const near = nearest(
    name,
    commands.map((command) => command.name),
  );
  const meant = near === null ? '' : `; did you mean ${near}?`;
  return `tiergate: unknown command "${shown}"${meant}\nSee tiergate --help.`;
}
