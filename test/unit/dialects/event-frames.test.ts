/** What is passed on of an event that a client of its dialect could not read as it came. */
import { describe, expect, it } from 'vitest';
import { upstreamDialects } from '../../../src/dialects/registry.ts';

function framesOf(dialect: string, stream: string): string {
  const decoder = upstreamDialects.get(dialect)?.streamDecoder({ eventBytesMax: 4096 });
  if (decoder === undefined) throw new Error(`no ${dialect}`);
  const parts = [...decoder.push(Buffer.from(stream)), ...decoder.end()];
  return parts.map(({ frame }) => frame?.bytes.toString('utf8') ?? '').join('');
}

const ping = '{"type":"ping"}';
const created = '{"type":"response.output_text.delta","output_index":0,"delta":"a"}';
const chunk = '{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}';
const answer = '{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"index":0}]}';

describe.each([
  ['anthropic-messages', `event: ping\ndata: ${ping}\n\n`],
  ['openai-responses', `event: response.output_text.delta\ndata: ${created}\n\n`],
  ['openai-chat', `data: ${chunk}\n\n`],
  ['gemini', `data: ${answer}\r\n\r\n`],
])('%s', (dialect, clean) => {
  it('is passed on as it came', () => {
    const spaced = clean.replace('data: ', 'id: 7\nretry: 10\ndata:');
    expect(framesOf(dialect, clean + spaced)).toBe(clean + spaced);
  });

  it.each([
    ['a line of no known field', (text: string) => `wh\u0001at: ever\n${text}`],
    ['a blank line of two kinds', (text: string) => text.trimEnd().concat('\n\r\n')],
  ])('%s is left out', (_, spoil) => {
    expect(framesOf(dialect, spoil(clean))).toBe(clean);
  });

  it('R43 half a frame at the end of the body is none', () => {
    expect(framesOf(dialect, `${clean}event: messa`)).toBe(clean);
  });
});

describe.each([
  ['anthropic-messages', 'ping', ping],
  ['openai-responses', 'response.output_text.delta', created],
])('%s, whose clients go by the name of an event', (dialect, name, data) => {
  it('another name becomes the one that the document says', () => {
    const named = `event: ${name}\ndata: ${data}\n\n`;
    expect(framesOf(dialect, `event: message\ndata: ${data}\n\n`)).toBe(named);
  });
});

it('an event of Anthropic without a name, which its SDKs pass over, is given one', () => {
  const named = `event: ping\ndata: ${ping}\n\n`;
  expect(framesOf('anthropic-messages', `data: ${ping}\n\n`)).toBe(named);
});
