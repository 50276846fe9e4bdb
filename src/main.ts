#!/usr/bin/env node
/** The process's entry. */
import { runCommandLine } from './cli/command-line.ts';
import { commands, productVersion } from './cli/commands.ts';
import { processConsole } from './cli/console.ts';
import { processEnvironment } from './env.ts';

const console = processConsole();
const code = await runCommandLine({
  argv: process.argv.slice(2),
  commands,
  version: productVersion(),
  console,
  environment: processEnvironment,
});
console.exit(code);
