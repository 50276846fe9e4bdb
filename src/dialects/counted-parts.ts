/** The answer of a provider that was asked to count tokens, as the parts of a reply that says nothing. */
import { parseJson, property } from '../base/json.ts';
import type { StreamPart } from '../chat/stream-event.ts';
import { unknownUsage } from '../chat/usage.ts';

const bytesMax = 65_536;

/** `field` is where the count stands; a body without it is none of its dialect. */
export function countedParts(body: Buffer, field: string): readonly StreamPart[] {
  const parsed = body.length <= bytesMax ? parseJson(body.toString('utf8')) : null;
  const count = parsed?.ok === true ? property(parsed.value, field) : undefined;
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0) {
    return [{ events: [{ type: 'malformed' }], frame: null }];
  }
  return [
    {
      events: [
        { type: 'start', id: null, model: null },
        { type: 'usage', usage: { ...unknownUsage, inputTokens: count } },
        { type: 'finish', choice: 0, reason: 'stop', raw: null },
        { type: 'end' },
      ],
      frame: null,
    },
  ];
}
