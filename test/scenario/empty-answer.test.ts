import { describe, expect, it } from 'vitest';
import {
  EngineHarness,
  ok,
  plainProvider,
  plainTarget,
  plainTier,
  status,
} from '../support/engine-harness.ts';
import { plainDialect } from '../support/plain-dialect.ts';
import type { ScriptedCall } from '../support/scripted-transport.ts';

const empty: ScriptedCall = {
  kind: 'answer',
  status: 200,
  body: ['START\nFIN:stop\nEND\n', { end: 'clean' }],
};

function tierOf(asksAgainWhenEmpty: boolean) {
  const provider = plainProvider('p1', { dialect: { ...plainDialect, asksAgainWhenEmpty } });
  return plainTier([plainTarget('p1', { provider }), plainTarget('p2')]);
}

describe.each([true, false])('an answer that stops with nothing in it (stream %s)', (isStream) => {
  const ask = (isAsking: boolean, ...calls: readonly ScriptedCall[]) => {
    const harness = new EngineHarness(
      tierOf(isAsking),
      (_provider, call) => calls[call] ?? ok('more'),
    );
    return harness
      .askWithin(1000, { chat: { isStream } })
      .then((asked) => ({ ...asked, calls: harness.transport.calls('p1') }));
  };

  it('FO-07 is a success', async () => {
    const { text, trace, calls } = await ask(false, empty);
    expect([text, trace.outcome, calls]).toEqual(['', 'served', 1]);
  });

  it('is asked for once more where the dialect gives them by mistake, uncounted', async () => {
    const { text, trace, calls } = await ask(true, empty, ok('more'));
    expect([text, trace.attempts.length, calls]).toEqual(['more', 1, 2]);
  });

  it('is delivered when it comes again, or when the second ask fails', async () => {
    for (const second of [empty, status(500)]) {
      const { text, trace, calls } = await ask(true, empty, second);
      expect([text, trace.outcome, trace.attempts.length, calls]).toEqual(['', 'served', 1, 2]);
    }
  });
});
