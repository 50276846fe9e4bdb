import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AssistantPart, Message } from '../../src/chat/request.ts';
import { arrangeTurns } from '../../src/dialects/turns.ts';

const text = fc.record({
  type: fc.constant('text' as const),
  text: fc.constantFrom('', ' ', 'a', 'b'),
});
const id = fc.constantFrom('1', '2', '3');
const call = fc.record({
  type: fc.constant('tool_call' as const),
  id,
  name: fc.constant('f'),
  arguments: fc.constantFrom('', '{}', '{"a":1}', 'x'),
});
const reasoning = fc.record({
  type: fc.constant('reasoning' as const),
  text: fc.constant('private'),
  signature: fc.constantFrom(null, 's'),
  redacted: fc.constant(null),
  dialect: fc.constantFrom('one', 'other'),
});
const assistantPart: fc.Arbitrary<AssistantPart> = fc.oneof(text, call, reasoning);
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant('system' as const), content: fc.array(text, { maxLength: 2 }) }),
  fc.record({
    role: fc.constant('user' as const),
    content: fc.array(text, { maxLength: 2 }),
    name: fc.constant(null),
  }),
  fc.record({
    role: fc.constant('assistant' as const),
    content: fc.array(assistantPart, { maxLength: 3 }),
  }),
  fc.record({
    role: fc.constant('tool' as const),
    toolCallId: id,
    content: fc.array(text, { maxLength: 1 }),
    isError: fc.boolean(),
  }),
);

/** A conversation whose calls are all answered, in whatever order. */
const answered: fc.Arbitrary<readonly Message[]> = fc
  .array(
    fc.tuple(
      fc.array(
        message.filter(({ role }) => role !== 'tool'),
        { maxLength: 2 },
      ),
      fc.shuffledSubarray(['1', '2', '3']),
      fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
    ),
    { maxLength: 4 },
  )
  .map((rounds) =>
    rounds.flatMap(([before, ids, order]): Message[] => {
      const called = ids.map((each) => ({
        type: 'tool_call' as const,
        id: each,
        name: 'f',
        arguments: '',
      }));
      const results = order
        .flatMap((place) => ids.slice(place, place + 1))
        .map((each): Message => ({ role: 'tool', toolCallId: each, content: [], isError: false }));
      const plain = before.map((each) =>
        each.role === 'assistant'
          ? { ...each, content: each.content.filter(({ type }) => type !== 'tool_call') }
          : each,
      );
      return [...plain, { role: 'assistant', content: called }, ...results];
    }),
  );

describe('turns', () => {
  it('TR-06 TR-07 of any conversation alternate, begin with the user, and none is empty', () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(message, { maxLength: 12 }), answered), (messages) => {
        const arranged = arrangeTurns(messages, 'one');
        if (!arranged.ok) {
          expect(arranged.fault.param).toMatch(/^messages\[\d+\]$/);
          return;
        }
        const { turns } = arranged.value;
        expect(turns.map(({ role }) => role)).toEqual(
          turns.map((_, place) => (place % 2 === 0 ? 'user' : 'assistant')),
        );
        for (const [place, turn] of turns.entries()) {
          const before = turns[place - 1];
          const asked = before?.role === 'assistant' ? before.calls.map((each) => each.id) : [];
          if (turn.role === 'user')
            expect(turn.results.map((each) => each.toolCallId)).toEqual(asked);
          const count = turn.parts.length + (turn.role === 'user' ? turn.results.length : 0);
          expect(count).toBeGreaterThan(0);
          for (const part of turn.parts) {
            if (part.type === 'text') expect(part.text.trim()).not.toBe('');
            if (part.type === 'reasoning')
              expect(part).toMatchObject({ dialect: 'one', signature: 's' });
          }
        }
      }),
    );
  });

  it('TR-04 of a conversation whose calls are all answered are arranged', () => {
    fc.assert(
      fc.property(answered, (messages) => {
        expect(arrangeTurns(messages, 'one')).toMatchObject({ ok: true });
      }),
    );
  });
});
