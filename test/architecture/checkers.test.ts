/** The checkers themselves: each must find what it is for, and leave the innocent alone. */
import { describe, expect, it } from 'vitest';
import { checkBannedCalls } from './banned-calls.ts';
import {
  checkDialectFolders,
  checkExports,
  checkFileName,
  checkProviderFiles,
  checkSyntax,
  dialectFiles,
} from './file-shapes.ts';
import { checkImportEffects } from './import-effects.ts';
import { checkPackages, unusedDependencies } from './packages.ts';
import { checkDialectPairs, checkRanks, ranks } from './ranks.ts';
import { checkFileSize, checkFunctionSizes } from './sizes.ts';
import { describeViolation, parseSource, type SourceFile, type Violation } from './source-file.ts';
import { checkBannedWords, checkVendorWords } from './words.ts';

type Check = (source: SourceFile) => Violation[];

function linesFound(check: Check, path: string, text: string): number[] {
  return check(parseSource(path, text)).map(({ line }) => line);
}

describe('a violation', () => {
  it('is told as path:line and what to do', () => {
    const violation = { path: 'src/a.ts', line: 3, advice: 'move it' };
    expect(describeViolation(violation)).toBe('src/a.ts:3: move it');
  });

  it('of the grammar stops the run and names the place', () => {
    expect(() => parseSource('src/a.ts', 'const a = 1;\nconst = 2;')).toThrow(/^src\/a\.ts:2: /);
  });
});

describe('ranks', () => {
  it.each([
    ['a lower rank', 'src/engine/plan.ts', `import type { A } from '../chat/reply.ts';`],
    ['its own folder', 'src/engine/plan.ts', `import { a } from './attempt.ts';`],
    ['a folder within its own', 'src/resilience/a.ts', `import { a } from './breaker/breaker.ts';`],
    ['the rank below the root', 'src/app.ts', `import { a } from './http/server.ts';`],
    ['the command line from the entry', 'src/main.ts', `import { a } from './cli/demo.ts';`],
    ['the app from the command line', 'src/cli/demo.ts', `import { a } from '../app.ts';`],
    ['a package', 'src/base/a.ts', `import { z } from 'zod';`],
  ])('let pass %s', (_case, path, text) => {
    expect(linesFound(checkRanks, path, text)).toEqual([]);
  });

  it.each([
    ['a higher rank', 'src/chat/a.ts', `\nimport { a } from '../engine/plan.ts';`],
    ['a neighbour', 'src/dialects/a.ts', `\nimport { a } from '../resilience/backoff.ts';`],
    ['a neighbour by type', 'src/store/a.ts', `\nimport type { A } from '../admin/tier-admin.ts';`],
    ['a re-export', 'src/chat/a.ts', `\nexport { a } from '../engine/plan.ts';`],
    ['a dynamic import', 'src/chat/a.ts', `\nconst a = () => import('../engine/plan.ts');`],
    ['an import in a type', 'src/chat/a.ts', `\ntype A = import('../engine/plan.ts').A;`],
    ['the root', 'src/http/a.ts', `\nimport { a } from '../app.ts';`],
    ['the environment', 'src/http/a.ts', `\nimport { a } from '../env.ts';`],
    ['tests', 'src/http/a.ts', `\nimport { a } from '../../test/support/virtual-clock.ts';`],
    ['an unranked folder', 'src/http/a.ts', `\nimport { a } from '../extras/a.ts';`],
  ])('refuse %s', (_case, path, text) => {
    expect(linesFound(checkRanks, path, text)).toEqual([2]);
  });

  it('refuse a file of a folder that has none', () => {
    expect(linesFound(checkRanks, 'src/extras/a.ts', 'const a = 1;')).toEqual([1]);
    expect(linesFound(checkRanks, 'src/loose.ts', 'const a = 1;')).toEqual([1]);
  });

  it('name each folder once', () => {
    const all = ranks.flat();
    expect(new Set(all).size).toBe(all.length);
  });

  it('keep the dialects apart from each other', () => {
    const path = 'src/dialects/one/client.ts';
    const far = `import { a } from '../two/client.ts';`;
    const near = `import { a } from './wire.ts';\nimport { b } from '../dialect.ts';`;
    expect(linesFound(checkDialectPairs, path, far)).toEqual([1]);
    expect(linesFound(checkDialectPairs, path, near)).toEqual([]);
  });
});

