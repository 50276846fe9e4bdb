/** Prompt sources by name -> variants; and the `.prompt` files of a folder -> sources. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fail, type Result, success } from '../base/result.ts';
import { compileVariant } from './compile-variant.ts';
import type { Variant } from './variant.ts';

/** Sources by name; a name that starts with `_` is a partial. */
export type PromptSources = { readonly [name: string]: string };

export type PromptFault = { readonly name: string; readonly message: string };

export type LoadedPrompts = {
  readonly sources: PromptSources;
  readonly variants: ReadonlyMap<string, Variant>;
  readonly faults: readonly PromptFault[];
};

export const promptNamePattern = /^_?[a-z0-9][a-z0-9._-]{0,127}$/;
const sourceLengthMax = 262_144;
const sourcesMax = 1_000;
const extension = '.prompt';

/** Compiles every source; those of `previous` whose variant would be the same are taken from there. */
export async function loadVariants(
  sources: PromptSources,
  previous?: LoadedPrompts,
): Promise<LoadedPrompts> {
  const names = Object.keys(sources);
  const variants = new Map<string, Variant>();
  const faults: PromptFault[] = [];
  if (names.length > sourcesMax) {
    faults.push({ name: '', message: `more than ${sourcesMax} prompts` });
    return { sources, variants, faults };
  }
  const sound = names.filter((name) => {
    const message = sourceFault(name, sources[name]);
    if (message !== null) faults.push({ name: name.slice(0, 128), message });
    return message === null;
  });
  const partials = new Map(
    sound
      .filter((name) => name.startsWith('_'))
      .map((name) => [name.slice(1), sources[name] ?? '']),
  );
  const isSamePartials = previous !== undefined && hasSamePartials(sources, previous.sources);
  for (const name of sound.filter((each) => !each.startsWith('_'))) {
    const source = sources[name] ?? '';
    const known = previous?.variants.get(name);
    if (isSamePartials && known !== undefined && known.source === source) {
      variants.set(name, known);
      continue;
    }
    const variant = await compileVariant({ name, source, partials });
    if (variant.ok) variants.set(name, variant.value);
    else faults.push(...variant.fault.map((message) => ({ name, message })));
  }
  return { sources, variants, faults };
}

/** The sources of `*.prompt` in `directory`; none when it does not exist. Faults name the file. */
export function readPromptDirectory(
  directory: string,
): Result<PromptSources, readonly PromptFault[]> {
  const sources: [string, string][] = [];
  const faults: PromptFault[] = [];
  for (const file of promptFiles(directory)) {
    const name = file.slice(0, -extension.length);
    const source = readSource(join(directory, file));
    if (source.ok) sources.push([name, source.value]);
    else faults.push({ name, message: source.fault });
  }
  return faults.length > 0 ? fail(faults) : success(Object.fromEntries(sources));
}

function sourceFault(name: string, source: unknown): string | null {
  if (!promptNamePattern.test(name)) {
    return 'a prompt is named with a-z, 0-9, dot, dash and underscore';
  }
  if (typeof source !== 'string') return 'the source must be text';
  return source.length > sourceLengthMax ? `longer than ${sourceLengthMax} characters` : null;
}

function hasSamePartials(sources: PromptSources, before: PromptSources): boolean {
  const names = new Set([...Object.keys(sources), ...Object.keys(before)]);
  return [...names].every((name) => !name.startsWith('_') || sources[name] === before[name]);
}

function promptFiles(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((file) => file.endsWith(extension))
      .sort();
  } catch {
    return [];
  }
}

function readSource(path: string): Result<string, string> {
  try {
    const file = statSync(path);
    if (!file.isFile()) return fail('is not a file');
    if (file.size > sourceLengthMax * 4) return fail('the file is too large');
    return success(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)));
  } catch (error) {
    return fail(error instanceof TypeError ? 'is not UTF-8 text' : 'cannot be read');
  }
}
