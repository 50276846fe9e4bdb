import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import {
  loadVariants,
  type PromptSources,
  readPromptDirectory,
} from '../../../src/prompts/load-variants.ts';
import { selectVariant } from '../../../src/prompts/select-variant.ts';
import type { Variant } from '../../../src/prompts/variant.ts';

async function variantOf(source: string, others: PromptSources = {}): Promise<Variant> {
  const { variants, faults } = await loadVariants({ v: source, ...others });
  const variant = variants.get('v');
  if (variant === undefined) throw new Error(JSON.stringify(faults));
  return variant;
}

async function faultsOf(source: string, others: PromptSources = {}): Promise<readonly string[]> {
  return (await loadVariants({ v: source, ...others })).faults.map((fault) => fault.message);
}

const withSchema = (schema: string, body: string): string =>
  `---\ninput:\n  schema:\n${schema.replace(/^/gm, '    ')}\n---\n${body}`;

describe('rendering', () => {
  it('{{system}} is where the caller stands; without it the text goes before', async () => {
    expect((await variantOf('A.\n\n{{system}}\n\nB.')).render({})).toEqual({
      ok: true,
      value: { before: 'A.', after: 'B.' },
    });
    expect((await variantOf('{{system}}\nB.')).render({})).toMatchObject({
      value: { before: '', after: 'B.' },
    });
    expect((await variantOf('Only this.\n')).render({})).toMatchObject({
      value: { before: 'Only this.', after: '' },
    });
  });

  it('a text without variables is rendered once and given out as it is', async () => {
    const variant = await variantOf('A {{#if system}}x{{/if}} {{system}}');
    expect(variant.render({})).toBe(variant.render({ any: 'thing' }));
    const dynamic = await variantOf('{{variables.a}} {{system}}');
    expect(dynamic.render({ a: '1' })).not.toBe(dynamic.render({ a: '1' }));
  });

  it('variables, blocks, helpers and partials', async () => {
    const source = withSchema(
      'name: string\ntags?(array): string\nmode?: string',
      `Hello {{variables.name}}.{{#each variables.tags}} [{{this}}]{{/each}}
{{#ifEquals variables.mode "terse"}}Be terse.{{else}}Be kind.{{/ifEquals}} {{> style}}
{{json variables.tags}}`,
    );
    const partial = { _style: 'Style for {{variables.name}}.' };
    const variant = await variantOf(source, partial);
    expect(variant.render({ name: 'Ann', tags: ['a', 'b'], mode: 'terse' })).toMatchObject({
      value: {
        before: 'Hello Ann. [a] [b]\nBe terse. Style for Ann.\n["a","b"]',
        after: '',
      },
    });
  });

  it("caller text is data: markers, templates and odd objects stay the caller's text", async () => {
    const variant = await variantOf('{{variables.x}} | {{system}}');
    for (const text of [
      '{{system}}',
      '{{variables.secret}}',
      '{{role "user"}}',
      '<<<dotprompt:role:model>>>',
      '<<<dotprompt:history>>>',
      '<<<dotprompt:media:url https://x>>>',
      '<b>&amp;"quotes"</b>',
    ]) {
      expect(variant.render({ x: text })).toMatchObject({ value: { before: `${text} |` } });
    }
    const odd: unknown = JSON.parse(
      '{"toString": 1, "valueOf": 2, "toHTML": "h", "__proto__": {}}',
    );
    expect(variant.render({ x: odd })).toMatchObject({
      value: { before: '{"toString":1,"valueOf":2,"toHTML":"h","__proto__":{}} |' },
    });
  });

  it('a template reaches nothing but the caller variables', async () => {
    const reach = '{{variables.constructor}}{{variables.x.constructor.name}}{{variables.toString}}';
    const warn = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const variant = await variantOf(`[${reach}]`);
    expect(variant.render({ x: {} })).toMatchObject({ value: { before: '[]' } });
    warn.mockRestore();
  });

  it('a splice point that comes twice is a fault, at load where it is certain', async () => {
    expect(await faultsOf('{{system}} and {{system}}')).toEqual(['{{system}} may stand only once']);
    const variant = await variantOf('{{#each variables.l}}{{system}}{{@root.system}}{{/each}}');
    expect(variant.render({ l: [1] })).toMatchObject({ ok: true });
    expect(variant.render({ l: [1, 2] })).toEqual({
      ok: false,
      fault: '{{system}} may stand only once',
    });
  });

  it('a text that grows without bound is a fault', async () => {
    const variant = await variantOf(
      '{{#each variables.l}}{{#each @root.variables.l}}{{@root.variables.s}}{{/each}}{{/each}}',
    );
    const rendered = variant.render({ l: Array(200).fill(1), s: 'x'.repeat(100) });
    expect(rendered).toEqual({ ok: false, fault: 'the rendered text is too long' });
  });
});

