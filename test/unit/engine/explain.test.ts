import { expect, it } from 'vitest';
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import { writeCall } from '../../../src/engine/prepare.ts';
import { loadVariants } from '../../../src/prompts/load-variants.ts';
import type { Variant } from '../../../src/prompts/variant.ts';
import {
  EngineHarness,
  ok,
  plainProvider,
  plainTarget,
  plainTier,
  status,
} from '../../support/engine-harness.ts';

async function variantOf(source: string): Promise<Variant> {
  const { variants } = await loadVariants({ fast: source });
  const variant = variants.get('fast');
  if (variant === undefined) throw new Error('the prompt is not sound');
  return variant;
}

const messages = [
  { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
  { role: 'user', content: [{ type: 'text', text: 'hi' }], name: null },
] as const;

it('R71 the rendered system text is what the target is sent', async () => {
  const dialect = upstreamDialects.get('openai-chat');
  if (dialect === undefined) throw new Error('no dialect');
  const variant = await variantOf('For {{variables.team}}.\n\n{{system}}\n\nThink first.');
  const target = plainTarget('p1', { variant, provider: plainProvider('p1', { dialect }) });
  const harness = new EngineHarness(plainTier([target]), () => ok());
  const request = harness.request({
    chat: { messages: [...messages] },
    variables: { team: 'sales' },
  });
  expect(harness.engine.explain(request).candidates).toEqual([
    {
      target: 'p1/m',
      variant: variant.identity,
      renderedSystem: 'For sales.\n\nBe brief.\n\nThink first.',
      dropped: [],
    },
  ]);
  const written = writeCall(request, target, null);
  if (written.kind !== 'written') throw new Error(written.kind);
  const body = JSON.parse(written.encoded.body.toString()) as {
    readonly messages: readonly { readonly role: string; readonly content: string }[];
  };
  const system = body.messages.filter(({ role }) => role === 'system');
  expect(system.map(({ content }) => content).join('\n\n')).toBe(
    'For sales.\n\nBe brief.\n\nThink first.',
  );
});

it('a variant that cannot be rendered and a request that cannot be written are skips with their reasons', () => {
  const variant = {
    name: 'fast',
    identity: 'fast@00000000',
    source: '',
    config: {},
    toolDescriptions: {},
    variableFaults: () => [],
    render: () => ({ ok: false, fault: 'no helper' }) as const,
  };
  const [plain] = plainTier([plainTarget('p2')]).targets;
  if (plain === undefined) throw new Error('no target');
  const fault = { message: 'has no form here', param: 'messages[0]' };
  const provider = plainProvider('p2', {
    dialect: { ...plain.provider.dialect, encodeCall: () => ({ ok: false, fault }) },
  });
  const tier = plainTier([
    plainTarget('p1', { variant }),
    plainTarget('p2', { provider }),
    plainTarget('p3'),
  ]);
  const harness = new EngineHarness(tier, () => ok());
  const explained = harness.engine.explain(harness.request());
  expect(explained.skipped).toEqual([
    { target: 'p1/m', reason: 'prompt' },
    { target: 'p2/m', reason: 'translation' },
  ]);
  expect(explained.candidates.map(({ target }) => target)).toEqual(['p3/m']);
});

it('an open breaker and an override are seen as a request sees them, and nothing changes', async () => {
  const tier = plainTier([plainTarget('p1'), plainTarget('p2')]);
  const harness = new EngineHarness(tier, (provider) =>
    provider === 'p1' ? status(500) : ok('p2'),
  );
  for (let turn = 0; turn < 3; turn += 1) await harness.askWithin(60_000);
  const look = () => harness.engine.explain(harness.request()).skipped;
  const calls = harness.transport.requests.length;
  expect(look()).toEqual([{ target: 'p1/m', reason: 'open' }]);
  expect(look()).toEqual([{ target: 'p1/m', reason: 'open' }]);
  harness.overrides.set('p1/m', 'forced', { untilMs: null, note: null });
  expect(look()).toEqual([]);
  harness.overrides.set('p1/m', 'drained', { untilMs: null, note: null });
  expect(look()).toEqual([{ target: 'p1/m', reason: 'drained' }]);
  expect(harness.transport.requests).toHaveLength(calls);
});

it('a session that a failover moved is explained where it stays', async () => {
  const tier = plainTier([plainTarget('p1'), plainTarget('p2')]);
  let isSick = true;
  const harness = new EngineHarness(tier, (provider) =>
    provider === 'p1' && isSick ? status(401) : ok(provider),
  );
  await harness.askWithin(1000, { session: 's1' });
  isSick = false;
  const first = (session: string | null) =>
    harness.engine.explain(harness.request({ session })).candidates[0]?.target;
  harness.health.all()[0]?.clearRests();
  const inToolLoop = harness.request({
    session: 's1',
    chat: { messages: [...messages, { role: 'assistant', content: [] }] },
  });
  expect(harness.engine.explain(inToolLoop).candidates[0]?.target).toBe('p2/m');
  expect(first('s1')).toBe('p1/m');
  expect(first(null)).toBe('p1/m');
});
