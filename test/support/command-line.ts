/** Options of the repository's own commands (fuzz, soak, bench). */
import { type ParseArgsConfig, parseArgs } from 'node:util';

type Parsed<Config extends ParseArgsConfig> = ReturnType<typeof parseArgs<Config>>;

/** What was given, or the exit code with which to end: 0 after `--help`, 2 after a wrong option. */
export function readCommandLine<Config extends ParseArgsConfig>(
  help: string,
  config: Config,
): Parsed<Config> | number {
  let parsed: Parsed<Config>;
  try {
    parsed = parseArgs(config);
  } catch (error) {
    const message = error instanceof Error ? error.message.split('. ')[0] : String(error);
    process.stderr.write(`${message}\n\n${help}`);
    return 2;
  }
  const values: { readonly help?: unknown } = parsed.values;
  if (values.help !== true) return parsed;
  process.stdout.write(help);
  return 0;
}
