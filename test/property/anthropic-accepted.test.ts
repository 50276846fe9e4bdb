import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anthropicMessagesUpstream as dialect } from '../../src/dialects/anthropic-messages/upstream.ts';
import { anthropicVendor } from '../../src/simulator/vendors/anthropic/anthropic-vendor.ts';
import { openaiBodies } from '../support/openai-bodies.ts';
import { callOf, sent } from '../unit/dialects/upstream-calls.ts';

const models = [
  ['claude-3-5-haiku-20241022', 8192],
  ['claude-sonnet-4-5', 64_000],
  ['claude-opus-4-6', 128_000],
  ['claude-opus-4-7', 128_000],
  ['claude-haiku-5-5', 128_000],
] as const;

describe('a body for anthropic-messages', () => {
  it('is one that the service takes, whatever a client of openai-chat said, and always the same', () => {
    const head = {
      method: 'POST',
      path: '/v1/messages',
      query: new URLSearchParams(),
      headers: { 'anthropic-version': '2023-06-01' },
    };
    const route = anthropicVendor.route(head);
    if (route === null) throw new Error('no route');
    fc.assert(
      fc.property(openaiBodies, fc.constantFrom(...models), (body, [model, maxOutputTokens]) => {
        const call = callOf(body, { model, maxOutputTokens });
        expect(dialect.missingAbility(call.request)).toBeNull();
        const { body: written, text } = sent(dialect, call);
        expect(anthropicVendor.validate(written, route, head)).toBeNull();
        expect(text).not.toContain('private');
        expect(sent(dialect, callOf(body, { model, maxOutputTokens })).text).toBe(text);
      }),
    );
  });
});
