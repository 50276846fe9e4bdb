import { describe, expect, it } from 'vitest';
import type { UpstreamStreamDecoder } from '../../../src/dialects/dialect.ts';
import { AttemptStream, type StreamStep } from '../../../src/engine/attempt-stream.ts';
import type { BodyChunk } from '../../../src/transport/transport.ts';
import { plainDialect } from '../../support/plain-dialect.ts';
import { settle, VirtualClock } from '../../support/virtual-clock.ts';

/** A body that the test fills as it likes. */
class OpenBody {
  readonly #waiting: BodyChunk[] = [];
  #reader: ((chunk: BodyChunk) => void) | null = null;
  isCancelled = false;

  readonly read = (): Promise<BodyChunk> => {
    const chunk = this.#waiting.shift();
    if (chunk !== undefined) return Promise.resolve(chunk);
    return new Promise((resolve) => {
      this.#reader = resolve;
    });
  };

  close(): void {
    this.#give({ kind: 'end' });
  }

  readonly cancel = (): void => {
    this.isCancelled = true;
    this.#give({ kind: 'end' });
  };

  say(text: string): void {
    this.sayBytes(Buffer.from(text));
  }

  sayBytes(bytes: Buffer): void {
    this.#give({ kind: 'bytes', bytes });
  }

  #give(chunk: BodyChunk): void {
    const reader = this.#reader;
    this.#reader = null;
    if (reader === null) this.#waiting.push(chunk);
    else reader(chunk);
  }
}

const silentDecoder = { push: () => [], end: () => [] };

type Over = {
  readonly decoder?: UpstreamStreamDecoder;
  readonly choices?: number;
  readonly allowsMissingFinish?: boolean;
};

function begin(over: Over = {}) {
  const clock = new VirtualClock();
  const body = new OpenBody();
  const eventBytesMax = 1024 * 1024;
  const stream = new AttemptStream({
    response: { status: 200, headers: {}, read: body.read, cancel: body.cancel },
    decoder: over.decoder ?? plainDialect.streamDecoder({ eventBytesMax }),
    eventBytesMax,
    clock,
    clocks: { firstContentAtMs: 60_000, idleMs: 30_000, idleWithSignsMs: 120_000 },
    allowsMissingFinish: over.allowsMissingFinish ?? false,
    choices: over.choices ?? 1,
    signal: new AbortController().signal,
  });
  return { clock, body, stream };
}

type Under = ReturnType<typeof begin>;

/** A stream that is committed and lives until 600 s. */
async function committed(): Promise<Under> {
  const under = begin();
  under.body.say('T:one\n');
  await under.stream.next(null);
  under.stream.commit(600_000);
  return under;
}

/** Reads on and on; how it ended, and when, once it has. */
function readOn({ stream, clock }: Under) {
  const read: { end: StreamStep | null; atMs: number } = { end: null, atMs: 0 };
  const loop = async (): Promise<void> => {
    for (;;) {
      const step = await stream.next(null);
      if (step.kind === 'parts' || step.kind === 'held') continue;
      read.end = step;
      read.atMs = clock.monotonicMs();
      return;
    }
  };
  void loop();
  return read;
}

describe('the idle clock', () => {
  it('ends a stream without progress', async () => {
    const under = await committed();
    const read = readOn(under);
    await under.clock.advance(30_000);
    expect(read.end).toMatchObject({ kind: 'broken', cause: { why: 'clock', clock: 'idle' } });
    expect(under.body.isCancelled).toBe(true);
  });

  it('runs for four times as long while signs of life come', async () => {
    const under = await committed();
    const read = readOn(under);
    while (read.end === null && under.clock.monotonicMs() < 300_000) {
      under.body.say('PING\n');
      await under.clock.advance(10_000);
    }
    expect(read).toMatchObject({ atMs: 120_000, end: { cause: { clock: 'idle' } } });
  });

  it('stands still while nobody reads because the client is slow', async () => {
    const under = await committed();
    await under.clock.advance(100_000);
    const read = readOn(under);
    await under.clock.advance(29_999);
    expect(read.end).toBeNull();
    await under.clock.advance(1);
    expect(read.end).toMatchObject({ cause: { clock: 'idle' } });
  });
});