describe('packages', () => {
  const dependencies = new Set([
    'hono',
    'undici',
    'opossum',
    'drizzle-orm',
    'zod',
    '@hono/zod-openapi',
  ]);
  const check: Check = (source) => checkPackages(source, dependencies);

  it.each([
    ['src/http/app.ts', `import { Hono } from 'hono';`],
    ['src/http/app.ts', `import { z } from '@hono/zod-openapi';`],
    ['src/store/rows.ts', `import { eq } from 'drizzle-orm/sqlite-core';`],
    ['src/transport/undici-transport.ts', `import { Pool } from 'undici';`],
    ['src/resilience/breaker/opossum-breaker.ts', `import Opossum from 'opossum';`],
    ['src/routing/document.ts', `import { z } from 'zod';`],
    ['src/base/ids.ts', `import { randomFillSync } from 'node:crypto';`],
    ['src/providers/base-url.ts', `import { BlockList, isIP } from 'node:net';`],
  ])('let %s have its own: %s', (path, text) => {
    expect(linesFound(check, path, text)).toEqual([]);
  });

  it.each([
    ['src/pipeline/a.ts', `import { Hono } from 'hono';`],
    ['src/pipeline/a.ts', `import type { Context } from 'hono/jsx';`],
    ['src/admin/a.ts', `import { eq } from 'drizzle-orm/sqlite-core';`],
    ['src/engine/a.ts', `import { Pool } from 'undici';`],
    ['src/resilience/breaker/breaker.ts', `import Opossum from 'opossum';`],
    ['src/base/a.ts', `import { request } from 'node:http';`],
    ['src/base/a.ts', `import { connect, isIP } from 'node:net';`],
    ['src/base/a.ts', `import * as net from 'node:net';`],
    ['src/chat/a.ts', `import { it } from 'vitest';`],
    ['src/chat/a.ts', `import { readFileSync } from 'fs';`],
  ])('refuse %s: %s', (path, text) => {
    expect(linesFound(check, path, text)).toEqual([1]);
  });
});

describe('dependencies', () => {
  it('that nothing imports are named', () => {
    const source = parseSource('src/a.ts', `import { a } from 'used/part';\nimport '@scope/used';`);
    const names = new Set(['used', '@scope/used', 'idle']);
    expect(unusedDependencies([source], names)).toEqual(['idle']);
  });
});

