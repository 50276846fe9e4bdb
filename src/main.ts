#!/usr/bin/env node
/** The process's entry. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from './cli/command-line.ts';
import { commands, productVersion } from './cli/commands.ts';
import { processConsole } from './cli/console.ts';
import { processEnvironment } from './env.ts';

// Types are stripped once, not at each start. Kept inside the project: what lies there is code that runs.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/tiergate', import.meta.url)));
const console = processConsole();
const code = await runCommandLine({
  argv: process.argv.slice(2),
  commands,
  version: productVersion(),
  console,
  environment: processEnvironment,
});
console.exit(code);
