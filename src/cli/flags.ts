/** Flags of a command: parsed by node, with a word on what was probably meant. */
import { parseArgs } from 'node:util';
import { nearest } from '../base/nearest.ts';
import { fail, type Result, success } from '../base/result.ts';

export type Flag = {
  readonly name: string;
  /** `text` takes a value; `switch` is there or not. */
  readonly kind: 'text' | 'switch';
  /** How help names the value. */
  readonly placeholder?: string;
  readonly summary: string;
};

export type FlagValues = {
  /** Null when the flag was not given. */
  readonly text: (name: string) => string | null;
  readonly isOn: (name: string) => boolean;
};

const helpFlag: Flag = { name: 'help', kind: 'switch', summary: 'show this text' };

/** The fault is one line: what is unknown or lacks its value. Nothing but flags is taken. */
export function parseFlags(
  flags: readonly Flag[],
  argv: readonly string[],
): Result<FlagValues, string> {
  const known = [...flags, helpFlag];
  const options = Object.fromEntries(
    known.map(({ name, kind }) => [
      name,
      { type: kind === 'text' ? ('string' as const) : ('boolean' as const) },
    ]),
  );
  const { tokens } = parseArgs({
    args: argv.map((argument) => (argument === '-h' ? '--help' : argument)),
    options,
    strict: false,
    tokens: true,
  });
  const texts = new Map<string, string>();
  const switches = new Set<string>();
  for (const token of tokens) {
    if (token.kind === 'positional') return fail(`unexpected argument "${shown(token.value)}"`);
    if (token.kind === 'option-terminator') continue;
    const flag = known.find(({ name }) => name === token.name);
    if (flag === undefined || token.rawName === `-${token.name}`) {
      return fail(unknownFlag(token.rawName, token.name, known));
    }
    if (flag.kind === 'switch') {
      if (token.value !== undefined) return fail(`--${flag.name} takes no value`);
      switches.add(flag.name);
      continue;
    }
    const value = token.value?.trim() ?? '';
    // `--port --host x`: the next flag is no value, unless it stands behind `=`.
    const isFlag = token.inlineValue !== true && value.startsWith('--');
    if (value === '' || isFlag) return fail(`--${flag.name} wants a value (${placeholder(flag)})`);
    texts.set(flag.name, value);
  }
  return success({
    text: (name) => texts.get(name) ?? null,
    isOn: (name) => switches.has(name),
  });
}

function unknownFlag(raw: string, name: string, known: readonly Flag[]): string {
  const near = nearest(
    name,
    known.map((flag) => flag.name),
  );
  return `unknown flag ${shown(raw)}${near === null ? '' : `; did you mean --${near}?`}`;
}

function shown(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
}

function placeholder(flag: Flag): string {
  return flag.placeholder ?? 'VALUE';
}

const columns = 80;

/** The lines of help for `flags`, in two columns that a usual terminal shows whole. */
export function describeFlags(flags: readonly Flag[]): string {
  const rows = [...flags, helpFlag].map((flag) => {
    const value = flag.kind === 'text' ? ` ${placeholder(flag)}` : '';
    return [`  --${flag.name}${value}`, flag.summary] as const;
  });
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows
    .map(([left, right]) => {
      const lines = wrapped(right, columns - width);
      return `${left.padEnd(width)}${lines.join(`\n${' '.repeat(width)}`)}\n`;
    })
    .join('');
}

/** The words of `text` in lines of at most `width`, where its words allow it. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
