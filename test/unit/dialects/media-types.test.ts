/** Names of media types as clients write them, towards every dialect that does not take the client's own bytes. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';
import { callIn, sent } from './upstream-calls.ts';

const data = 'AAAA';
type Spelled = (mediaType: string) => JsonObject;

const bodies: { readonly [dialect: string]: Spelled } = {
  'openai-chat': (type) => ({
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: `data:${type};base64,${data}` } }],
      },
    ],
  }),
  'openai-responses': (type) => ({
    input: [
      {
        role: 'user',
        content: [{ type: 'input_image', image_url: `DATA:${type};Base64,${data}` }],
      },
    ],
  }),
  'anthropic-messages': (type) => ({
    max_tokens: 9,
    messages: [
      {
        role: 'user',
        content: [{ type: 'image', source: { type: 'base64', media_type: type, data } }],
      },
    ],
  }),
  gemini: (type) => ({
    contents: [{ role: 'user', parts: [{ inlineData: { mimeType: type, data } }] }],
  }),
};

const pairs = Object.keys(bodies).flatMap((client) =>
  [...upstreamDialects.keys()]
    .filter((upstream) => upstream !== client)
    .map((upstream) => [client, upstream] as const),
);

it.each(pairs)(
  'an image of a misspelled type goes from %s to %s as what it is',
  (client, upstream) => {
    for (const type of ['image/jpg', 'IMAGE/JPEG', 'image/jpeg; charset=utf-8']) {
      const dialect = clientDialects.get(client);
      const target = upstreamDialects.get(upstream);
      const body = bodies[client];
      if (dialect === undefined || target === undefined || body === undefined)
        throw new Error(client);
      const call = callIn(dialect, JSON.stringify(body(type)));
      expect(target.missingAbility(call.request)).toBeNull();
      expect(sent(target, call).text).toMatch(
        /"image\/jpeg"|data:image\/jpeg;base64,|"format":"jpeg"/,
      );
    }
  },
);

const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

it.each([
  [{ file_data: `data:application/pdf;base64,${data}` }, []],
  [{ file_data: `data:text/csv;base64,${data}` }, []],
  [{ file_data: `data:${docx};base64,${data}` }, ['openai-chat', 'anthropic-messages', 'gemini']],
  [{ file_url: 'https://files.test/a.pdf?x=1' }, ['openai-chat', 'bedrock-converse']],
  [
    { file_url: 'https://files.test/pdf/1706.03762' },
    ['openai-chat', 'gemini', 'bedrock-converse'],
  ],
  [
    { file_url: 'https://files.test/a.txt' },
    ['openai-chat', 'anthropic-messages', 'bedrock-converse'],
  ],
])('a document goes to those that read its kind alone: %j', (file, lacking) => {
  const dialect = clientDialects.get('openai-responses');
  if (dialect === undefined) throw new Error('no client');
  const content = [{ type: 'input_file', filename: 'a', ...file }];
  const { request } = callIn(dialect, JSON.stringify({ input: [{ role: 'user', content }] }));
  const found = [...upstreamDialects.values()].filter(
    (target) => target.missingAbility(request, 'gemini-3.5-flash') === 'documents',
  );
  expect(found.map(({ name }) => name).toSorted()).toEqual([...lacking].toSorted());
});
