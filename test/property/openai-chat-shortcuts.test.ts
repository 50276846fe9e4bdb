/** Where something is read without parsing it all, the result must be that of parsing it all. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FirstFault } from '../../src/dialects/first-fault.ts';
import { applySplices, scanJson } from '../../src/dialects/json-spans.ts';
import { openaiChatClient } from '../../src/dialects/openai-chat/client.ts';
import { readMessages } from '../../src/dialects/openai-chat/client-messages.ts';
import { openaiChatUpstream } from '../../src/dialects/openai-chat/upstream.ts';

const piece = fc.constantFrom(
  'a',
  ' ',
  '"',
  '\\',
  '\n',
  'é',
  '🌍',
  '\ud800',
  '{"":0}',
  '/',
  '\\"',
  ':',
);
/** Short and long texts around the length from which they are put off. */
const text = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 12 }), fc.constantFrom(1, 1, 30, 300))
  .map(([pieces, times]) => pieces.join('').repeat(times));
const link = fc.oneof(
  text,
  fc.nat(3000).map((length) => `data:image/png;base64,${'A'.repeat(length)}`),
  fc.nat(300).map((length) => `https://x.test/${'a'.repeat(length)}`),
);
const part = fc.oneof(
  text.map((value) => ({ type: 'text', text: value })),
  link.map((url) => ({ type: 'image_url', image_url: { url } })),
  text.map((data) => ({ type: 'input_audio', input_audio: { data, format: 'wav' } })),
  link.map((data) => ({ type: 'file', file: { file_data: data, filename: 'a.pdf' } })),
  text.map((value) => ({ type: 'odd', text: value })),
);
const message = fc.oneof(
  text.map((content) => ({ role: 'user', content })),
  fc.array(part, { maxLength: 3 }).map((content) => ({ role: 'user', content })),
  fc.tuple(text, text).map(([content, reasoning]) => ({
    role: 'assistant',
    content,
    reasoning_content: reasoning,
  })),
  text.map((value) => ({
    role: 'assistant',
    content: [{ type: 'thinking', thinking: [{ type: 'text', text: value }] }],
  })),
  fc.tuple(text, text).map(([given, content]) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: given } }],
    },
    { role: 'tool', tool_call_id: 'a', content },
  ]),
);
const conversation = fc
  .array(message, { minLength: 1, maxLength: 6 })
  .map((messages) => [...messages.flat(), { role: 'user', content: 'x'.repeat(5000) }]);

it('a large body is read as a small one is, whatever its texts hold', () => {
  fc.assert(
    fc.property(conversation, text, fc.boolean(), (messages, user, isSpaced) => {
      const body = JSON.stringify({ model: 'm', user, messages }, null, isSpaced ? 2 : 0);
      const decoded = openaiChatClient.decodeRequest(Buffer.from(body));
      if (!decoded.ok) throw new Error(decoded.fault.message);
      const { request } = decoded.value;
      const whole = readMessages(JSON.parse(body).messages, new FirstFault());
      expect(JSON.parse(JSON.stringify(request.messages))).toEqual(
        JSON.parse(JSON.stringify(whole.messages)),
      );
      expect(request.parameters.user).toBe(user);
    }),
  );
});

it('members of any JSON object are found where a parser finds them', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.oneof(fc.string(), text), fc.oneof(fc.jsonValue(), text), { maxKeys: 6 }),
      fc.boolean(),
      (json, isSpaced) => {
        const bytes = Buffer.from(JSON.stringify(json, null, isSpaced ? 1 : 0));
        const members = scanJson(bytes)?.members ?? [];
        const read = members.map(({ key, valueStart, end }) => [
          key,
          JSON.parse(bytes.toString('utf8', valueStart, end)),
        ]);
        expect(Object.fromEntries(read)).toEqual(JSON.parse(bytes.toString()));
        const blanked = members.map(({ valueStart, end }) => ({
          start: valueStart,
          end,
          text: '0',
        }));
        expect(Object.values(JSON.parse(applySplices(bytes, blanked).toString()))).toEqual(
          members.map(() => 0),
        );
      },
    ),
  );
});

it('ST-17 chunks that differ in their text alone are read as each for itself', () => {
  const said = fc.record({
    content: fc.oneof(text, fc.constant(''), fc.string()),
    padding: fc.string({ maxLength: 4 }),
    finish: fc.constantFrom(null, null, null, null, 'stop'),
    model: fc.constantFrom('m', 'm', 'm', 'm2'),
    usage: fc.constantFrom(null, null, null, { prompt_tokens: 1, completion_tokens: 1 }),
  });
  fc.assert(
    fc.property(fc.array(said, { maxLength: 20 }), fc.boolean(), (drawn, isPadded) => {
      // What an answer begins with may be a tag of reasoning, which waits until it is whole.
      const first = { content: 'a', padding: '', finish: null, model: 'm', usage: null };
      const chunks = [first, ...drawn];
      const decoder = openaiChatUpstream.streamDecoder({ eventBytesMax: 1 << 20 });
      const events = chunks.flatMap(({ content, padding, finish, model, usage }) => {
        const choices = [{ index: 0, delta: { content }, finish_reason: finish }];
        const extra = isPadded ? { obfuscation: padding } : {};
        const chunk = { id: 'c', model, choices, usage, ...extra };
        const parts = decoder.push(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`));
        expect(parts).toHaveLength(1);
        expect(parts[0]?.frame).not.toBeNull();
        return parts.flatMap((each) => each.events);
      });
      const texts = events.flatMap((event) => (event.type === 'text' ? [event.text] : []));
      expect(texts).toEqual(chunks.map(({ content }) => content).filter((each) => each !== ''));
      const count = (type: string): number => events.filter((event) => event.type === type).length;
      expect(count('finish')).toBe(chunks.filter(({ finish }) => finish !== null).length);
      expect(count('usage')).toBe(chunks.filter(({ usage }) => usage !== null).length);
    }),
  );
});
