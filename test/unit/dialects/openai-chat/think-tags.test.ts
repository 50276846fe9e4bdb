/** Reasoning that a server leaves in the text between tags: told apart for clients of other dialects, passed as it is to its own. */
import { expect, it } from 'vitest';
import { ReplyCollector } from '../../../../src/chat/reply.ts';
import { openaiChatClient } from '../../../../src/dialects/openai-chat/client.ts';
import { openaiChatUpstream as dialect } from '../../../../src/dialects/openai-chat/upstream.ts';

const finish = { delta: {}, finish_reason: 'stop' };

function bytesOf(...deltas: readonly object[]): Buffer {
  const chunks = [...deltas.map((delta) => ({ delta, finish_reason: null })), finish];
  const lines = chunks.map((choice) => {
    const choices = [{ index: 0, ...choice }];
    return `data: ${JSON.stringify({ id: 'c', model: 'm', choices })}\n\n`;
  });
  return Buffer.from(`${lines.join('')}data: [DONE]\n\n`);
}

function partsOf(bytes: Buffer) {
  const decoder = dialect.streamDecoder({ eventBytesMax: 1 << 20 });
  return [...decoder.push(bytes), ...decoder.end()];
}

/** What was thought, and what was said. */
function toldBy(parts: ReturnType<typeof dialect.decodeReply>) {
  const collector = new ReplyCollector();
  for (const event of parts.flatMap(({ events }) => events)) collector.push(event);
  const [choice] = collector.reply().choices;
  return [choice?.reasoning.map(({ text }) => text) ?? [], choice?.text ?? ''];
}

function whole(message: object) {
  const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }];
  return toldBy(dialect.decodeReply(Buffer.from(JSON.stringify({ id: 'c', model: 'm', choices }))));
}

const rows: readonly (readonly [string, readonly string[], string])[] = [
  ['<think>\nhm </thin> so</think>\n\nHello', ['\nhm </thin> so'], 'Hello'],
  ['\n<think>hm</think>', ['hm'], ''],
  ['<think>cut of', ['cut of'], ''],
  ['<think></think>Hello', [], 'Hello'],
  ['<thinking>is a word</thinking>', [], '<thinking>is a word</thinking>'],
  ['<', [], '<'],
  [' \n', [], ' \n'],
  ['The tag <think>x</think>', [], 'The tag <think>x</think>'],
];

it.each(rows)('%j is told apart, whole and however it is cut', (content, thoughts, text) => {
  expect(whole({ content })).toEqual([thoughts, text]);
  for (let size = 1; size <= content.length; size += 1) {
    const pieces = content.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    const bytes = bytesOf(...pieces.map((piece) => ({ content: piece })));
    const parts = partsOf(bytes);
    const [thought, said] = toldBy(parts);
    // Blank text goes on before anybody knows what follows.
    expect([thought, String(said).replace(/^\n(?=$)/, '')]).toEqual([thoughts, text]);
    const encoder = openaiChatClient.streamEncoder({
      includeUsage: false,
      fallbackId: 'own',
      createdAtSeconds: 1,
      meta: null,
    });
    const passed = parts.map((part) => Buffer.from(encoder.push(part)));
    expect(Buffer.concat(passed).equals(bytes)).toBe(true);
  }
});

it('where the server tells reasoning apart by itself, text is text', () => {
  const content = '<think>is the tag</think>';
  expect(whole({ reasoning_content: 'hm', content })).toEqual([['hm'], content]);
  const bytes = bytesOf({ reasoning: 'hm' }, { content });
  expect(toldBy(partsOf(bytes))).toEqual([['hm'], content]);
});

it('a call ends a thought that was not closed', () => {
  const call = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const events = partsOf(bytesOf({ content: '<think>hm</' }, { tool_calls: [call] })).flatMap(
    (part) => part.events.map(({ type }) => type),
  );
  expect(events.slice(1, 5)).toEqual([
    'reasoning',
    'reasoning',
    'reasoning_end',
    'tool_call_start',
  ]);
});
