import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { geminiUpstream as dialect } from '../../src/dialects/gemini/upstream.ts';
import { geminiVendor } from '../../src/simulator/vendors/gemini/gemini-vendor.ts';
import { openaiBodies } from '../support/openai-bodies.ts';
import { callOf, sent } from '../unit/dialects/upstream-calls.ts';

const models = ['gemini-2.0-flash', 'gemini-2.5-pro', 'gemini-3-pro-preview', 'gemini-3.8-flash'];

describe('a body for gemini', () => {
  it('is one that the service takes, whatever a client of openai-chat said, and always the same', () => {
    fc.assert(
      fc.property(openaiBodies, fc.constantFrom(...models), (body, model) => {
        const call = callOf(body, { model, maxOutputTokens: 65_536 });
        // A link can only be fetched by others.
        fc.pre(!JSON.stringify(body).includes('https://example.com/a.png'));
        expect(dialect.missingAbility(call.request)).toBeNull();
        const { body: written, text } = sent(dialect, call);
        const head = {
          method: 'POST',
          path: `/v1beta/models/${model}:generateContent`,
          query: new URLSearchParams(),
          headers: {},
        };
        const route = geminiVendor.route(head);
        if (route === null) throw new Error('no route');
        expect(geminiVendor.validate(written, route, head)).toBeNull();
        expect(text).not.toContain('private');
        expect(sent(dialect, callOf(body, { model, maxOutputTokens: 65_536 })).text).toBe(text);
      }),
    );
  });
});
