import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadVariants } from '../../src/prompts/load-variants.ts';
import { diffDocuments } from '../../src/routing/diff.ts';
import { canonicalJson, tierEtag } from '../../src/routing/etag.ts';
import { parseDocument } from '../../src/routing/parse-document.ts';
import { aliasMatcher } from '../../src/routing/tier-lookup.ts';
import { validateDocument } from '../../src/routing/validate.ts';
import { noPrompts, sampleDocument } from '../support/routing-samples.ts';

const seed = { seed: 20_261_130 };

/** A sound document with one value, anywhere in it, replaced or added. */
const damagedDocument = fc
  .tuple(fc.array(fc.nat(20), { maxLength: 7 }), fc.jsonValue({ maxDepth: 3 }), fc.string())
  .map(([route, value, key]) => {
    const document = structuredClone(
      sampleDocument(
        {
          retry: { preset: 'guide', budget: { ratio: 0.1 } },
          hedge: { ratio: 0.1 },
          aliases: ['gpt-*'],
          output: { escalate_to: 'fast' },
        },
        { default_tier: 'fast', server: { max_body: '1mb' } },
      ),
    );
    let place: Record<string, unknown> = document as Record<string, unknown>;
    for (const step of route) {
      const inner = Object.values(place).filter((member) => typeof member === 'object' && member);
      const next = inner[step % Math.max(1, inner.length)];
      if (next === undefined) break;
      place = next as Record<string, unknown>;
    }
    const keys = Object.keys(place);
    const target = route.length % 2 === 0 ? (keys[route[0] ?? 0] ?? key) : key;
    Object.defineProperty(place, target, { value, enumerable: true, configurable: true });
    return document;
  });

describe('validateDocument', () => {
  it('never throws, whatever JSON it is given, and tells a path and words for each fault', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), damagedDocument, fc.anything()), (document) => {
        const judged = validateDocument(document, noPrompts);
        if (judged.ok) return;
        expect(judged.fault.faults.length).toBeGreaterThan(0);
        for (const fault of judged.fault.faults) expect(fault.message).not.toBe('');
      }),
      { ...seed, numRuns: 1500 },
    );
  });

  it('an accepted document is accepted again in its effective form, with the same result', () => {
    fc.assert(
      fc.property(damagedDocument, (document) => {
        const first = validateDocument(document, noPrompts);
        if (!first.ok) return;
        const again = validateDocument(first.value.values, noPrompts);
        expect(again.ok && again.value.values).toEqual(first.value.values);
      }),
      { ...seed, numRuns: 500 },
    );
  });

  it('no message holds a literal secret, wherever it stands', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 6 }), fc.boolean(), (route, isKey) => {
        const secret = 'sk-CANARY-0123456789abcdef';
        const document = structuredClone(sampleDocument()) as Record<string, unknown>;
        let place = document;
        for (const step of route) {
          const inner = Object.values(place).filter((member) => typeof member === 'object');
          const next = inner[step % Math.max(1, inner.length)];
          if (next === undefined) break;
          place = next as Record<string, unknown>;
        }
        if (Array.isArray(place)) place.push(isKey ? { [secret]: 1 } : secret);
        else if (isKey) place[secret] = 1;
        else place[Object.keys(place)[0] ?? 'x'] = secret;
        const judged = validateDocument(document, noPrompts);
        expect(judged.ok).toBe(false);
        expect(JSON.stringify(judged)).not.toContain('CANARY');
      }),
      { ...seed, numRuns: 300 },
    );
  });
});

describe('parseDocument', () => {
  it('never throws, and reads back whatever JSON says', () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array(), (text, bytes) => {
        parseDocument(text);
        parseDocument(Buffer.from(bytes));
      }),
      { ...seed, numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(parseDocument(JSON.stringify(value)).value)).toBe(
          canonicalJson(value),
        );
      }),
      { ...seed, numRuns: 300 },
    );
  });
});

describe('identity', () => {
  it('a diff is empty exactly when the values are equal', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const isSame = canonicalJson(left) === canonicalJson(right);
        expect(diffDocuments(left, right).length === 0).toBe(isSame);
        expect(tierEtag(left) === tierEtag(right)).toBe(isSame);
      }),
      { ...seed, numRuns: 500 },
    );
  });
});

describe('aliasMatcher', () => {
  it('agrees with the regular expression that the glob stands for', () => {
    const piece = fc.constantFrom('a', 'b', '*', '.', '-');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }),
        fc.array(fc.constantFrom('a', 'b', '.', '-'), { maxLength: 10 }),
        (glob, name) => {
          const pattern = glob.join('').replace(/[.-]/g, '\\$&').replaceAll('*', '.*');
          const expected = new RegExp(`^${pattern}$`).test(name.join(''));
          expect(aliasMatcher(glob.join(''))(name.join(''))).toBe(expected);
        },
      ),
      { ...seed, numRuns: 2000 },
    );
  });
});

describe('prompt variables', () => {
  it('a variable is text whatever it holds: it is never compiled and never moves the splice', async () => {
    const source = 'Before {{variables.x}}.\n\n{{system}}\n\nAfter {{variables.x}}.';
    const { variants } = await loadVariants({ v: source });
    const variant = variants.get('v');
    if (variant === undefined) throw new Error('did not compile');
    const hostile = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '{{system}}',
        '{{variables.x}}',
        '{{role "user"}}',
        '<<<dotprompt:role:user>>>',
        '<<<dotprompt:media:url http://x>>>',
        '\u0000',
        '{{{{raw}}}}',
      ),
    );
    fc.assert(
      fc.property(hostile, (x) => {
        const rendered = variant.render({ x });
        expect(rendered).toEqual({
          ok: true,
          value: { before: `Before ${x}.`, after: `After ${x}.` },
        });
      }),
      { ...seed, numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.jsonValue(), (x) => {
        expect(variant.render({ x }).ok).toBe(true);
      }),
      { ...seed, numRuns: 500 },
    );
  });
});