describe('the clock of the whole stream', () => {
  it('ends a trickle that never falls silent', async () => {
    const under = await committed();
    const read = readOn(under);
    while (read.end === null && under.clock.monotonicMs() < 700_000) {
      under.body.say('T:x\n');
      await under.clock.advance(20_000);
    }
    expect(read).toMatchObject({ atMs: 600_000, end: { cause: { why: 'clock', clock: 'whole' } } });
    expect(under.body.isCancelled).toBe(true);
  });

  it('ends a stream that its client reads too slowly, though bytes are always there', async () => {
    const under = await committed();
    let step: StreamStep | null = null;
    while (step?.kind !== 'broken' && under.clock.monotonicMs() < 700_000) {
      under.body.say('T:x\n');
      await under.clock.advance(20_000);
      step = await under.stream.next(null);
    }
    expect(step).toMatchObject({ kind: 'broken', cause: { why: 'slow_client' } });
    expect(under.clock.monotonicMs()).toBe(600_000);
  });
});

describe('the size of a stream', () => {
  const mebibyte = Buffer.alloc(1024 * 1024);

  async function sizeAtEnd(under: Under): Promise<number> {
    const read = readOn(under);
    let said = 0;
    while (read.end === null && said < 1000) {
      for (let nth = 0; nth < 4; nth += 1) under.body.sayBytes(mebibyte);
      said += 4;
      await settle();
    }
    expect(read.end).toMatchObject({ kind: 'broken', cause: { why: 'too_large' } });
    expect(under.body.isCancelled).toBe(true);
    return said;
  }

  it('is bounded before anything of it is shown', async () => {
    expect(await sizeAtEnd(begin({ decoder: silentDecoder }))).toBeLessThanOrEqual(20);
  });

  it('is bounded afterwards, whatever its events are', async () => {
    const under = begin({ decoder: silentDecoder });
    under.stream.commit(600_000);
    const mebibytes = await sizeAtEnd(under);
    expect(mebibytes).toBeGreaterThan(500);
    expect(mebibytes).toBeLessThanOrEqual(516);
  });
});

describe('the end of a stream', () => {
  const eventsOf = (step: StreamStep | null) =>
    step === null || step.kind === 'held' ? [] : step.parts.flatMap(({ events }) => events);

  it('ST-11 without a finish is none, and is not told', async () => {
    const { stream, body } = begin();
    body.say('T:half\nEND\n');
    const step = await stream.next(null);
    expect(step).toMatchObject({ kind: 'broken', cause: { why: 'no_finish' } });
    expect(eventsOf(step)).toEqual([{ type: 'text', choice: 0, text: 'half' }]);
  });

  it('ST-11 without a finish is taken for one where that is allowed, with the finish before it', async () => {
    const { stream, body } = begin({ allowsMissingFinish: true });
    body.say('T:half\nEND\n');
    const step = await stream.next(null);
    expect(step.kind).toBe('ended');
    expect(eventsOf(step).map(({ type }) => type)).toEqual(['text', 'finish', 'end']);
  });

  it('is the last of it: what comes after it is not told', async () => {
    const { stream, body } = begin();
    body.say('T:all\nFIN:stop\nEND\nT:more\nEND\n');
    const step = await stream.next(null);
    expect(step.kind).toBe('ended');
    expect(eventsOf(step).map(({ type }) => type)).toEqual(['text', 'finish', 'end']);
  });

  it('is none while a choice has no finish', async () => {
    for (const words of ['T:a\nT1:b\nFIN:stop\n', 'T:a\nT1:b\nFIN1:stop\n', 'T1:b\nFIN1:stop\n']) {
      for (const last of ['', 'END\n']) {
        const { stream, body } = begin({ choices: 2 });
        body.say(words + last);
        body.close();
        let step = await stream.next(null);
        while (step.kind === 'parts') step = await stream.next(null);
        expect(step).toMatchObject({ kind: 'broken', cause: { why: 'no_finish' } });
      }
    }
  });

  it('is waited for while another choice goes on, or has not begun', async () => {
    for (const begun of ['T1:b\n', '']) {
      const under = begin({ choices: 2 });
      under.body.say(`T:a\n${begun}`);
      await under.stream.next(null);
      under.stream.commit(600_000);
      const read = readOn(under);
      under.body.say('FIN:stop\n');
      await under.clock.advance(20_000);
      under.body.say('T1:c\n');
      await under.clock.advance(20_000);
      expect(read.end).toBeNull();
      under.body.say('FIN1:stop\n');
      await under.clock.advance(2000);
      expect(read).toMatchObject({ end: { kind: 'ended' }, atMs: 42_000 });
    }
  });
});
