import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCallId, encodeCallId } from '../../src/dialects/gemini/tool-call-ids.ts';
import { geminiUpstream as dialect } from '../../src/dialects/gemini/upstream.ts';
import { anyCuts, cutAt, eventsOf, jsonLike, orderFaults } from '../support/decoder-properties.ts';

const keys = [
  'candidates',
  'content',
  'parts',
  'text',
  'thought',
  'thoughtSignature',
  'functionCall',
  'name',
  'args',
  'partialArgs',
  'jsonPath',
  'stringValue',
  'willContinue',
  'finishReason',
  'index',
  'usageMetadata',
  'promptTokenCount',
  'promptFeedback',
  'blockReason',
  'error',
  'code',
  'details',
  'responseId',
  'modelVersion',
  'violations',
  'retryDelay',
];
const words = ['STOP', 'MAX_TOKENS', 'SAFETY', 'f', 'g', '$.a', '$.a[0]', 'model', 'x'];
const anything = jsonLike(keys, words);

const part = fc.oneof(
  fc.record({ text: fc.string({ unit: 'grapheme' }) }),
  fc.record({ text: fc.string(), thought: fc.constant(true) }),
  fc.record({
    functionCall: fc.record({
      name: fc.constantFrom('f', 'g'),
      args: fc.dictionary(fc.string(), fc.string()),
    }),
  }),
  fc.constant({ functionCall: { name: 'h', willContinue: true } }),
  fc.constant({
    functionCall: { partialArgs: [{ jsonPath: '$.a', stringValue: 'x' }], willContinue: true },
  }),
  fc.constant({ functionCall: {} }),
  anything,
);
const chunk = fc
  .record(
    {
      parts: fc.array(part, { maxLength: 4 }),
      finishReason: fc.constantFrom('STOP', 'MAX_TOKENS', 3),
      index: fc.integer({ min: 0, max: 1 }),
    },
    { requiredKeys: ['parts'] },
  )
  .map(({ parts, ...rest }) => ({
    candidates: [{ content: { parts }, ...rest }],
    responseId: 'r',
  }));
const chunks = fc.array(
  fc.oneof({ weight: 8, arbitrary: chunk }, { weight: 1, arbitrary: anything }),
  {
    maxLength: 20,
  },
);
const streams = fc
  .tuple(chunks, fc.constantFrom('\n', '\r\n', '\r', 'array'))
  .map(([all, form]) =>
    Buffer.from(
      form === 'array'
        ? `[${all.map((each) => JSON.stringify(each, null, 1)).join('\n,\r\n')}]`
        : all.map((each) => `data: ${JSON.stringify(each)}${form}${form}`).join(''),
    ),
  );

describe('the gemini decoder', () => {
  it('ST-13 ST-17 gives the same events however the bytes are cut', () => {
    fc.assert(
      fc.property(streams, anyCuts, (bytes, cuts) => {
        expect(eventsOf(dialect, cutAt(bytes, cuts))).toEqual(eventsOf(dialect, [bytes]));
      }),
    );
  });

  it('keeps calls whole, apart and numbered without gaps', () => {
    fc.assert(
      fc.property(streams, (bytes) => {
        expect(orderFaults(eventsOf(dialect, [bytes]))).toEqual([]);
      }),
    );
  });

  it('throws on nothing that a provider may send', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string().map(Buffer.from)),
        (junk) => {
          eventsOf(dialect, [Buffer.from(junk)]);
          dialect.decodeReply(Buffer.from(junk));
        },
      ),
    );
    fc.assert(
      fc.property(anything, (value) => {
        const bytes = Buffer.from(JSON.stringify(value));
        dialect.decodeReply(bytes);
        eventsOf(dialect, [Buffer.concat([Buffer.from('data: '), bytes, Buffer.from('\r\n\r\n')])]);
        dialect.readError({ status: null, headers: {}, body: value });
        dialect.hints.bodyDelay(value);
      }),
    );
  });
});

describe('an id of a call', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
    fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64url')),
  );

  it('TR-11 gives back the provider’s id and the signature, byte for byte', () => {
    fc.assert(
      fc.property(
        fc.option(anyText),
        fc.option(anyText),
        fc.string(),
        (providerId, signature, seed) => {
          const id = encodeCallId({ family: 'm', providerId, signature, seed });
          expect(id).toMatch(/^tgs_[A-Za-z0-9_-]+$/);
          const isKept =
            providerId !== null && providerId !== '' && Buffer.byteLength(providerId) <= 191;
          const carried = decodeCallId(id, 'm');
          expect(carried?.signature).toBe(signature === '' ? null : signature);
          if (isKept) expect(carried?.providerId).toBe(providerId);
          expect(decodeCallId(id, 'other')?.signature).toBeNull();
        },
      ),
    );
  });

  it('that someone else made is no crash', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        decodeCallId(text, 'm');
        decodeCallId(`tgs_${text}`, 'm');
      }),
    );
  });
});
