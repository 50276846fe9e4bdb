/** A provider that answers a request for a stream in one piece: its client still reads a stream. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CaseGateway } from '../support/case-gateway.ts';

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };
const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
const message = { role: 'assistant', content: 'hello', tool_calls: [call] };
const reply = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
  usage,
};
const headers = { 'content-type': 'application/json' };

it('openai-chat: text, call, usage and terminator come as events, and the row agrees', async () => {
  const tier = await cases.tier(['p1'], { p1: [{ headers, body: reply }] });
  const options = { stream_options: { include_usage: true }, tiergate: { meta: 'body' } };
  const { response, stream, row } = await cases.stream(tier, options);
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  expect(stream).toMatchObject({ text: 'hello', finishReasons: ['tool_calls'], isDone: true });
  const told = stream.events.flatMap(({ choices }) => choices?.[0]?.delta?.tool_calls ?? []);
  expect(told.map((part) => part.function?.arguments ?? '').join('')).toBe('{"a":1}');
  expect(stream.events.findLast((event) => event.usage)?.usage).toMatchObject(usage);
  expect(stream.raw).toContain('"served_by"');
  expect(row).toMatchObject({ outcome: 'served', finish_reason: 'tool_calls' });
});

it('anthropic-messages: the events of its own stream, in order', async () => {
  const tier = await cases.tier(['p1'], { p1: [{ headers, body: reply }] });
  const response = await cases.gateway.post('/v1/messages', {
    model: tier,
    max_tokens: 50,
    stream: true,
    messages: [{ role: 'user', content: 'hi' }],
  });
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const names = [...(await response.text()).matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
  expect(names[0]).toBe('message_start');
  expect(names.filter((name) => name === 'content_block_start')).toHaveLength(2);
  expect(names.at(-1)).toBe('message_stop');
});
