import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openaiResponsesUpstream as dialect } from '../../src/dialects/openai-responses/upstream.ts';
import { openaiResponsesKind } from '../../src/providers/openai-responses.ts';
import { openaiVendor } from '../../src/simulator/vendors/openai/openai-vendor.ts';
import { wireOf } from '../../src/simulator/vendors/vendor.ts';
import { openaiBodies } from '../support/openai-bodies.ts';
import { callOf, sent } from '../unit/dialects/upstream-calls.ts';

const models = ['gpt-4.1', 'gpt-4o-mini', 'o3', 'gpt-5', 'gpt-5.1'];

describe('a body for openai-responses', () => {
  it('is one that the service takes, whatever a client of openai-chat said, and always the same', () => {
    const head = {
      method: 'POST',
      path: '/v1/responses',
      query: new URLSearchParams(),
      headers: {},
    };
    const wire = wireOf(openaiVendor, head);
    const route = wire.route(head);
    if (route === null) throw new Error('no route');
    fc.assert(
      fc.property(openaiBodies, fc.constantFrom(...models), (asked, model) => {
        // It has no stop sequences: such a request goes elsewhere.
        const { stop: _, ...body } = asked;
        const { maxOutputTokens, isReasoningModel, efforts } =
          openaiResponsesKind.modelFacts(model);
        const facts = { model, maxOutputTokens, isReasoningModel, efforts: efforts ?? null };
        const call = callOf(body, facts);
        expect(dialect.missingAbility(call.request)).toBeNull();
        const { body: written, text } = sent(dialect, call);
        expect(wire.validate(written, route, head)).toBeNull();
        expect(text).not.toContain('private');
        expect(sent(dialect, callOf(body, facts)).text).toBe(text);
      }),
    );
  });
});
