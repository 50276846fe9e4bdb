import { describe, expect, it } from 'vitest';
import type { Citation } from '../../../src/chat/citation.ts';
import { ReplyCollector } from '../../../src/chat/reply.ts';
import type { ChatEvent } from '../../../src/chat/stream-event.ts';

const citation: Citation = {
  source: { kind: 'web', url: 'https://a.test/', title: 'A' },
  citedText: null,
  span: { start: 0, end: 2 },
};

describe('an answer collected from its events', () => {
  it('holds each citation in its choice, in order', () => {
    const other = { ...citation, span: null };
    const reply = collected([
      { type: 'text', choice: 0, text: 'hi' },
      { type: 'citation', choice: 0, citation },
      { type: 'citation', choice: 1, citation: other },
      { type: 'citation', choice: 0, citation: other },
    ]);
    expect(reply.choices.map(({ citations }) => citations)).toEqual([[citation, other], [other]]);
    expect(reply.choices[0]?.text).toBe('hi');
  });

  it('names once what it held that has no place in it', () => {
    const omitted = { type: 'omitted', choice: 0, name: 'images' } as const;
    expect(collected([omitted, omitted]).choices[0]?.omitted).toEqual(['images']);
  });
});

function collected(events: readonly ChatEvent[]) {
  const collector = new ReplyCollector();
  for (const event of events) collector.push(event);
  return collector.reply();
}