describe('sizes', () => {
  it('let a file have 400 lines and no more', () => {
    const lines = (count: number): string =>
      'const a = 1;\n'.repeat(count).replaceAll('const', 'f;');
    expect(linesFound(checkFileSize, 'src/a.ts', '\n'.repeat(400))).toEqual([]);
    expect(linesFound(checkFileSize, 'src/a.ts', lines(0) + '\n'.repeat(401))).toEqual([401]);
  });

  it.each([
    'function long() {',
    'const long = () => {',
    'const o = { long() {',
    'class A { long() {',
  ])('let a function have 70 lines and no more: %s', (opening) => {
    const closing = '}'.repeat((opening.match(/\{/g) ?? []).length);
    const text = (inner: number): string => `\n${opening}${'\n'.repeat(inner)}${closing}`;
    expect(linesFound(checkFunctionSizes, 'src/a.ts', text(69))).toEqual([]);
    const found = checkFunctionSizes(parseSource('src/a.ts', text(70)));
    expect(found.map(({ line }) => line)).toEqual([2]);
    expect(found[0]?.advice).toMatch(/^long has 71 lines/);
  });
});

describe('banned calls', () => {
  it.each([
    'const a = Date.now();',
    'const a = Date.now;',
    'const a = globalThis.Date.now();',
    `const a = Date['now']();`,
    'const a = new Date();',
    'const a = Math.random();',
    'setTimeout(() => undefined, 1);',
    'const later = setTimeout;',
    'globalThis.setTimeout(() => undefined, 1);',
    'const a = { setTimeout };',
    'setInterval(() => undefined, 1);',
    'const a = AbortSignal.timeout(5);',
    'const a = performance.now();',
    'const a = process.hrtime.bigint();',
    'const a = process.env;',
    `const a = process.env['HOME'];`,
    'const { A } = process.env;',
    `import { env } from 'node:process';`,
    `import { setTimeout as wait } from 'node:timers/promises';`,
    'await fetch(address);',
    `import { sql } from 'drizzle-orm';`,
  ])('are found: %s', (text) => {
    const found = checkBannedCalls(parseSource('src/engine/a.ts', text));
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ line }) => line === 1)).toBe(true);
  });

  it.each([
    'const a = new Date(1);',
    'const a = Math.max(1, 2);',
    'socket.setTimeout(5);',
    'const a = { setTimeout: 5 };',
    'type A = { setTimeout: number };',
    'const a = clock.now();',
    'clearTimeout(timer);',
    '// Date.now() is banned',
    `const a = 'Date.now()';`,
    'const a = app.fetch(request);',
    `import type { SQL } from 'drizzle-orm';`,
  ])('are not seen in: %s', (text) => {
    expect(linesFound(checkBannedCalls, 'src/engine/a.ts', text)).toEqual([]);
  });

  it('have a home', () => {
    expect(linesFound(checkBannedCalls, 'src/base/clock.ts', 'Date.now(); setTimeout(f);')).toEqual(
      [],
    );
    expect(linesFound(checkBannedCalls, 'src/env.ts', 'const a = process.env;')).toEqual([]);
    expect(linesFound(checkBannedCalls, 'src/base/a.ts', 'const a = process.env;')).toEqual([1]);
  });
});

describe('words', () => {
  it.each([
    `const a = 'openai';`,
    'const claudeKey = 1;',
    `if (kind === 'Gemini') f();`,
    `x('gpt-5')`,
  ])('of vendors are found in the core: %s', (text) => {
    expect(linesFound(checkVendorWords, 'src/engine/a.ts', text)).toEqual([1]);
  });

  it('of vendors may stand in dialects, providers, the simulator, and comments', () => {
    const text = `const a = 'openai';`;
    expect(linesFound(checkVendorWords, 'src/dialects/a/wire.ts', text)).toEqual([]);
    expect(linesFound(checkVendorWords, 'src/providers/a.ts', text)).toEqual([]);
    expect(linesFound(checkVendorWords, 'src/simulator/a.ts', text)).toEqual([]);
    expect(
      linesFound(checkVendorWords, 'src/engine/a.ts', '/* openai */\n// gemini\nf();'),
    ).toEqual([]);
    expect(linesFound(checkVendorWords, 'src/engine/a.ts', '/* a\nb */ const gpt = 1;')).toEqual([
      2,
    ]);
  });

  it('left over are found in any file', () => {
    const word = ['TO', 'DO'].join('');
    const path = ['', 'home', 'ada', 'x'].join('/');
    const text = `fine\n// ${word}: later\nsee ${path}\n`;
    const found = checkBannedWords({ path: 'docs/a.md', text });
    expect(found.map(({ line }) => line)).toEqual([2, 3]);
    expect(checkBannedWords({ path: 'docs/a.md', text: 'a todo list at the workplace' })).toEqual(
      [],
    );
  });
});

