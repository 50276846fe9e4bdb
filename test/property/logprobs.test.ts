/** What a service says of its tokens, written for a client of each dialect and read back, is the same. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplyCollector } from '../../src/chat/reply.ts';
import type { ChatEvent } from '../../src/chat/stream-event.ts';
import type { TokenLogprob } from '../../src/chat/token-logprob.ts';
import { clientDialects, upstreamDialects } from '../../src/dialects/registry.ts';
import { anyCuts, cutAt, eventsOf } from '../support/decoder-properties.ts';
import { effort } from '../support/effort.ts';
import { asking, replyOf, spelled, tokens } from '../support/token-samples.ts';

const numRuns = effort(200, 5_000);

function both(name: string) {
  const client = clientDialects.get(name);
  const upstream = upstreamDialects.get(name);
  if (client === undefined || upstream === undefined) throw new Error(`nobody speaks ${name}`);
  return { client, upstream };
}

const answered = { fallbackId: 'f', createdAtSeconds: 1, meta: null };

function collected(events: readonly ChatEvent[]) {
  const collector = new ReplyCollector();
  for (const event of events) collector.push(event);
  return collector.reply().choices.map(({ text, logprobs }) => ({ text, logprobs }));
}

describe.each(['openai-chat', 'openai-responses', 'gemini'])('through %s', (name) => {
  const { client, upstream } = both(name);
  const request = asking(20, name);

  it('whole', () => {
    fc.assert(
      fc.property(tokens, (given) => {
        const reply = replyOf([{ text: spelled(given), logprobs: given }]);
        const body = client.encodeReply({ reply, original: null, request, ...answered });
        const parts = upstream.decodeReply(Buffer.from(body));
        const read = collected(parts.flatMap(({ events }) => events));
        expect(read).toEqual([{ text: spelled(given), logprobs: given }]);
      }),
      { numRuns },
    );
  });

  it('streamed in any pieces, cut anywhere', () => {
    fc.assert(
      fc.property(fc.array(tokens, { minLength: 1, maxLength: 4 }), anyCuts, (pieces, cuts) => {
        const encoder = client.streamEncoder({ includeUsage: true, request, ...answered });
        const events: readonly ChatEvent[] = [
          { type: 'start', id: 'answer-1', model: 'model-1' },
          ...pieces.map(textOf),
          { type: 'finish', choice: 0, reason: 'stop', raw: 'stop' },
          { type: 'end' },
        ];
        const bytes = events.map((event) =>
          Buffer.from(encoder.push({ events: [event], frame: null })),
        );
        const read = collected(eventsOf(upstream, cutAt(Buffer.concat(bytes), cuts)));
        const given = pieces.flat();
        expect(read).toEqual([{ text: spelled(given), logprobs: given }]);
      }),
      { numRuns },
    );
  });
});

function textOf(logprobs: readonly TokenLogprob[]): ChatEvent {
  return { type: 'text', choice: 0, text: spelled(logprobs), logprobs };
}
