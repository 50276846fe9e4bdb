import { describe, expect, it } from 'vitest';
import {
  EngineHarness,
  ok,
  plainProvider,
  plainTarget,
  plainTier,
  retryPolicy,
  status,
} from '../support/engine-harness.ts';

function windowed(name: string, contextWindow: number | null) {
  return plainTarget(name, { contextWindow });
}

function prompt(characters: number) {
  const text = 'x'.repeat(characters);
  const content = [{ type: 'text', text }] as const;
  const bytes = Buffer.from(text);
  return {
    messages: [{ role: 'user', content, name: null } as const],
    original: { dialect: 'plain', bytes, json: {} },
  };
}

describe('a prompt that is surely longer than a window', () => {
  const tier = plainTier([windowed('p1', 100), windowed('p2', 10_000)]);

  it.each([
    ['is not sent there', tier, 1000, 'p2', [{ target: 'p1/m', reason: 'context_window' }]],
    ['is, where it may just fit', tier, 700, 'p1', []],
    [
      'goes to a window that is not known',
      plainTier([windowed('p1', 100), windowed('p2', null)]),
      1000,
      'p2',
      [{ target: 'p1/m', reason: 'context_window' }],
    ],
    [
      'is asked of the first where every window is too small',
      plainTier([windowed('p1', 100), windowed('p2', 50)]),
      1000,
      'p1',
      [],
    ],
  ] as const)('%s', async (_, targets, characters, text, skipped) => {
    const harness = new EngineHarness(targets, (provider) => ok(provider));
    const asked = await harness.askWithin(1000, { chat: prompt(characters) });
    expect(asked.text).toBe(text);
    expect(asked.trace.skipped).toEqual(skipped);
    expect(asked.trace.isFailedOver).toBe(text === 'p2');
  });

  it('is told by explain as well, and goes where it is pinned', async () => {
    const harness = new EngineHarness(tier, (provider) => ok(provider));
    const chat = prompt(1000);
    expect(harness.engine.explain(harness.request({})).candidates).toHaveLength(2);
    const request = { ...harness.request({}), chat: { ...harness.request({}).chat, ...chat } };
    expect(harness.engine.explain(request)).toMatchObject({
      candidates: [{ target: 'p2/m' }],
      skipped: [{ target: 'p1/m', reason: 'context_window' }],
    });
    expect((await harness.askWithin(1000, { chat, pin: 'p1/m' })).text).toBe('p1');
  });
});

describe('a prompt that a target refused as too long', () => {
  const tooLong = status(400, {
    body: '{"error":{"code":"context_length_exceeded","message":"prompt is too long"}}',
  });
  const once = { retry: { ...retryPolicy, attempts: 1 } };

  it('R91 goes to no window that is not larger, whatever else fails in between', async () => {
    const keys = [{ alias: 'one', resolve: () => 'one' }];
    const odd = plainTarget('p3', { provider: plainProvider('p3', { keys }) });
    const tier = plainTier(
      [windowed('p1', 1000), windowed('p2', 500), odd, windowed('p4', 1000), windowed('p5', 2000)],
      once,
    );
    const harness = new EngineHarness(tier, (provider) => {
      if (provider === 'p1') return tooLong;
      return provider === 'p3' ? status(500) : ok(provider);
    });
    const { text, trace } = await harness.askWithin(1000);
    expect(text).toBe('p5');
    expect(trace.attempts.map(({ target }) => target)).toEqual(['p1/m', 'p3/m', 'p5/m']);
    expect(trace.skipped).toEqual([
      { target: 'p2/m', reason: 'context_window' },
      { target: 'p4/m', reason: 'context_window' },
    ]);
  });

  it('R91 is a 400 with the largest window where no other is larger', async () => {
    const tier = plainTier([windowed('p1', 1000), windowed('p2', 500)], once);
    const harness = new EngineHarness(tier, () => tooLong);
    const { answer, trace } = await harness.askWithin(1000);
    expect(trace.attempts).toHaveLength(1);
    expect(answer).toMatchObject({
      failure: { status: 400, failureClass: 'context_length', tokens: { limit: 1000 } },
    });
  });
});

describe('a prompt that alone exceeds a limit of input tokens a minute', () => {
  const words =
    'You exceeded your current quota. * Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_paid_tier_input_token_count, limit: 1000, model: m';
  const refused = status(429, {
    headers: { 'retry-after': '5' },
    body: JSON.stringify({ error: { message: words } }),
  });
  const lone = plainTier([windowed('p1', null)]);

  it('is too long when the same refusal follows the wait: a 400, and the key rests no longer', async () => {
    const harness = new EngineHarness(lone, () => refused);
    const { answer, trace } = await harness.askWithin(20_000, { chat: prompt(8000) });
    expect(trace.attempts.map(({ failure }) => failure?.errorClass)).toEqual([
      'rate_limit',
      'context_length',
    ]);
    expect(answer).toMatchObject({
      failure: { status: 400, failureClass: 'context_length', tokens: { limit: 1000 } },
    });
    expect(harness.health.all()[0]?.obstacle(lone.targets[0] ?? windowed('p1', null))).toBeNull();
  });

  it.each([
    ['a shorter one met a limit that others had used up', prompt(1500), refused],
    [
      'one that met two limits came too often',
      prompt(8000),
      status(429, { headers: { 'retry-after': '5' } }),
    ],
  ])('%s', async (_, chat, second) => {
    const harness = new EngineHarness(lone, (_provider, call) => {
      if (call === 0) return refused;
      return call === 1 ? second : ok('in the end');
    });
    expect((await harness.askWithin(30_000, { chat })).text).toBe('in the end');
  });
});
