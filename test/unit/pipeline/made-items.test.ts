import { describe, expect, it } from 'vitest';
import type { AccountState } from '../../../src/chat/request.ts';
import type { MadeItem, StreamPart } from '../../../src/chat/stream-event.ts';
import type { RequestTrace } from '../../../src/engine/trace.ts';
import { MadeItems } from '../../../src/pipeline/made-items.ts';
import { MemoryOrigins } from '../../support/memory-origins.ts';
import { requestTrace } from '../../support/traces.ts';

const state: AccountState = {
  isBound: true,
  isKept: true,
  previousId: null,
  conversationId: null,
  itemIds: [],
};
const part = (...made: readonly MadeItem[]): StreamPart => ({ events: [], frame: null, made });
const answer = { id: 'resp_1', isReasoning: false };
const thought = { id: 'rs_1', isReasoning: true };

async function noted(
  change: Partial<AccountState>,
  trace: RequestTrace = requestTrace({ outcome: 'served' }),
) {
  const origins = new MemoryOrigins();
  const made = new MadeItems(origins, { ...state, ...change });
  made.watch({ parts: [part(answer), part(), { events: [], frame: null }] });
  made.watch({ parts: [part(thought)] });
  await made.note(trace);
  return origins.known;
}

describe('what an answer made', () => {
  it('is noted with the account that served it', async () => {
    const trace = requestTrace({ outcome: 'served' });
    const { target, provider, keyAlias } = trace.serving ?? {};
    const origin = { target, provider, keyAlias, isKept: true };
    expect(await noted({}, trace)).toEqual(
      new Map([
        ['resp_1', origin],
        ['rs_1', origin],
      ]),
    );
  });

  it('and is not kept is reasoning alone, which no other account can read', async () => {
    const known = await noted({ isKept: false });
    expect([...known.keys()]).toEqual(['rs_1']);
    expect(known.get('rs_1')?.isKept).toBe(false);
  });

  it('in a conversation is kept with it', async () => {
    const known = await noted({ isKept: false, conversationId: 'conv_1' });
    expect(known.get('conv_1')?.isKept).toBe(true);
  });

  it('is nothing where nobody served, or where several wrote one answer', async () => {
    expect((await noted({}, requestTrace({ outcome: 'failed' }))).size).toBe(0);
    expect((await noted({}, requestTrace({ outcome: 'served', serving: null }))).size).toBe(0);
    const origins = new MemoryOrigins();
    const made = new MadeItems(origins, state);
    made.watch({ parts: [part(answer)] });
    made.watch({ parts: [part()], joint: { from: 'a', to: 'b' } });
    await made.note(requestTrace({ outcome: 'served' }));
    expect(origins.known.size).toBe(0);
  });

  it('is bounded', async () => {
    const origins = new MemoryOrigins();
    const made = new MadeItems(origins, state);
    const many = Array.from({ length: 400 }, (_, at) => ({ id: `m${at}`, isReasoning: false }));
    made.watch({
      parts: [part(...many), part(...many.map(({ id }) => ({ id: `n${id}`, isReasoning: false })))],
    });
    await made.note(requestTrace({ outcome: 'served' }));
    expect(origins.known.size).toBe(512);
  });
});
