import { describe, expect, it } from 'vitest';
import {
  EngineHarness,
  ok,
  plainTarget,
  plainTier,
  retryPolicy,
  status,
} from '../support/engine-harness.ts';
import type { ScriptedCall } from '../support/scripted-transport.ts';

const both = plainTier([plainTarget('p1'), plainTarget('p2')]);
const writing = { providerTools: [{ dialect: 'plain', kind: 'writes_files', raw: {} }] };
const searching = { providerTools: [{ dialect: 'plain', kind: 'search', raw: {} }] };

function first(call: ScriptedCall) {
  return (provider: string): ScriptedCall => (provider === 'p1' ? call : ok(provider));
}

const lost: readonly (readonly [string, ScriptedCall])[] = [
  ['a reset', { kind: 'reset' }],
  ['a reset on a reused socket', { kind: 'stale' }],
  ['silence', { kind: 'silent' }],
  ['an interruption', { kind: 'answer', status: 200, body: ['T:a\n', { end: 'clean' }] }],
];

describe('provider-run tools that may write', () => {
  it.each(lost)('are not repeated blindly after %s: 502 that says so', async (_name, call) => {
    const harness = new EngineHarness(both, first(call));
    const { answer } = await harness.askWithin(121_000, { chat: writing });
    expect(answer).toMatchObject({
      kind: 'failed',
      failure: { failureClass: 'upstream_failed', status: 502, maybeExecuted: true },
    });
    expect(harness.transport.requests).toHaveLength(1);
  });

  it.each([401, 403, 429, 529])(
    'a refusal before work began (%s) is handled as ever',
    async (code) => {
      const tier = plainTier(both.targets, { retry: { ...retryPolicy, attempts: 1 } });
      const harness = new EngineHarness(tier, first(status(code)));
      expect((await harness.askWithin(60_000, { chat: writing })).text).toBe('p2');
    },
  );

  it('a search is repeated like anything else, and so is everything where the tier says so', async () => {
    const harness = new EngineHarness(both, first({ kind: 'silent' }));
    expect((await harness.askWithin(121_000, { chat: searching })).text).toBe('p2');
    const tier = plainTier(both.targets, { retry: { ...retryPolicy, repeatsProviderTools: true } });
    const repeating = new EngineHarness(tier, first({ kind: 'silent' }));
    expect((await repeating.askWithin(121_000, { chat: writing })).text).toBe('p2');
  });

  it('are never hedged', async () => {
    const harness = new EngineHarness(
      both,
      first({ ...ok('slow'), afterMs: 20_000 } as ScriptedCall),
    );
    const { trace } = await harness.askWithin(30_000, { chat: writing });
    expect(trace.attempts).toHaveLength(1);
  });
});
