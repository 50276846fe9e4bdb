/** What an answer cites reaches clients of every dialect whose form has a place for it, and is named to the others. */
import { describe, expect, it } from 'vitest';
import { ReplyCollector } from '../../../src/chat/reply.ts';
import type { ChatEvent } from '../../../src/chat/stream-event.ts';
import { clientDialects } from '../../../src/dialects/registry.ts';
import { toldReaders } from '../../support/told-clients.ts';

const url = 'https://example.com/sky';
const page: ChatEvent = {
  type: 'citation',
  choice: 0,
  citation: {
    source: { kind: 'web', url, title: 'The sky' },
    citedText: 'blue, mostly',
    // Behind a letter that is two units long.
    span: { start: 7, end: 14 },
  },
};
const document: ChatEvent = {
  type: 'citation',
  choice: 0,
  citation: {
    source: {
      kind: 'document',
      index: 0,
      title: 'Notes',
      fileId: null,
      place: { unit: 'character', start: 2, end: 9 },
    },
    citedText: 'skylike',
    span: { start: 7, end: 14 },
  },
};

function answer(...cited: readonly ChatEvent[]): readonly ChatEvent[] {
  return [
    { type: 'start', id: 'a1', model: 'm' },
    { type: 'text', choice: 0, text: 'Sky 😀 is blue.' },
    ...cited,
    { type: 'finish', choice: 0, reason: 'stop', raw: null },
    { type: 'end' },
  ];
}

/** What a client of `dialect` reads, streamed and whole, and what it was not told. */
function told(dialect: string, events: readonly ChatEvent[]) {
  const client = clientDialects.get(dialect);
  const reader = toldReaders[dialect];
  if (client === undefined || reader === undefined) throw new Error(dialect);
  return [true, false].map((isStream) => {
    const omitted = new Set<string>();
    const options = {
      fallbackId: 'own',
      createdAtSeconds: 1,
      includeUsage: false,
      meta: null,
      onOmitted: (name: string) => omitted.add(name),
    };
    if (isStream) {
      const encoder = client.streamEncoder(options);
      const raw = events.map((event) => encoder.push({ events: [event], frame: null }).toString());
      return { ...reader.stream(raw.join('')), omitted: [...omitted] };
    }
    const collector = new ReplyCollector();
    for (const event of events) collector.push(event);
    const reply = collector.reply();
    const raw = client.encodeReply({ ...options, reply, original: null }).toString();
    return { ...reader.whole(raw), omitted: [...omitted] };
  });
}

describe.each(['openai-chat', 'openai-responses', 'gemini'])('a client of %s', (dialect) => {
  it('is told of a page, and of which words rest on it', () => {
    for (const { citations, omitted } of told(dialect, answer(page))) {
      expect(citations).toEqual([{ source: url, of: 'is blue' }]);
      expect(omitted).toEqual([]);
    }
  });
});

describe('a client of anthropic-messages', () => {
  it('is told of a document that it sent', () => {
    for (const { citations, omitted } of told('anthropic-messages', answer(document))) {
      expect(citations).toMatchObject([{ source: 'Notes' }]);
      expect(omitted).toEqual([]);
    }
  });

  it('is not told of a page that nobody sealed for it: the vendor wants the seal back', () => {
    for (const { citations, omitted, text } of told('anthropic-messages', answer(page))) {
      expect([citations, omitted]).toEqual([[], ['citations']]);
      expect(text).toBe('Sky 😀 is blue.');
    }
  });
});

it.each(['openai-chat', 'openai-responses'])(
  'a document has no place for %s, and is named',
  (dialect) => {
    for (const { citations, omitted } of told(dialect, answer(document))) {
      expect([citations, omitted]).toEqual([[], ['citations']]);
    }
  },
);

it.each([...clientDialects.keys()])(
  'images and the like are named to a client of %s',
  (dialect) => {
    const image: ChatEvent = { type: 'omitted', choice: 0, name: 'images' };
    for (const { omitted } of told(dialect, answer(image))) expect(omitted).toEqual(['images']);
  },
);
