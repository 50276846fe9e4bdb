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

function begin(over: { readonly decoder?: UpstreamStreamDecoder } = {}) {
  const clock = new VirtualClock();
  const body = new OpenBody();
  const eventBytesMax = 1024 * 1024;
  const stream = new AttemptStream({
    response: { status: 200, headers: {}, read: body.read, cancel: body.cancel },
    decoder: over.decoder ?? plainDialect.streamDecoder({ eventBytesMax }),
    eventBytesMax,
    clock,
    clocks: { firstContentAtMs: 60_000, idleMs: 30_000, idleWithSignsMs: 120_000 },
    allowsMissingFinish: false,
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
