/** Bytes of a YAML or JSON file (JSON is read as YAML) -> a plain value, with duplicate keys told by their path. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument as parseYaml } from 'yaml';
import { type ConfigFault, formatPath, safeName } from './document/config-fault.ts';

export type ParsedDocument = {
  /** Undefined when the text cannot be read at all; with duplicate keys, what it otherwise says. */
  readonly value: unknown;
  /** Empty = the text is sound. No message quotes the text. */
  readonly faults: readonly ConfigFault[];
};

const bytesMax = 4_194_304;
const faultsMax = 50;

/** A file of at most 4 MB in UTF-8. An empty one parses to null, which no document is. */
export function parseDocument(input: Buffer | string): ParsedDocument {
  const text = typeof input === 'string' ? input : decoded(input);
  if (text === null) return unreadable('is not UTF-8 text');
  if (text.length > bytesMax) return unreadable(`is larger than ${bytesMax} bytes`);
  try {
    return parsed(text);
  } catch {
    // The parser recurses: only nesting or an alias that contains itself gets here.
    return unreadable('is nested too deeply, or an alias contains itself');
  }
}

function decoded(bytes: Buffer): string | null {
  if (bytes.length > bytesMax) return ' '.repeat(bytesMax + 1);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function unreadable(message: string): ParsedDocument {
  return { value: undefined, faults: [{ path: '', message: `the document ${message}` }] };
}

function parsed(text: string): ParsedDocument {
  const lines = new LineCounter();
  const yaml = parseYaml(text, {
    // Duplicates are looked for below, where their path is known.
    uniqueKeys: false,
    stringKeys: true,
    merge: false,
    prettyErrors: false,
    lineCounter: lines,
  });
  if (yaml.errors.length > 0) {
    const faults = yaml.errors.slice(0, faultsMax).map((error) => {
      const { line, col } = lines.linePos(error.pos[0]);
      return { path: '', message: `line ${line}, column ${col}: ${withoutQuotes(error.message)}` };
    });
    return { value: undefined, faults };
  }
  const faults: ConfigFault[] = [];
  collectDuplicates(yaml.contents, { path: [], lines, faults });
  return { value: yaml.toJS({ maxAliasCount: 100 }), faults };
}

/** The parser quotes what it stumbled over, which may be a secret. */
function withoutQuotes(message: string): string {
  return (
    message
      .replace(/:?\s*".*$/s, '')
      .split('\n')[0]
      ?.slice(0, 200) ?? ''
  );
}

function collectDuplicates(
  node: unknown,
  at: {
    readonly path: readonly PropertyKey[];
    readonly lines: LineCounter;
    readonly faults: ConfigFault[];
  },
): void {
  if (isAlias(node) || at.faults.length >= faultsMax) return;
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      collectDuplicates(item, { ...at, path: [...at.path, index] });
    }
  }
  if (!isMap(node)) return;
  const seen = new Set<string>();
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : String(key);
    const path = [...at.path, name];
    if (seen.has(name)) {
      const start = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
      const { line } = at.lines.linePos(start);
      const message = `duplicate key ${safeName(name)} (line ${line})`;
      at.faults.push({ path: formatPath(path), message });
    }
    seen.add(name);
    collectDuplicates(value, { ...at, path });
  }
}