describe('variables', () => {
  it('are checked against Picoschema; each fault names its variable', async () => {
    const variant = await variantOf(
      withSchema(
        'topic: string, what it is about\ncount?: integer\ntone?(enum): [warm, cold]',
        '{{variables.topic}}{{variables.count}}{{variables.tone}}',
      ),
    );
    expect(variant.requiredVariables).toEqual(['topic']);
    expect(variant.variableFaults({ topic: 'x' })).toEqual([]);
    expect(variant.variableFaults({ topic: 'x', other: 1 })).toEqual([]);
    expect(variant.variableFaults({ count: 'many', tone: 'loud' })).toEqual([
      'variables.topic is missing',
      'variables.count must be integer,null',
      'variables.tone must be one of warm, cold, null',
    ]);
  });

  it('are checked against JSON Schema, nested places too', async () => {
    const schema = `type: object
properties:
  user: { type: object, required: [id], properties: { id: { type: string, maxLength: 3 } } }
additionalProperties: false`;
    const variant = await variantOf(withSchema(schema, '{{variables.user.id}}'));
    expect(variant.variableFaults({ user: { id: 'long' }, extra: 1 })).toEqual([
      'variables.extra is not known',
      'variables.user.id must NOT have more than 3 characters',
    ]);
  });

  it('defaults stand in for what the caller leaves out', async () => {
    const source =
      '---\ninput:\n  schema:\n    tone: string\n  default:\n    tone: warm\n---\nBe {{variables.tone}}.';
    const variant = await variantOf(source);
    expect(variant.requiredVariables).toEqual([]);
    expect(variant.variableFaults({})).toEqual([]);
    expect(variant.render({})).toMatchObject({ value: { before: 'Be warm.' } });
    expect(variant.render({ tone: 'dry' })).toMatchObject({ value: { before: 'Be dry.' } });
  });
});

