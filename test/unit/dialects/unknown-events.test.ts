/** Events of a type that nobody here knows, in the dialects whose events have types. */
import { describe, expect, it } from 'vitest';
import { anthropicMessagesUpstream } from '../../../src/dialects/anthropic-messages/upstream.ts';
import { EventReader } from '../../../src/dialects/bedrock-converse/event-reader.ts';
import { openaiResponsesUpstream } from '../../../src/dialects/openai-responses/upstream.ts';
import { StreamTally } from '../../../src/engine/stream-tally.ts';

const dialects = [anthropicMessagesUpstream, openaiResponsesUpstream] as const;

function unknownIn(dialect: (typeof dialects)[number], types: readonly string[]) {
  const decoder = dialect.streamDecoder({ eventBytesMax: 1 << 16 });
  const bytes = types.map((type) => `data: ${JSON.stringify({ type })}\n\n`).join('');
  const parts = [...decoder.push(Buffer.from(bytes)), ...decoder.end()];
  const tally = new StreamTally(0);
  for (const { events } of parts) for (const event of events) tally.push(event, 1);
  return { counted: Object.fromEntries(tally.unknownEvents), parts, tally };
}

describe.each(dialects.map((dialect) => [dialect.name, dialect] as const))(
  '%s',
  (_name, dialect) => {
    it('ST-07 an unknown event is counted by its type, goes on as it came, and breaks nothing', () => {
      const { counted, parts, tally } = unknownIn(dialect, [
        'brand_new',
        'brand_new',
        'other.kind',
      ]);
      expect(counted).toEqual({ brand_new: 2, 'other.kind': 1 });
      expect(parts.every(({ frame }) => frame !== null)).toBe(true);
      expect(tally.malformedEvents).toBe(0);
    });

    it('what is no name is not told, and many names are counted together', () => {
      const names = Array.from({ length: 40 }, (_, nth) => `kind_${nth}`);
      const { counted } = unknownIn(dialect, ['a secret: 1', 'x'.repeat(65), ...names]);
      expect(counted).toMatchObject({ unnamed: 2, kind_0: 1, other: 25 });
      expect(Object.keys(counted)).toHaveLength(17);
    });
  },
);

it.each([
  [anthropicMessagesUpstream, 'ping'],
  [openaiResponsesUpstream, 'response.in_progress'],
  [openaiResponsesUpstream, 'response.reasoning_summary_part.added'],
  [openaiResponsesUpstream, 'response.reasoning_summary_part.done'],
  [openaiResponsesUpstream, 'response.web_search_call.searching'],
  [openaiResponsesUpstream, 'response.output_text.annotation.added'],
  [openaiResponsesUpstream, 'response.content_part.done'],
] as const)('$name knows %s', (dialect, type) => {
  expect(unknownIn(dialect, [type]).counted).toEqual({});
});

it('ST-07 bedrock-converse: an unknown event is a sign of life under its name', () => {
  const reader = new EventReader('m');
  expect(reader.read('brandNew', {})).toEqual([
    { type: 'activity', isProgress: false, unknown: 'brandNew' },
  ]);
});
