/** An answer's id is in the form of the client's dialect, and one through the whole of a stream. */
import { describe, expect, it } from 'vitest';
import type { ChatEvent, StreamPart } from '../../../src/chat/stream-event.ts';
import { unknownUsage } from '../../../src/chat/usage.ts';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';

const forms: { readonly [dialect: string]: RegExp } = {
  'openai-chat': /^chatcmpl-/,
  'openai-responses': /^resp_/,
  'anthropic-messages': /^msg_/,
  // Its ids have no form of their own.
  gemini: /./,
};

const options = {
  fallbackId: '01a22f89',
  createdAtSeconds: 77,
  includeUsage: false,
  meta: null,
};

/** Every id that stands at the top of what a client is told, or in its `response` or `message`. */
function idsIn(text: string): readonly string[] {
  return text
    .split(/^data: /m)
    .filter((each) => each.startsWith('{'))
    .map((each) => JSON.parse(each.split('\n')[0] ?? ''))
    .flatMap((json) => [json.id, json.responseId, json.response?.id, json.message?.id])
    .filter((id) => typeof id === 'string');
}

describe.each([...clientDialects.values()])('to a client of $name', (client) => {
  it.each(['msg_1', 'resp_1', 'aB3-x', null])('an answer called %s', (id) => {
    const form = forms[client.name] ?? /^$/;
    const said: ChatEvent[] = [
      { type: 'start', id, model: 'm' },
      { type: 'text', choice: 0, text: 'hi' },
      { type: 'finish', choice: 0, reason: 'stop', raw: null },
      { type: 'end' },
    ];
    const encoder = client.streamEncoder(options);
    const stream = said.map((event) => encoder.push({ events: [event], frame: null }).toString());
    const choice = {
      index: 0,
      text: 'hi',
      refusal: null,
      reasoning: [],
      toolCalls: [],
      finish: 'stop',
      rawFinish: null,
    } as const;
    const reply = { id, model: 'm', choices: [choice], usage: unknownUsage };
    const whole = client.encodeReply({ ...options, reply, original: null }).toString();
    const ids = [...idsIn(stream.join('')), ...idsIn(`data: ${whole}`)];
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(form);
  });
});

it('a stream that began with the own id of a service of the same dialect keeps it to the end', () => {
  const decoder = upstreamDialects.get('openai-chat')?.streamDecoder({ eventBytesMax: 10_000 });
  const encoder = clientDialects.get('openai-chat')?.streamEncoder(options);
  const delta = { role: 'assistant', content: 'one ' };
  const chunk = { id: 'a1b2', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const first = { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] };
  const parts: readonly StreamPart[] = [
    ...(decoder?.push(Buffer.from(`data: ${JSON.stringify(first)}\n\n`)) ?? []),
    { events: [{ type: 'start', id: 'msg_2', model: 'n' }], frame: null },
    { events: [{ type: 'text', choice: 0, text: 'two' }], frame: null },
    { events: [{ type: 'finish', choice: 0, reason: 'stop', raw: null }], frame: null },
    { events: [{ type: 'end' }], frame: null },
  ];
  const told = parts.map((part) => encoder?.push(part).toString()).join('');
  expect(idsIn(told)).toEqual(['a1b2', 'a1b2', 'a1b2']);
});
