/** What the documents say is true: generated parts, links, examples of configuration, names. */
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { errorClasses } from '../../src/failure/attempt-failure.ts';
import { failureClasses } from '../../src/failure/request-failure.ts';
import {
  type LoadedPrompts,
  loadVariants,
  readPromptDirectory,
} from '../../src/prompts/load-variants.ts';
import { providerKinds } from '../../src/providers/registry.ts';
import { parseDocument } from '../../src/routing/parse-document.ts';
import { validateDocument } from '../../src/routing/validate.ts';
import { faultKinds } from '../../src/simulator/faults/fault.ts';
import { readRepositoryFile, repositoryRoot } from '../architecture/repository-files.ts';
import {
  anchorsOf,
  type CodeBlock,
  codeBlocks,
  codeBlocksIn,
  documentPaths,
  linksIn,
} from './documents.ts';
import { generatedParts, withPart } from './generated-parts.ts';

const paths = documentPaths();
const blocks = paths.flatMap(codeBlocks);
const place = ({ path, line }: CodeBlock): string => `${path}:${line}`;

describe('the documents', () => {
  it.each(generatedParts.map((part) => [part.path, part.name, part] as const))(
    '%s holds the present "%s" (npm run docs writes it)',
    (path, _name, part) => {
      const text = readRepositoryFile(path);
      expect(withPart(text, part)).toBe(text);
    },
  );

  it('tell of every kind of provider what it does differently', () => {
    const untold = providerKinds.filter((kind) => kind.upstreamOf && !kind.differences);
    expect(untold.map(({ name }) => name)).toEqual([]);
    const headings = anchorsOf(readRepositoryFile('docs/providers.md'));
    expect(providerKinds.filter(({ name }) => !headings.has(name))).toEqual([]);
  });

  it('link to what is there', () => {
    const broken: string[] = [];
    for (const path of paths) {
      const text = readRepositoryFile(path);
      for (const link of linksIn(text)) {
        if (/^https?:/.test(link)) continue;
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? path : posix.join(posix.dirname(path), file);
        if (!existsSync(join(repositoryRoot, target))) broken.push(`${path}: ${link}`);
        else if (anchor !== undefined && !anchorsOf(readRepositoryFile(target)).has(anchor)) {
          broken.push(`${path}: ${link} (no such heading)`);
        }
      }
    }
    expect(broken).toEqual([]);
  });

  it('explain every error class, failure class and fault of the simulator', () => {
    const headings = anchorsOf(readRepositoryFile('docs/errors.md'));
    expect(errorClasses.filter((name) => !headings.has(name))).toEqual([]);
    const api = readRepositoryFile('docs/api.md');
    const later = [
      'idempotency_in_progress',
      'idempotency_conflict',
      'guardrail_tripped',
      'output_invalid',
    ];
    const missing = failureClasses.filter((name) => !api.includes(`\`${name}\``));
    expect(missing.filter((name) => !later.includes(name))).toEqual([]);
    const simulator = readRepositoryFile('docs/simulator.md');
    expect(faultKinds.filter((name) => !simulator.includes(`\`${name}\``))).toEqual([]);
  });

  it('hold JSON that parses', () => {
    const json = blocks.filter(({ info }) => info[0] === 'json');
    expect(json.length).toBeGreaterThan(0);
    for (const block of json) expect(() => JSON.parse(block.text), place(block)).not.toThrow();
  });
});

describe('examples of configuration', () => {
  let prompts: LoadedPrompts;

  beforeAll(async () => {
    const sources = readPromptDirectory(join(repositoryRoot, 'prompts'));
    prompts = await loadVariants(sources.ok ? sources.value : {});
  });

  const validate = (document: unknown) =>
    validateDocument(document, { variants: prompts.variants, resolveSecret: () => 'a-secret' });

  it.each(
    blocks
      .filter(({ info }) => info[0] === 'yaml' && info[1] !== 'defaults')
      .map((block) => [place(block), block] as const),
  )('%s is valid as it stands', (_place, block) => {
    const parsed = parseDocument(block.text);
    expect(parsed.faults).toEqual([]);
    const judged = validate(parsed.value);
    expect(judged.ok ? [] : judged.fault.faults).toEqual([]);
  });

  it('docs/configuration.md names the defaults that hold, and every key', () => {
    const told = blocks
      .filter(({ info }) => info[1] === 'defaults')
      .map(({ text }) => parseDocument(text).value as Tree)
      .reduce(merged);
    const provider = told['providers']?.['NAME'] as Tree;
    const tier = told['tiers']?.['NAME'] as Tree;
    const judged = validate({
      providers: { one: { kind: 'openai-compatible', base_url: 'http://127.0.0.1:1/v1' } },
      tiers: { one: { targets: [{ provider: 'one', model: 'm' }] } },
    });
    if (!judged.ok) throw new Error('the smallest document is not valid');
    const values = judged.value.values as unknown as Tree;
    const { providers: _providers, tiers: _tiers, ...shared } = told;
    expectSameLeaves(shared, values, ['providers', 'tiers']);
    expectSameLeaves(provider, values['providers']?.['one'] as Tree, ['kind', 'base_url']);
    expectSameLeaves(tier, values['tiers']?.['one'] as Tree, ['targets']);
  });
});

type Tree = { readonly [key: string]: Tree };

/** What the two tell together. */
function merged(one: Tree, other: Tree): Tree {
  const both: Record<string, Tree> = { ...one };
  for (const [key, value] of Object.entries(other)) {
    const mine = both[key];
    const isBranch = [mine, value].every((each) => each?.constructor === Object);
    both[key] = isBranch && mine !== undefined ? merged(mine, value) : value;
  }
  return both;
}

/** Both hold the same keys with the same values; `left` are keys that are described elsewhere. */
function expectSameLeaves(told: Tree, holds: Tree, left: readonly string[]): void {
  expect(leaves(told, left)).toEqual(leaves(holds, left));
}

function leaves(tree: Tree, left: readonly string[], prefix = ''): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const key of Object.keys(tree).sort()) {
    if (prefix === '' && left.includes(key)) continue;
    const value: unknown = tree[key];
    const isBranch = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (isBranch && Object.keys(value).length > 0) {
      Object.assign(found, leaves(value as Tree, [], `${prefix}${key}.`));
    } else {
      found[`${prefix}${key}`] = value;
    }
  }
  return found;
}

describe('the reader of documents', () => {
  it('finds blocks, what they are, and which are run', () => {
    const text = 'a\n<!-- run -->\n```sh\nx\ny\n```\n\n```yaml defaults\nz: 1\n```\n';
    expect(codeBlocksIn('a.md', text)).toEqual([
      { path: 'a.md', line: 3, info: ['sh'], isRun: true, text: 'x\ny' },
      { path: 'a.md', line: 8, info: ['yaml', 'defaults'], isRun: false, text: 'z: 1' },
    ]);
    expect(() => codeBlocksIn('a.md', '```sh\nx')).toThrow('a.md:1');
  });

  it('finds links and anchors', () => {
    expect(linksIn('see [a](b.md#c) and\n```\n[no](x)\n```\n[d](e)')).toEqual(['b.md#c', 'e']);
    expect([...anchorsOf('# What it Does, then?\n## rate_limit')]).toEqual([
      'what-it-does-then',
      'rate_limit',
    ]);
  });
});
