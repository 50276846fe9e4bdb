/** A target that refuses what was translated for it: whose fault the client is told it is. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { CaseGateway } from '../support/case-gateway.ts';
import type { ProviderName } from '../support/running-gateway.ts';

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

const heic = 'data:image/heic;base64,AAAA';
const open = { type: 'object', properties: { a: { type: 'string' } } };
const hi = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };

const wrong: readonly (readonly [string, ProviderName, string, JsonObject])[] = [
  [
    'an image that nobody reads, of chat completions, at responses',
    'p4',
    '/v1/chat/completions',
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: heic } }] }] },
  ],
  [
    'a format of an odd name, of responses, at chat completions',
    'p1',
    '/v1/responses',
    { input: 'hi', text: { format: { type: 'json_schema', name: 'two words', schema: open } } },
  ],
  [
    'an effort of no name, of messages, at responses',
    'p4',
    '/v1/messages',
    {
      max_tokens: 99,
      messages: [{ role: 'user', content: 'hi' }],
      output_config: { effort: 'turbo' },
    },
  ],
  [
    'an image that nobody reads, of responses, at chat completions',
    'p1',
    '/v1/responses',
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: heic }] }] },
  ],
  [
    'a temperature out of range, of Gemini, at chat completions',
    'p1',
    '/v1beta/models/TIER:generateContent',
    { ...hi, generationConfig: { temperature: -1 } },
  ],
];

it.each(wrong)('%s: the request is at fault', async (_what, target, path, body) => {
  // A model that is no reasoning model takes sampling fields.
  const model = target === 'p1' ? { model: 'gpt-4.1' } : {};
  const tier = await cases.tier([target], {}, { targets: { [target]: model } });
  const response = await cases.gateway.post(path.replace('TIER', tier), { model: tier, ...body });
  expect(cases.received(target)[0]?.complaint).toEqual(expect.any(String));
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('does not accept the request');
});

it('what the target itself was set up with is no fault of the request', async () => {
  const tier = await cases.tier(['p4'], {}, { targets: { p4: { params: { mystery: 1 } } } });
  const response = await cases.post(tier);
  expect(cases.received('p4')[0]?.complaint).toContain('mystery');
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({ error: { code: 'upstream_failed' } });
});

function tools(count: number): readonly JsonObject[] {
  return Array.from({ length: count }, (_, nth) => ({
    type: 'function',
    function: { name: `f${nth}`, parameters: { type: 'object', properties: {} } },
  }));
}

it('more tools than a service takes go to the next target, and as many as it takes to the first', async () => {
  const tier = await cases.tier(['p1', 'p2']);
  const served = async (count: number) => {
    const response = await cases.post(tier, { tools: tools(count) });
    return [response.status, response.headers.get('x-tiergate-served-by')];
  };
  expect(await served(128)).toEqual([200, cases.targetOf('p1')]);
  expect(await served(129)).toEqual([200, cases.targetOf('p2')]);
});

it.each<readonly [string, ProviderName, JsonObject]>([
  [
    'provider_tools (functions, function_call)',
    'p2',
    { functions: [{ name: 'f' }], function_call: 'auto' },
  ],
  ['provider_tools (tool_choice)', 'p2', { tool_choice: { type: 'none' } }],
  ['stop (sequences like these, or so many)', 'p4', { stop: ['END'] }],
  ['tools (as many as these, or any)', 'p1', { tools: tools(129) }],
])('what no target can carry is told by name: %s', async (words, target, body) => {
  const tier = await cases.tier([target]);
  const response = await cases.post(tier, body);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain(`${cases.targetOf(target)} lacks ${words}`);
});
