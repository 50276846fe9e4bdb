/** The step language: what a scripted provider does, step by step. */
import { isJsonObject } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { ToolDelta } from '../vendors/vendor.ts';

export type Step =
  | { readonly kind: 'open' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'think'; readonly text: string }
  | { readonly kind: 'tool'; readonly delta: ToolDelta }
  | { readonly kind: 'finish'; readonly reason: string }
  | { readonly kind: 'usage'; readonly input: number; readonly output: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'ping' }
  | { readonly kind: 'comment'; readonly text: string }
  | { readonly kind: 'raw'; readonly bytes: string | Buffer }
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'hang' }
  | { readonly kind: 'end' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'repeat'; readonly count: number; readonly steps: readonly Step[] };

/** As written in a script: a string of the language, or a repetition. */
export type StepText = string | { readonly repeat: number; readonly steps: readonly StepText[] };

const stepsMax = 10_000_000;
const nestingMax = 16;
const sleepMsMax = 24 * 3_600_000;

const language =
  'ROLE, T:text, THINK:text, TOOL:index:id:name:args, FIN:reason, USAGE:in:out, DONE, PING, C:text, RAW:text, RAWB:hex, SLEEP:ms, HANG, END, CUT, RST, REP:n:step, {"repeat":n,"steps":[...]}';

/** Parses a script's steps; the fault names the place and what is allowed. */
export function parseSteps(items: unknown): Result<readonly Step[], string> {
  const parsed = parseList(items, 'sse', 0);
  if (!parsed.ok) return parsed;
  const total = countSteps(parsed.value);
  if (total > stepsMax) return fail(`sse: ${total} steps when unrolled; at most ${stepsMax}`);
  return parsed;
}

function parseList(items: unknown, at: string, nesting: number): Result<readonly Step[], string> {
  if (!Array.isArray(items)) return fail(`${at}: expected a list of steps`);
  if (nesting > nestingMax) return fail(`${at}: nested too deeply`);
  const steps: Step[] = [];
  for (const [index, item] of items.entries()) {
    const parsed = parseItem(item, `${at}[${index}]`, nesting);
    if (!parsed.ok) return parsed;
    steps.push(parsed.value);
  }
  return success(steps);
}

function parseItem(item: unknown, at: string, nesting: number): Result<Step, string> {
  if (typeof item === 'string') return parseText(item, at, nesting);
  if (!isJsonObject(item)) return fail(`${at}: expected one of ${language}`);
  const count = item['repeat'];
  if (!isCount(count)) return fail(`${at}.repeat: expected a whole number from 0 to ${stepsMax}`);
  const steps = parseList(item['steps'], `${at}.steps`, nesting + 1);
  return steps.ok ? success({ kind: 'repeat', count, steps: steps.value }) : steps;
}

const bareSteps: { readonly [word: string]: Step } = {
  ROLE: { kind: 'open' },
  DONE: { kind: 'done' },
  PING: { kind: 'ping' },
  HANG: { kind: 'hang' },
  END: { kind: 'end' },
  CUT: { kind: 'cut' },
  RST: { kind: 'reset' },
};

function parseText(text: string, at: string, nesting: number): Result<Step, string> {
  if (Object.hasOwn(bareSteps, text)) return success(bareSteps[text] ?? { kind: 'end' });
  const colon = text.indexOf(':');
  const word = text.slice(0, Math.max(0, colon));
  const rest = text.slice(colon + 1);
  switch (word) {
    case 'T':
      return success({ kind: 'text', text: rest });
    case 'THINK':
      return success({ kind: 'think', text: rest });
    case 'TOOL':
      return parseTool(rest, at);
    case 'FIN':
      return success({ kind: 'finish', reason: rest });
    case 'USAGE':
      return parseUsage(rest, at);
    case 'C':
      return success({ kind: 'comment', text: rest });
    case 'RAW':
      return success({ kind: 'raw', bytes: unescaped(rest) });
    case 'RAWB':
      return parseHex(rest, at);
    case 'SLEEP': {
      const ms = wholeNumber(rest);
      if (ms === null || ms > sleepMsMax)
        return fail(`${at}: SLEEP wants milliseconds up to ${sleepMsMax}`);
      return success({ kind: 'sleep', ms });
    }
    case 'REP':
      return parseRepetition(rest, at, nesting);
    default:
      return fail(`${at}: unknown step "${text.slice(0, 40)}"; allowed: ${language}`);
  }
}

/** Four parts; the arguments may hold colons. Empty parts are left out of the event. */
function parseTool(rest: string, at: string): Result<Step, string> {
  const [indexText = '', id = '', name, ...argumentParts] = rest.split(':');
  if (name === undefined) return fail(`${at}: expected TOOL:index:id:name:args`);
  const index = indexText === '' ? null : wholeNumber(indexText);
  if (indexText !== '' && index === null) return fail(`${at}: TOOL wants a whole number as index`);
  const text = argumentParts.join(':');
  const delta = {
    index,
    id: id === '' ? null : id,
    name: name === '' ? null : name,
    arguments: text === '' ? null : text,
  };
  return success({ kind: 'tool', delta });
}

function parseUsage(rest: string, at: string): Result<Step, string> {
  const [input, output, ...more] = rest.split(':').map(wholeNumber);
  if (
    input === undefined ||
    input === null ||
    output === undefined ||
    output === null ||
    more.length > 0
  ) {
    return fail(`${at}: expected USAGE:in:out with whole numbers`);
  }
  return success({ kind: 'usage', input, output });
}

function parseHex(rest: string, at: string): Result<Step, string> {
  const digits = rest.replace(/\s+/g, '');
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) {
    return fail(`${at}: RAWB wants pairs of hex digits`);
  }
  return success({ kind: 'raw', bytes: Buffer.from(digits, 'hex') });
}

function parseRepetition(rest: string, at: string, nesting: number): Result<Step, string> {
  const colon = rest.indexOf(':');
  const count = wholeNumber(rest.slice(0, Math.max(0, colon)));
  if (count === null || count > stepsMax) return fail(`${at}: expected REP:n:step`);
  if (nesting >= nestingMax) return fail(`${at}: nested too deeply`);
  const step = parseText(rest.slice(colon + 1), at, nesting + 1);
  return step.ok ? success({ kind: 'repeat', count, steps: [step.value] }) : step;
}

const escapes: { readonly [letter: string]: string } = {
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
};

/** `\n \r \t \" \\ \uXXXX`; any other backslash stays as it is. */
function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|([nrt"\\]))/g,
    (whole, hex?: string, letter?: string) =>
      hex === undefined
        ? (escapes[letter ?? ''] ?? whole)
        : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function wholeNumber(text: string): number | null {
  return /^\d{1,12}$/.test(text) ? Number(text) : null;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= stepsMax;
}

function countSteps(steps: readonly Step[]): number {
  return steps.reduce(
    (sum, step) => sum + (step.kind === 'repeat' ? step.count * countSteps(step.steps) : 1),
    0,
  );
}

/** The steps with repetitions unrolled, one at a time. */
export function* unrolled(steps: readonly Step[]): Iterable<Exclude<Step, { kind: 'repeat' }>> {
  for (const step of steps) {
    if (step.kind !== 'repeat') {
      yield step;
      continue;
    }
    for (let turn = 0; turn < step.count; turn += 1) yield* unrolled(step.steps);
  }
}
