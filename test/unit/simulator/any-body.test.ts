/** Whatever arrives, the simulator judges and answers it without failing, and what it says is well formed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../../src/base/json.ts';
import { composeAnswer } from '../../../src/simulator/compose-answer.ts';
import { anthropicVendor } from '../../../src/simulator/vendors/anthropic/anthropic-vendor.ts';
import { geminiVendor } from '../../../src/simulator/vendors/gemini/gemini-vendor.ts';
import { openaiVendor } from '../../../src/simulator/vendors/openai/openai-vendor.ts';
import type { RequestHead, Route, Vendor } from '../../../src/simulator/vendors/vendor.ts';
import { dataEvents } from './raw-client.ts';

const head: RequestHead = {
  method: 'POST',
  path: '/',
  query: new URLSearchParams(),
  headers: { 'anthropic-version': '2023-06-01' },
};

const words = fc.constantFrom(
  'user',
  'assistant',
  'model',
  'tool',
  'system',
  'text',
  'image',
  'function',
  'object',
  'string',
  'array',
  'tool_use',
  'function_call',
  'function_call_output',
  'input_text',
  'input_image',
  'reasoning',
  'message',
  'tool_result',
  'thinking',
  'json_schema',
  'AUTO',
  'ANY',
  'auto',
  'required',
  '',
  ' ',
  'a',
  'hi there in 3 words',
  '__proto__',
);
const names = fc.constantFrom(
  ...'role content parts text type name id input arguments function tool_calls tool_call_id tool_use_id image_url url source data functionCall functionResponse function_call response args thoughtSignature signature thinking parameters input_schema schema properties items enum anyOf $ref required pattern minItems call_id output summary encrypted_content image_url format effort item_reference'.split(
    ' ',
  ),
);

/** JSON whose names are those that the vendors read. */
const { value } = fc.letrec<{ value: unknown; list: unknown[]; object: Record<string, unknown> }>(
  (tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      words,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.double(),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('value'), { maxLength: 4 }),
    object: fc.dictionary(names, tie('value'), { maxKeys: 6 }),
  }),
);

const bodyNames: { readonly [vendor: string]: readonly string[] } = {
  openai: [
    'messages',
    'tools',
    'tool_choice',
    'response_format',
    'stop',
    'stream_options',
    'n',
    'max_tokens',
    'temperature',
    'input',
    'instructions',
    'text',
    'reasoning',
    'include',
    'store',
    'max_output_tokens',
  ],
  anthropic: [
    'messages',
    'tools',
    'tool_choice',
    'system',
    'stop_sequences',
    'thinking',
    'output_config',
    'max_tokens',
    'temperature',
  ],
  gemini: [
    'contents',
    'tools',
    'toolConfig',
    'systemInstruction',
    'generationConfig',
    'generateContentRequest',
  ],
};

function bodyOf(vendor: Vendor): fc.Arbitrary<JsonObject> {
  const listed = bodyNames[vendor.name] ?? [];
  return fc
    .tuple(
      fc.constantFrom(
        'gpt-4o',
        'o3',
        'claude-sonnet-4-5',
        'claude-3-opus',
        'gemini-3-pro',
        'gemini-2.0-flash',
        'm',
      ),
      fc.boolean(),
      fc.dictionary(fc.constantFrom(...listed), value),
    )
    .map(([model, stream, rest]) => ({ model, stream, ...rest }));
}

const identity = { id: 'i', requestId: 'r', model: 'm', createdAtSeconds: 0, eol: '\n' };

const wires = [openaiVendor, anthropicVendor, geminiVendor]
  .flatMap((vendor) => [vendor, ...(vendor.wires ?? [])])
  .map((vendor) => ({ endpoint: vendor.messageId('') + vendor.name, vendor }));

describe.each(wires)('$endpoint', ({ vendor }) => {
  it('judges and answers any body', () => {
    const run = (body: JsonObject, isStream: boolean): void => {
      const route: Route = {
        operation: 'generate',
        model: String(body['model']),
        isStream,
        isArray: false,
      };
      const fault = vendor.validate(body, route, head);
      if (fault !== null) {
        expect(fault.status).toBeGreaterThanOrEqual(400);
        expect(isJsonObject(JSON.parse(vendor.errorBody(fault, 'r')))).toBe(true);
      }
      vendor.validate(body, { operation: 'count', model: 'm' }, head);
      const prompt = vendor.read(body, route);
      const answer = composeAnswer(prompt, { vendorLabel: vendor.label, nextCallId: () => 'c' });
      expect(answer.usage.output).toBeGreaterThanOrEqual(0);
      expect(isJsonObject(JSON.parse(vendor.wholeBody(answer, prompt, identity)))).toBe(true);
      const frames = vendor.frames(answer, prompt, { identity, isArray: false });
      expect(dataEvents(frames.map(({ frame }) => frame).join('')).length).toBeGreaterThan(0);
    };
    fc.assert(fc.property(bodyOf(vendor), fc.boolean(), run), { seed: 11, numRuns: 400 });
  });
});
