/** JSON with one thing in it that should not be there: the text, since not all of it can be held as a value. */
import { isJsonObject } from '../../../src/base/json.ts';
import type { Random } from '../../../src/base/random.ts';
import { below, pick } from '../schedule-draws.ts';

/** What stands in for a node. */
const texts: readonly [string, ...string[]] = [
  'null',
  'true',
  'false',
  '0',
  '-1',
  '-0.0',
  '1.5',
  '1e308',
  '1e999',
  '4294967296',
  '12345678901234567890',
  '""',
  '" "',
  '"x"',
  '"\\ud800"',
  '"\\u0000\\u2028\\r\\n\\n"',
  '"{\\"a\\":"',
  '"\\uD83C\\uDF0D\u{10FFFF}é"',
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '[{}]',
  '{"":null}',
  '{"type":null}',
  '{"__proto__":{"type":"text","text":"x"},"constructor":1,"toString":null}',
  `${'['.repeat(300)}${']'.repeat(300)}`,
  `${'{"a":'.repeat(700)}1${'}'.repeat(700)}`,
  `${'[{"type":'.repeat(4000)}1${'}]'.repeat(4000)}`,
  `{"a":${'['.repeat(12_000)}${']'.repeat(12_000)}}`,
  `"${'long '.repeat(4000)}"`,
];

type Edit = {
  /** The place of the node in reading order. */
  readonly at: number;
  readonly how: 'replace' | 'drop' | 'double' | 'rename' | 'wrap';
  readonly text: string;
};

/** `value` as text, changed in one place; the same draws give the same text. */
export function mutatedJson(value: unknown, random: Random): string {
  const nodes = nodesOf(value);
  const at = below(random, nodes.length);
  const how = pick(random, ['replace', 'replace', 'replace', 'drop', 'double', 'rename', 'wrap']);
  const isBorrowed = random.next() < 0.3;
  // Another part of the same document, in a place of its own kind or none.
  const text = isBorrowed
    ? JSON.stringify(nodes[below(random, nodes.length)])
    : pick(random, texts);
  return written(value, { at, how, text });
}

function nodesOf(value: unknown): readonly unknown[] {
  const nodes: unknown[] = [];
  const add = (node: unknown): void => {
    nodes.push(node);
    if (typeof node === 'object' && node !== null)
      for (const inner of Object.values(node)) add(inner);
  };
  add(value);
  return nodes;
}

function written(value: unknown, edit: Edit): string {
  let at = -1;
  const write = (node: unknown): string => {
    at += 1;
    if (at === edit.at && edit.how === 'replace') {
      at += nodesOf(node).length - 1;
      return edit.text;
    }
    const text = at === edit.at && edit.how === 'wrap' ? `[${inner(node)}]` : inner(node);
    return text;
  };
  const inner = (node: unknown): string => {
    if (Array.isArray(node)) return `[${node.flatMap((each) => entry(null, each)).join()}]`;
    if (!isJsonObject(node)) return JSON.stringify(node);
    return `{${Object.entries(node)
      .flatMap(([key, each]) => entry(key, each))
      .join()}}`;
  };
  const entry = (key: string | null, node: unknown): readonly string[] => {
    const isHere = at + 1 === edit.at;
    const text = write(node);
    const named = isHere && edit.how === 'rename' ? 'type' : key;
    const whole = key === null ? text : `${JSON.stringify(named)}:${text}`;
    if (isHere && edit.how === 'drop') return [];
    return isHere && edit.how === 'double' ? [whole, whole] : [whole];
  };
  return write(value);
}
