import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { bedrockConverseUpstream as dialect } from '../../src/dialects/bedrock-converse/upstream.ts';
import { signatureHeaders } from '../../src/providers/aws-signature.ts';
import { bedrockKind } from '../../src/providers/bedrock.ts';
import { bedrockVendor } from '../../src/simulator/vendors/bedrock/bedrock-vendor.ts';
import { openaiBodies } from '../support/openai-bodies.ts';
import { callOf, sent } from '../unit/dialects/upstream-calls.ts';

const models = [
  'anthropic.claude-3-haiku-20240307-v1:0',
  'us.anthropic.claude-3-7-sonnet-20250219-v1:0',
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'global.anthropic.claude-opus-4-6-v1',
  'anthropic.claude-opus-4-7-v1',
  'amazon.nova-micro-v1:0',
  'us.amazon.nova-2-lite-v1:0',
  'openai.gpt-oss-120b-1:0',
  'mistral.mistral-large-3-675b-instruct',
  'arn:aws:bedrock:us-east-1:000000000000:application-inference-profile/abc123',
] as const;

function headOf(url: string, headers: Readonly<Record<string, string>>) {
  return { method: 'POST', path: new URL(url).pathname, query: new URLSearchParams(), headers };
}

describe('a body for bedrock-converse', () => {
  it('is one that the service takes, whatever a client of openai-chat said, and always the same', () => {
    fc.assert(
      fc.property(openaiBodies, fc.constantFrom(...models), (body, model) => {
        // A link can only be fetched by others.
        fc.pre(!JSON.stringify(body).includes('https://example.com/a.png'));
        const { maxOutputTokens } = bedrockKind.modelFacts(model);
        const call = callOf(body, { model, maxOutputTokens });
        expect(dialect.missingAbility(call.request)).toBeNull();
        const { body: written, text } = sent(dialect, call);
        const url = bedrockKind.urlFor({ baseUrl: 'http://h', model, isStream: false, own: {} });
        const head = headOf(url, {});
        const route = bedrockVendor.route(head);
        if (route === null) throw new Error('no route');
        expect(bedrockVendor.validate(written, route, head)).toBeNull();
        expect(text).not.toContain('private');
        expect(sent(dialect, callOf(body, { model, maxOutputTokens })).text).toBe(text);
      }),
    );
  });
});

describe('a signed request', () => {
  it('is one that the service takes, whatever the model is called and the body holds', async () => {
    const credentials = fc.record({
      accessKeyId: fc.stringMatching(/^[A-Z0-9]{1,20}$/),
      secretAccessKey: fc.stringMatching(/^[A-Za-z0-9/+]{1,40}$/),
      sessionToken: fc.option(fc.stringMatching(/^[\x21-\x7e]([\x20-\x7e]{0,20}[\x21-\x7e])?$/)),
    });
    const model = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' });
    const body = fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array().map(Buffer.from));
    const wallMs = fc.integer({ min: 0, max: 4_000_000_000_000 });
    await fc.assert(
      fc.asyncProperty(credentials, model, body, wallMs, async (signer, name, sentBody, nowMs) => {
        // Dots alone are no segment of a path, and stand for another one.
        fc.pre(!/^\.{1,2}$/.test(name));
        const url = bedrockKind.urlFor({
          baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
          model: name,
          isStream: true,
          own: {},
        });
        const headers = { 'content-type': 'application/json' };
        const added = await signatureHeaders(
          { url, headers, body: sentBody },
          {
            credentials: signer,
            region: 'us-east-1',
            service: 'bedrock',
            clock: { ...systemClock, wallMs: () => nowMs },
          },
        );
        const head = headOf(url, { ...headers, ...added, host: new URL(url).host });
        const rule = [`${signer.accessKeyId}:${signer.secretAccessKey}`];
        const bytes = Buffer.from(sentBody);
        expect(bedrockVendor.authorize(head, rule, { body: bytes, nowMs })).toBeNull();
      }),
    );
  });
});
