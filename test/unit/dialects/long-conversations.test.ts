/** Lists in a request or a reply are as long as others make them: none is spread into a call. */
import { expect, it } from 'vitest';
import { append } from '../../../src/base/append.ts';
import type { Message } from '../../../src/chat/request.ts';
import { arrangeTurns } from '../../../src/dialects/turns.ts';

/** More arguments than a call can take on any stack that Node gives it. */
const many = 300_000;

it('a list of any length is appended', () => {
  const list: number[] = [1];
  append(list, new Array<number>(many).fill(2));
  expect(list).toHaveLength(many + 1);
});

it.each(['system', 'user', 'assistant'] as const)(
  'a %s message of very many parts becomes one turn of them',
  (role) => {
    const content = new Array(many).fill({ type: 'text', text: 'a' });
    const message = { role, content, name: null } as unknown as Message;
    const arranged = arrangeTurns([message, { ...message }], 'none');
    expect(arranged.ok).toBe(true);
    if (!arranged.ok) return;
    const { system, turns } = arranged.value;
    const parts = role === 'system' ? system : turns.at(-1)?.parts;
    expect(parts).toHaveLength(2 * many);
  },
);
