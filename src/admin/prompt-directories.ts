/** The prompts of several directories as one set. */
import { fail, type Result, success } from '../base/result.ts';
import { type PromptSources, readPromptDirectory } from '../prompts/load-variants.ts';
import type { SeedFault } from './config-seed.ts';

/** Later directories win: the operator's prompts stand beside the shipped ones. */
export function readPromptDirectories(
  directories: readonly string[],
): Result<PromptSources, SeedFault> {
  let sources: PromptSources = {};
  for (const directory of directories) {
    const read = readPromptDirectory(directory);
    if (!read.ok) {
      const details = read.fault.map(({ name, message }) => `${name}: ${message}`);
      return fail({ message: `prompts in ${directory} cannot be read`, details });
    }
    sources = { ...sources, ...read.value };
  }
  return success(sources);
}
