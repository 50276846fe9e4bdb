/** Numbers of schemas that JavaScript cannot hold keep their digits, from every client dialect to every target's. */
import { describe, expect, it } from 'vitest';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';
import { callIn, sent } from './upstream-calls.ts';

const long = '9007199254740993';
const id = `{"type":"integer","description":"an id","maximum":${long},"default":-${long}}`;
const schema = `{"type":"object","properties":{"id":${id}},"required":["id"],"additionalProperties":false}`;
const subset = schema
  .replace(',"additionalProperties":false', '')
  .replaceAll('"object"', '"OBJECT"');

/** A tool and a format with `schema`, as each client writes them. */
const bodies: { readonly [dialect: string]: string } = {
  'openai-chat': `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}],"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":${schema}}}}`,
  'openai-responses': `{"model":"m","input":"hi","store":false,"tools":[{"type":"function","name":"f","parameters":${schema}}],"text":{"format":{"type":"json_schema","name":"s","schema":${schema}}}}`,
  'anthropic-messages': `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","input_schema":${schema}}],"output_config":{"format":{"type":"json_schema","schema":${schema}}}}`,
  gemini: `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"f","parameters":${subset}}]}],"generationConfig":{"temperature":0.10000000000000000001,"responseMimeType":"application/json","responseJsonSchema":${schema}}}`,
};

const pairs = [...clientDialects.keys()].flatMap((client) =>
  [...upstreamDialects.keys()].map((upstream) => [client, upstream] as const),
);

function written(client: string, upstream: string, body: string): string {
  const from = clientDialects.get(client);
  const to = upstreamDialects.get(upstream);
  if (from === undefined || to === undefined) throw new Error(`${client} or ${upstream}`);
  return sent(to, callIn(from, body)).text;
}

describe.each(pairs)('from %s to %s', (client, upstream) => {
  it('a tool and the format of the answer have all digits', () => {
    const text = written(client, upstream, bodies[client] ?? '');
    // Schemas in words are told as JSON in a text.
    expect(text.split(long)).toHaveLength(5);
    expect(text).not.toContain('9007199254740992');
    expect(text).not.toContain('rawJSON');
  });

  it('a value that is beyond every number is none of null', () => {
    const body = (bodies[client] ?? '').replaceAll(long, '1e400');
    const text = written(client, upstream, body);
    expect(text.split('1e400')).toHaveLength(5);
    expect(text).not.toMatch(/"(maximum|default)": ?null/);
  });
});

it.each([
  ['1.0', '1'],
  ['0.1', '0.1'],
  ['9007199254740991', '9007199254740991'],
  ['1e3', '1000'],
])('a number that JavaScript holds is one, however it is spelled: %s', (spelled, told) => {
  const body = (bodies['openai-chat'] ?? '').replaceAll(long, spelled);
  expect(written('openai-chat', 'anthropic-messages', body)).toContain(told);
  const call = callIn(clientDialects.get('openai-chat') ?? expect.fail(), body);
  expect(JSON.stringify(call.request.tools[0]?.parameters)).toContain(`"maximum":${told},`);
});

it('values to choose from keep theirs too', () => {
  const listed = (bodies['openai-chat'] ?? '').replaceAll(id, `{"enum":[${long},1]}`);
  expect(written('openai-chat', 'anthropic-messages', listed).split(`[${long},1]`)).toHaveLength(3);
});
