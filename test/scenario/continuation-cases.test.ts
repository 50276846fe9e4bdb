/** The cases of the streaming table in which a stream is gone on with: no word twice, nobody asked who may not be. */
import { describe, expect, it } from 'vitest';
import { readStream } from '../support/answer-readers.ts';
import { VirtualGateway } from '../support/virtual-gateway.ts';
import { inOrder } from '../support/virtual-providers.ts';

const alphas = 'alpha '.repeat(25);
const breaks = { sse: ['ROLE', 'REP:25:T:alpha ', 'CUT'] };
const startsOver = { sse: ['ROLE', 'REP:25:T:alpha ', 'T:omega', 'FIN:end_turn', 'DONE'] };

describe('a stream that breaks after its commit, with on_interrupt: continue', () => {
  it('ST-03 with failover off nobody but its own target is asked for the rest', async () => {
    const gateway = new VirtualGateway({
      tier: ['p1', 'p2'],
      behaviours: { p1: inOrder(breaks), p2: inOrder(startsOver) },
      policies: { hedge: false },
    });
    const headers = { 'x-tiergate-failover': 'off' };
    const ask = await gateway.askWithin(120_000, { headers });
    const { text, isComplete, error } = await readStream('chat', ask.text);
    expect({ text, isComplete }).toEqual({ text: alphas, isComplete: false });
    expect(error).not.toBeNull();
    expect(gateway.providers.callsOf('p2')).toEqual([]);
    expect(gateway.providers.callsOf('p1').length).toBeGreaterThan(1);
  });

  it('ST-10 an answer that starts over adds only what is new: the prefix comes once', async () => {
    const gateway = new VirtualGateway({
      tier: ['p1', 'p2'],
      behaviours: { p1: inOrder(breaks), p2: inOrder(startsOver) },
      policies: { hedge: false },
    });
    const ask = await gateway.askWithin(120_000);
    expect(await readStream('chat', ask.text)).toMatchObject({
      text: `${alphas}omega`,
      isComplete: true,
      error: null,
    });
    const { recovery, seams } = gateway.lastTrace;
    expect(recovery).toBe('continued');
    expect(seams.at(-1)).toMatchObject({ start: alphas.length, end: alphas.length + 5 });
  });
});
