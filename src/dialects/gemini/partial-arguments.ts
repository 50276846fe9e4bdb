/** The arguments of a call that come in pieces, each with the path where it belongs (`$.a.b[0].c`). */
import { arrayAt, property, stringAt } from '../../base/json.ts';
import { encodeJson } from '../exact-json.ts';

type Step = string | number;

/** Objects without a prototype, so that any name is only a name. */
type Tree = { [key: string]: unknown };

const stepsMax = 64;

export class PartialArguments {
  readonly #root: Tree = Object.create(null) as Tree;
  /** The string that goes on, by path. */
  #openPath: string | null = null;

  /** Takes the pieces of one chunk. False = one could not be placed. */
  add(call: unknown): boolean {
    let isPlaced = true;
    for (const piece of arrayAt(call, 'partialArgs')) {
      const path = stringAt(piece, 'jsonPath');
      const steps = path === null ? null : stepsOf(path);
      if (path === null || steps === null || !this.#place(path, steps, piece)) isPlaced = false;
    }
    return isPlaced;
  }

  /** Compact JSON; null when it nests too deeply. */
  text(): string | null {
    const text = encodeJson(this.#root);
    return text.ok ? text.value : null;
  }

  #place(path: string, steps: readonly Step[], piece: unknown): boolean {
    const value = pieceValue(piece);
    if (value === undefined) return false;
    const isContinued = typeof value === 'string' && this.#openPath === path;
    this.#openPath = property(piece, 'willContinue') === true ? path : null;
    return assign(this.#root, steps, (before) =>
      isContinued && typeof before === 'string' ? before + value : value,
    );
  }
}

function pieceValue(piece: unknown): unknown {
  if (property(piece, 'nullValue') !== undefined) return null;
  return (
    property(piece, 'stringValue') ?? property(piece, 'numberValue') ?? property(piece, 'boolValue')
  );
}

/** Null for a path of another form. */
function stepsOf(path: string): readonly Step[] | null {
  if (!path.startsWith('$') || path.length > 10_000) return null;
  const step = /\.([^.[\]]+)|\[(\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]/y;
  const steps: Step[] = [];
  step.lastIndex = 1;
  while (step.lastIndex < path.length) {
    const match = step.exec(path);
    if (match === null || steps.length >= stepsMax) return null;
    steps.push(
      match[2] === undefined ? (match[1] ?? match[3] ?? match[4] ?? '') : Number(match[2]),
    );
  }
  return typeof steps[0] === 'string' ? steps : null;
}

function assign(root: Tree, steps: readonly Step[], update: (before: unknown) => unknown): boolean {
  let at: Tree | unknown[] = root;
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1];
    const before: unknown = read(at, step);
    if (next === undefined) return write(at, step, update(before));
    const child = childFor(before, next);
    if (child === null || !write(at, step, child)) return false;
    at = child;
  }
  return false;
}

function childFor(before: unknown, next: Step): Tree | unknown[] | null {
  if (before === undefined || before === null) {
    return typeof next === 'number' ? [] : (Object.create(null) as Tree);
  }
  if (typeof before !== 'object') return null;
  return Array.isArray(before) === (typeof next === 'number') ? (before as Tree | unknown[]) : null;
}

function read(at: Tree | unknown[], step: Step): unknown {
  if (Array.isArray(at)) return typeof step === 'number' ? at[step] : undefined;
  return typeof step === 'string' ? at[step] : undefined;
}

function write(at: Tree | unknown[], step: Step, value: unknown): boolean {
  if (Array.isArray(at)) {
    // Elements come in order: a far index would only cost memory.
    if (typeof step !== 'number' || step > at.length) return false;
    at[step] = value;
    return true;
  }
  if (typeof step !== 'string') return false;
  at[step] = value;
  return true;
}