describe('front matter', () => {
  it('gives parameters and tool descriptions', async () => {
    const variant = await variantOf(`---
description: for tests
config:
  temperature: 0.2
  max_tokens: { force: 100 }
tools:
  - { name: search, description: Look it up first. }
---
Body`);
    expect(variant.config).toEqual({ temperature: 0.2, max_tokens: { force: 100 } });
    expect(variant.toolDescriptions).toEqual({ search: 'Look it up first.' });
    const mapped = await variantOf('---\ntools: { a: one, b: two }\n---\nBody');
    expect(mapped.toolDescriptions).toEqual({ a: 'one', b: 'two' });
  });

  it.each([
    ['---\nconfig: 3\n---\nx', 'config must be a mapping'],
    ['---\nconfg: {}\n---\nx', 'unknown key confg; did you mean config?'],
    ['---\nmodel: gpt\n---\nx', 'model has no effect in a variant: the target names the model'],
    ['---\ntools: [search]\n---\nx', 'tools must give a name and a description for each tool'],
    ['---\na: [1\n---\nx', /^front matter: /],
    ['---\na: 1\nx', 'the front matter is not closed'],
    [withSchema('a: strin', 'x'), /^input.schema: .*strin/],
    [withSchema('a: string', '{{variables.b}}'), /uses variables.b, which input.schema does not/],
    ['{{topic}}', /^unknown name topic: .*{{variables.topic}}/],
    ['{{role "system"}}x', '{{role}} has no place here: a variant is system text alone'],
    ['{{history}}', '{{history}} has no place here: a variant is system text alone'],
    ['{{media url=variables.u}}', '{{media}} has no place here: a variant is system text alone'],
    ['{{shout variables.a}}', 'unknown helper shout'],
    ['{{log variables.a}}', 'unknown helper log'],
    ['{{> nowhere}}', /^unknown partial nowhere: .*_nowhere.prompt/],
    ['{{> (lookup variables "p")}}', /partial must be named/],
    ['{{#*inline "x"}}a{{/inline}}', /decorators/],
    ['{{#if variables.a}}', /Parse error|doesn't match|Expecting/],
  ])('%j is refused', async (source, expected) => {
    const error = vi.spyOn(console, 'error');
    const faults = await faultsOf(source);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toEqual(
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    );
    expect(error).not.toHaveBeenCalled();
    error.mockRestore();
  });

  it('partials may not contain themselves, and their faults name them', async () => {
    expect(await faultsOf('{{> a}}', { _a: '{{> b}}', _b: '{{> a}}' })).toEqual([
      'partial a contains itself',
    ]);
    expect(await faultsOf('{{> a}}', { _a: '{{shout 1}}' })).toEqual([
      'partial a: unknown helper shout',
    ]);
  });
});

describe('identity', () => {
  it('is the name and the first 8 hex digits of the SHA-256 of the source', async () => {
    const source = 'Be brief.\n{{system}}';
    const hash = createHash('sha256').update(source).digest('hex').slice(0, 8);
    expect((await variantOf(source)).identity).toBe(`v@${hash}`);
  });

  it('changes with the source and with every partial that it reaches, and only then', async () => {
    const partials = { _a: 'x {{> b}}', _b: 'y', _c: 'z' };
    const first = (await variantOf('{{> a}}', partials)).identity;
    expect((await variantOf('{{> a}}', { ...partials })).identity).toBe(first);
    expect((await variantOf('{{> a}}', { ...partials, _c: 'other' })).identity).toBe(first);
    expect((await variantOf('{{> a}}', { ...partials, _b: 'other' })).identity).not.toBe(first);
    expect((await variantOf('{{> a}} ', partials)).identity).not.toBe(first);
  });

  it('one wording of a partial does not leak into another config version', async () => {
    const old = await variantOf('{{> style}} {{variables.a}}', { _style: 'old' });
    const now = await variantOf('{{> style}} {{variables.a}}', { _style: 'new' });
    expect(old.render({ a: 1 })).toMatchObject({ value: { before: 'old 1' } });
    expect(now.render({ a: 1 })).toMatchObject({ value: { before: 'new 1' } });
    expect(old.render({ a: 1 })).toMatchObject({ value: { before: 'old 1' } });
  });

  it('unchanged variants are taken over from the version before', async () => {
    const first = await loadVariants({ a: 'A', b: '{{> p}}', _p: 'p' });
    const second = await loadVariants({ a: 'A', b: '{{> p}}', _p: 'p', c: 'C' }, first);
    expect(second.variants.get('a')).toBe(first.variants.get('a'));
    const third = await loadVariants({ a: 'A', b: '{{> p}}', _p: 'q' }, first);
    expect(third.variants.get('b')?.identity).not.toBe(first.variants.get('b')?.identity);
  });
});

describe('selection', () => {
  const exists = (name: string): boolean => ['fast', 'fast.p1', 'other'].includes(name);

  it.each([
    [{ named: 'other', tier: 'fast', provider: 'p1' }, 'other'],
    [{ named: null, tier: 'fast', provider: 'p1' }, 'fast.p1'],
    [{ named: null, tier: 'fast', provider: 'p2' }, 'fast'],
    [{ named: null, tier: 'smart', provider: 'p1' }, null],
  ])('R71 %j -> %s', (input, expected) => {
    expect(selectVariant({ ...input, exists })).toBe(expected);
  });
});

describe('the prompts folder', () => {
  it('is read by file name; other files and folders are left alone', () => {
    const directory = mkdtempSync(join(tmpdir(), 'prompts-'));
    writeFileSync(join(directory, 'a.prompt'), 'A');
    writeFileSync(join(directory, '_p.prompt'), 'P');
    writeFileSync(join(directory, 'notes.md'), 'N');
    expect(readPromptDirectory(directory)).toEqual({ ok: true, value: { a: 'A', _p: 'P' } });
    writeFileSync(join(directory, 'bad.prompt'), Buffer.from([0xff, 0xfe]));
    expect(readPromptDirectory(directory)).toEqual({
      ok: false,
      fault: [{ name: 'bad', message: 'is not UTF-8 text' }],
    });
    rmSync(directory, { recursive: true });
    expect(readPromptDirectory(directory)).toEqual({ ok: true, value: {} });
  });

  it('names and sizes are bounded', async () => {
    const { faults } = await loadVariants({ 'Bad Name': 'x', long: 'x'.repeat(262_145) });
    expect(faults.map((fault) => fault.name)).toEqual(['Bad Name', 'long']);
  });

  it('R71 ships a wording of its own for each vendor and tier, all with a splice point', async () => {
    const read = readPromptDirectory('prompts');
    if (!read.ok) throw new Error(JSON.stringify(read.fault));
    const { variants, faults } = await loadVariants(read.value);
    expect(faults).toEqual([]);
    for (const tier of ['fast', 'smart', 'reasoning']) {
      const names = [tier, `${tier}.anthropic`, `${tier}.openai`, `${tier}.gemini`];
      const sources = names.map((name) => variants.get(name)?.source ?? '');
      expect(new Set(sources).size).toBe(4);
      for (const [index, source] of sources.entries()) {
        expect(source, names[index]).toContain('{{system}}');
        expect(source.split(/\s+/).length, names[index]).toBeLessThan(200);
      }
    }
    expect(variants.get('continue')?.requiredVariables).toEqual(['anchor']);
    expect(variants.get('repair')?.requiredVariables).toEqual(['errors']);
  });
});
