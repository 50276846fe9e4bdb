import { describe, expect, it } from 'vitest';
import { StreamWriter } from '../../../../src/http/data/stream-writer.ts';
import { FakeResponse } from '../../../support/fake-response.ts';
import { settle, VirtualClock } from '../../../support/virtual-clock.ts';

const beat = ': alive\n\n';

function begin(over: { readonly isEarly?: boolean; readonly everyMs?: number } = {}) {
  const clock = new VirtualClock();
  const response = new FakeResponse(clock);
  const keepAlive = { bytes: beat, everyMs: 10_000, isEarly: false, ...over };
  const writer = new StreamWriter(response.asServerResponse, clock, keepAlive);
  return { clock, response, writer };
}

describe('a stream that waits', () => {
  it('shows that it lives whenever nothing was written for so long', async () => {
    const { clock, response, writer } = begin();
    await clock.advance(7000);
    void writer.push('data: a\n\n');
    await clock.advance(27_000);
    expect(response.pieces).toEqual([
      { atMs: 7000, text: 'data: a\n\n' },
      { atMs: 17_000, text: beat },
      { atMs: 27_000, text: beat },
    ]);
  });

  it('says so with its head when nothing is known yet, and then at that pace', async () => {
    const { clock, response } = begin({ isEarly: true, everyMs: 500 });
    await clock.advance(1000);
    expect(response.pieces.map(({ atMs }) => atMs)).toEqual([0, 500, 1000]);
  });

  it('adds nothing while chunks come', async () => {
    const { clock, response, writer } = begin({ everyMs: 1000 });
    for (let nth = 0; nth < 50; nth += 1) {
      await clock.advance(900);
      void writer.push('x');
    }
    await settle();
    expect(response.text).toBe('x'.repeat(50));
  });

  it('writes nothing to a client that has bytes waiting, and goes on when it reads again', async () => {
    const { clock, response, writer } = begin();
    response.stopReading();
    const room = writer.push('x'.repeat(70_000));
    await clock.advance(60_000);
    response.readAgain();
    await room;
    await clock.advance(0);
    expect(response.text.length).toBe(70_000);
    await clock.advance(10_000);
    expect(response.text.slice(70_000)).toBe(beat);
  });

  it('stays out of an event that leaves in slices', async () => {
    const { clock, response, writer } = begin();
    response.stopReading();
    const event = `data: ${'y'.repeat(1_000_000)}\n\n`;
    let isTaken = false;
    void writer.push(event)?.then(() => {
      isTaken = true;
    });
    while (!isTaken) {
      await clock.advance(15_000);
      response.readAgain();
      response.stopReading();
    }
    expect(response.text.startsWith(event)).toBe(true);
    expect(response.text.slice(event.length).replaceAll(beat, '')).toBe('');
  });

  it('leaves no timer behind when it is closed', async () => {
    const { clock, writer } = begin();
    void writer.push('data: a\n\n');
    writer.close();
    expect(clock.pending).toBe(0);
  });
});

describe('a slow client', () => {
  it('ST-31 never has more than 256 kB waiting, whatever the chunks', async () => {
    for (const size of [1, 300, 65_535, 65_536, 65_537, 200_000, 5_000_000]) {
      const { response, writer } = begin();
      response.stopReading();
      for (let nth = 0; nth < 2_000_000 / size + 1; nth += 1) {
        const room = writer.push('z'.repeat(size));
        if (room === null) continue;
        await settle();
        break;
      }
      expect(response.writableLength).toBeLessThanOrEqual(256 * 1024);
    }
  });

  it('that takes its bytes while nothing is written is not waited for again', async () => {
    const { clock, response, writer } = begin();
    response.stopReading();
    // Two writes fill what may wait; nobody waits for room, since the next chunk is long in coming.
    expect(writer.push('a'.repeat(40_000))).toBeNull();
    await settle();
    expect(writer.push('b'.repeat(40_000))).toBeNull();
    await settle();
    expect(response.writableNeedDrain).toBe(true);
    response.readAgain();
    await clock.advance(5000);
    const room = writer.push('c');
    let isFree = room === null;
    void room?.then(() => {
      isFree = true;
    });
    await settle();
    expect(isFree).toBe(true);
    expect(response.text.length).toBe(80_001);
  });
});
