/** Requests of the Responses API, and what the simulated one says of them. */
import { openaiVendor } from '../../src/simulator/vendors/openai/openai-vendor.ts';
import { type RequestHead, wireOf } from '../../src/simulator/vendors/vendor.ts';

export const responsesHead: RequestHead = {
  method: 'POST',
  path: '/v1/responses',
  query: new URLSearchParams(),
  headers: {},
};
const route = { operation: 'generate', model: null, isStream: null, isArray: false } as const;
export const wire = wireOf(openaiVendor, responsesHead);
export const user = { role: 'user', content: 'hi' };

export function complaint(body: object) {
  return wire.validate({ model: 'gpt-4o', input: [user], ...body }, route, responsesHead);
}

export const call = (call_id: string, over: object = {}) => ({
  type: 'function_call',
  call_id,
  name: 'f',
  arguments: '{}',
  ...over,
});
export const output = (call_id: string, value: unknown = '1') => ({
  type: 'function_call_output',
  call_id,
  output: value,
});
export const thought = (over: object = {}) => ({
  type: 'reasoning',
  summary: [],
  encrypted_content: 'gAAAAAsim1',
  ...over,
});
export const said = (over: object = {}) => ({ role: 'assistant', content: 'well', ...over });
export const image = (image_url: string) => ({
  role: 'user',
  content: [{ type: 'input_image', image_url }],
});
export const empty = { type: 'object', properties: {} };
export const tool = (over: object = {}) => ({
  type: 'function',
  name: 'f',
  parameters: empty,
  ...over,
});
export const closed = { ...empty, additionalProperties: false, required: [] };
