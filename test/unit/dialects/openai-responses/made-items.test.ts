import { describe, expect, it } from 'vitest';
import { openaiResponsesUpstream as upstream } from '../../../../src/dialects/openai-responses/upstream.ts';

const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'E' };
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'hi', annotations: [] }],
};
const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'm' };
const all = [
  { id: 'resp_1', isReasoning: false },
  { id: 'rs_1', isReasoning: true },
  { id: 'msg_1', isReasoning: false },
];

describe('what an answer names by ids', () => {
  it('is told with a whole one', () => {
    const body = JSON.stringify({ ...response, output: [thought, message] });
    const parts = upstream.decodeReply(Buffer.from(body));
    expect(parts.flatMap(({ made }) => made ?? [])).toEqual(all);
  });

  it('is told in a stream as it comes, items when they are complete', () => {
    const events = [
      { type: 'response.created', response: { ...response, output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...thought, id: 'rs_0' } },
      { type: 'response.output_item.done', output_index: 0, item: thought },
      { type: 'response.output_item.done', output_index: 1, item: message },
      { type: 'response.completed', response: { ...response, output: [] } },
    ];
    const decoder = upstream.streamDecoder({ eventBytesMax: 1 << 16 });
    const told = events.map((event) =>
      decoder
        .push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`))
        .flatMap(({ made }) => made ?? []),
    );
    expect(told).toEqual([[all[0]], [], [all[1]], [all[2]], [all[0]]]);
  });

  it('is nothing where there are no ids', () => {
    const nameless = { ...response, id: undefined, output: [{ ...message, id: '' }] };
    const parts = upstream.decodeReply(Buffer.from(JSON.stringify(nameless)));
    expect(parts.flatMap(({ made }) => made ?? [])).toEqual([]);
  });
});
