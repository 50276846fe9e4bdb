import { describe, expect, it } from 'vitest';
import type { UpstreamDialect } from '../../src/dialects/dialect.ts';
import {
  EngineHarness,
  ok,
  plainProvider,
  plainTarget,
  plainTier,
} from '../support/engine-harness.ts';
import { plainDialect } from '../support/plain-dialect.ts';
import type { ScriptedCall } from '../support/scripted-transport.ts';

const poison = 'CRASH';

/** A codec with a bug: it throws at one word. */
const frail: UpstreamDialect = {
  ...plainDialect,
  decodeReply: (body, options) => {
    if (body.includes(poison)) throw new TypeError('a bug of ours');
    return plainDialect.decodeReply(body, options);
  },
  streamDecoder: (options) => {
    const sound = plainDialect.streamDecoder(options);
    return {
      end: () => sound.end(),
      push: (bytes) => {
        if (bytes.includes(poison)) throw new TypeError('a bug of ours');
        return sound.push(bytes);
      },
    };
  },
};

function harnessOf(dialect: UpstreamDialect, call: ScriptedCall): EngineHarness {
  const p1 = plainTarget('p1', { provider: plainProvider('p1', { dialect }) });
  return new EngineHarness(plainTier([p1, plainTarget('p2')]), (provider) =>
    provider === 'p1' ? call : ok(provider),
  );
}

function crashing(...before: readonly string[]): ScriptedCall {
  return { kind: 'answer', status: 200, body: [...before, `${poison}\n`, 60_000] };
}

function expectNothingLeft(harness: EngineHarness): void {
  expect(harness.health.all().map(({ inFlight }) => inFlight)).toEqual([0, 0]);
  expect(harness.health.all().map((health) => health.breakerState())).toEqual(['closed', 'closed']);
  expect(harness.transport.open).toBe(0);
  expect(harness.clock.pending).toBe(0);
}

describe('a codec that throws at what a provider says', () => {
  it.each([
    ['a whole reply', false, { ...crashing(), body: [poison, { end: 'clean' }] }],
    ['a stream', true, crashing()],
    ['a stream within its hold', true, crashing('START\nT:a\n')],
  ] as const)(
    'ends %s as a fault of ours, told once, charged to nobody',
    async (_, isStream, call) => {
      const harness = harnessOf(frail, call as ScriptedCall);
      for (let turn = 0; turn < 4; turn += 1) {
        const { answer, trace } = await harness.askWithin(1000, { chat: { isStream } });
        expect(answer).toMatchObject({
          kind: 'failed',
          failure: { status: 500, failureClass: 'internal' },
        });
        expect(trace.attempts).toMatchObject([
          { outcome: 'failed', failure: { errorClass: 'internal' } },
        ]);
      }
      expect(harness.alerts).toMatchObject([{ kind: 'internal_error', subject: 'p1/m' }]);
      expect(harness.alerts[0]?.message).toMatch(/a bug of ours \(at .*thrown-faults/);
      expectNothingLeft(harness);
    },
  );

  it('ends a stream that had begun as one that broke, with what was sent', async () => {
    const words = 'T:word \n'.repeat(30);
    const harness = harnessOf(frail, crashing(`START\n${words}`));
    const { text, failure, trace } = await harness.askWithin(1000);
    expect(text).toBe('word '.repeat(30));
    expect(failure).toMatchObject({ failureClass: 'stream_interrupted', regenerate: true });
    expect(failure?.message).not.toContain('a bug of ours');
    expect(trace).toMatchObject({ outcome: 'failed', recovery: 'failed_forward' });
    expect(harness.alerts).toMatchObject([{ kind: 'internal_error', subject: 'p1/m' }]);
    expectNothingLeft(harness);
  });

  it('takes nothing from an answer that had its finish', async () => {
    const harness = harnessOf(frail, crashing('START\nT:whole\nFIN:stop\n'));
    const { text, trace } = await harness.askWithin(1000);
    expect([text, trace.outcome]).toEqual(['whole', 'served']);
    expectNothingLeft(harness);
  });
});

it('a codec that throws at what a client asks keeps no place in flight', async () => {
  const dialect: UpstreamDialect = {
    ...plainDialect,
    encodeCall: () => {
      throw new TypeError('a bug of ours');
    },
  };
  const harness = harnessOf(dialect, ok());
  for (let turn = 0; turn < 3; turn += 1) {
    await expect(harness.ask()).rejects.toThrow('a bug of ours');
  }
  expect(harness.health.all().map(({ inFlight }) => inFlight)).toEqual([0, 0]);
});