describe('names and shapes', () => {
  it.each(['src/base/utils.ts', 'src/helpers/a.ts', 'src/chat/index.ts', 'src/chat/types.ts'])(
    'refuse %s',
    (path) => {
      expect(checkFileName(path)).toHaveLength(1);
    },
  );

  it.each(['src/chat/string-utils.ts', 'src/http/RequestHandler.ts', 'src/admin/tier-manager.ts'])(
    'refuse %s',
    (path) => {
      expect(checkFileName(path).length).toBeGreaterThan(0);
    },
  );

  it('let pass ordinary names', () => {
    expect(checkFileName('src/engine/next-step.ts')).toEqual([]);
    expect(checkFileName('test/unit/engine/next-step.test.ts')).toEqual([]);
    expect(checkFileName('src/transport/transport.ts')).toEqual([]);
  });

  it('refuse default exports, barrels and re-exports', () => {
    const text = `export default 1;\nexport * from './a.ts';\nexport { b } from './b.ts';\nexport const c = 1;\nconst d = 1;\nexport { d };`;
    expect(linesFound(checkExports, 'src/a.ts', text)).toEqual([1, 2, 3]);
  });

  it('refuse syntax that node does not strip, and ways around the compiler', () => {
    const text = [
      'enum A { B }',
      'namespace C { export const d = 1; }',
      'class E { constructor(private f: string) {} }',
      'const g = h!;',
      'const i = (j: any) => j;',
      `import { k } from './k';`,
      `import { l } from './l.ts';`,
    ].join('\n');
    const found = linesFound(checkSyntax, 'src/a.ts', text);
    expect([...new Set(found)].sort()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('want dialect folders to look alike', () => {
    const { always, client, upstream, both: shared } = dialectFiles;
    const folder = (dialect: string, files: readonly string[]): string[] =>
      files.map((file) => `src/dialects/${dialect}/${file}`);
    const both = folder('a', [...always, ...client, ...upstream, ...shared]);
    const one = folder('b', [...always, ...upstream]);
    expect(checkDialectFolders([...both, ...one, 'src/dialects/dialect.ts'])).toEqual([]);
    expect(checkDialectFolders([...both, 'src/dialects/a/extra.ts'])).toEqual([]);
    for (const file of both.filter((path) => !/\/(client|upstream)\.ts$/.test(path))) {
      const without = both.filter((path) => path !== file);
      expect(checkDialectFolders(without).map(({ path }) => path)).toEqual(['src/dialects/a']);
    }
    expect(checkDialectFolders(folder('c', always))).toHaveLength(1);
    expect(checkDialectFolders([...both, 'src/dialects/a/parts/x.ts'])).toHaveLength(1);
  });

  it('want each provider kind in one file and in the registry', () => {
    const registry = parseSource('src/providers/registry.ts', `import { aKind } from './a.ts';`);
    const a = parseSource('src/providers/a.ts', 'export const aKind = 1;');
    const b = parseSource('src/providers/b.ts', 'export const bKind = 1;');
    const port = parseSource('src/providers/provider.ts', 'export type Provider = string;');
    const nested = parseSource('src/providers/c/c.ts', 'const c = 1;');
    expect(checkProviderFiles([registry, a, port])).toEqual([]);
    expect(checkProviderFiles([registry, a, b, nested]).map(({ path }) => path)).toEqual([
      'src/providers/c/c.ts',
      'src/providers/b.ts',
    ]);
  });
});

describe('work at import', () => {
  it.each([
    'start();',
    'let count = 0;',
    'export let count = 0;',
    'const cache = new Map();',
    'const cache = new Map<string, number>();',
    'if (a) b();',
    'for (const a of b) c();',
    'try { a(); } catch { b(); }',
    `const text = readFileSync('a');`,
    `const worker = new Worker('a');`,
    `const a = await load();`,
    `process.on('exit', f);`,
  ])('is found: %s', (text) => {
    expect(linesFound(checkImportEffects, 'src/engine/a.ts', text)).toEqual([1]);
  });

  it.each([
    'const a = 1;',
    `const names = new Set(['a']);`,
    'const schema = z.object({});',
    'const make = () => new Map();',
    'function f() { let a = 0; start(); }',
    'class A { map = new Map(); }',
    `'use strict';`,
    'export type A = string;',
  ])('is not seen in: %s', (text) => {
    expect(linesFound(checkImportEffects, 'src/engine/a.ts', text)).toEqual([]);
  });

  it('is what the entries are for', () => {
    expect(linesFound(checkImportEffects, 'src/main.ts', 'start();')).toEqual([]);
    expect(linesFound(checkImportEffects, 'src/store/writer-worker.ts', 'start();')).toEqual([]);
  });
});
