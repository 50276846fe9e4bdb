/** An answer nested beyond any use is none, in every dialect: whoever walks it or writes it again would fail. */
import { describe, expect, it } from 'vitest';
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import { encodeEvent, encodeMessage } from '../../support/event-stream-codec.ts';

const depth = 12_000;
const deep = `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;

/** Where a service puts what it was asked, or gives in a call. */
const bodies: { readonly [dialect: string]: string } = {
  'openai-chat': `{"choices":[{"index":0,"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":${deep}}}]},"finish_reason":"stop"}]}`,
  'anthropic-messages': `{"type":"message","content":[{"type":"tool_use","id":"c","name":"f","input":${deep}}],"stop_reason":"tool_use"}`,
  gemini: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${deep}}}]},"finishReason":"STOP"}]}`,
  'openai-responses': `{"id":"resp_1","output":[],"status":"completed","metadata":${deep}}`,
  'bedrock-converse': `{"output":{"message":{"content":[{"toolUse":{"toolUseId":"c","name":"f","input":${deep}}}]}},"stopReason":"tool_use"}`,
};

function framed(dialect: string): Buffer {
  const payload = bodies[dialect] ?? '';
  if (dialect !== 'bedrock-converse') return Buffer.from(`data: ${payload}\n\n`);
  const event = { type: 'string', value: 'event' } as const;
  const named = { type: 'string', value: 'contentBlockStart' } as const;
  return encodeMessage({ ':message-type': event, ':event-type': named }, payload);
}

describe.each([...upstreamDialects.values()])('$name', (dialect) => {
  it('a whole answer of such a depth is malformed', () => {
    const parts = dialect.decodeReply(Buffer.from(bodies[dialect.name] ?? ''));
    expect(parts.flatMap(({ events }) => events)).toEqual([{ type: 'malformed' }]);
  });

  it('an event of such a depth is malformed, and no frame to pass on', () => {
    const decoder = dialect.streamDecoder({ eventBytesMax: 1 << 20 });
    const parts = [...decoder.push(framed(dialect.name)), ...decoder.end()];
    expect(parts).toEqual([{ events: [{ type: 'malformed' }], frame: null }]);
  });
});

it('a bedrock call without a name or an id is lost, and so is the answer', () => {
  const dialect = upstreamDialects.get('bedrock-converse');
  for (const toolUse of [{ name: 'f' }, { toolUseId: 'c' }, { toolUseId: 'c', name: '' }]) {
    const decoder = dialect?.streamDecoder({ eventBytesMax: 1 << 20 });
    const parts = decoder?.push(encodeEvent('contentBlockStart', { start: { toolUse } })) ?? [];
    const types = parts.flatMap(({ events }) => events).map(({ type }) => type);
    expect(types).toEqual(['start', 'malformed', 'malformed']);
  }
});
