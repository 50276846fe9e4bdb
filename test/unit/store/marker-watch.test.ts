/** Which requests are marked as under way. */
import { describe, expect, it } from 'vitest';
import { MarkerWatch } from '../../../src/store/sqlite/marker-watch.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

function setUp() {
  const clock = new VirtualClock();
  const marked: string[] = [];
  const watch = new MarkerWatch(clock, (started) => {
    for (const { id } of started) marked.push(id);
  });
  const begin = (id: string): void =>
    watch.begin({ id, startedAtMs: 0, tier: 'fast', keyId: null });
  return { clock, marked, watch, begin };
}

describe('a request', () => {
  it('that ends within 200 ms is never marked', async () => {
    const { clock, marked, watch, begin } = setUp();
    begin('a');
    await clock.advance(199);
    expect(watch.end('a')).toBe('unmarked');
    await clock.advance(1_000);
    expect(marked).toEqual([]);
  });

  it('LG-04 that lives longer is marked once, within 300 ms', async () => {
    const { clock, marked, watch, begin } = setUp();
    begin('a');
    await clock.advance(300);
    expect(marked).toEqual(['a']);
    await clock.advance(10_000);
    expect(marked).toEqual(['a']);
    expect(watch.end('a')).toBe('marked');
    expect(watch.end('a')).toBe('unmarked');
  });

  it('is marked by its own age, not by that of the oldest', async () => {
    const { clock, marked, begin } = setUp();
    begin('a');
    await clock.advance(150);
    begin('b');
    await clock.advance(150);
    expect(marked).toEqual(['a']);
    await clock.advance(49);
    expect(marked).toEqual(['a']);
    await clock.advance(101);
    expect(marked).toEqual(['a', 'b']);
  });

  it('that was never begun is unmarked', () => {
    expect(setUp().watch.end('unknown')).toBe('unmarked');
  });
});

describe('the timer', () => {
  it('is one for all requests, and none when there are none', async () => {
    const { clock, watch, begin } = setUp();
    for (let at = 0; at < 100; at += 1) begin(`id-${at}`);
    expect(clock.pending).toBe(1);
    for (let at = 0; at < 100; at += 1) watch.end(`id-${at}`);
    await clock.advance(1_000);
    expect(clock.pending).toBe(0);
  });

  it('stops when asked', () => {
    const { clock, watch, begin } = setUp();
    begin('a');
    watch.stop();
    expect(clock.pending).toBe(0);
  });
});
