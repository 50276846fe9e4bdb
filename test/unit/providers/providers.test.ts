import { describe, expect, it } from 'vitest';
import { isLocalHost } from '../../../src/providers/base-url.ts';
import { defaultDocument, simulatedDocument } from '../../../src/providers/default-tiers.ts';
import { providerKinds } from '../../../src/providers/registry.ts';
import { boundProvider as bind } from '../../support/bound-provider.ts';
import { accepted } from '../../support/routing-samples.ts';

describe('URLs', () => {
  it.each([
    ['openai', null, 'https://api.openai.com/v1/chat/completions'],
    ['openai', 'https://proxy.example/v1/', 'https://proxy.example/v1/chat/completions'],
    ['openai-responses', null, 'https://api.openai.com/v1/responses'],
    ['openai-responses', 'https://proxy.example/v1', 'https://proxy.example/v1/responses'],
    ['openai-compatible', null, 'http://127.0.0.1:11434/v1/chat/completions'],
    ['anthropic', null, 'https://api.anthropic.com/v1/messages'],
    ['anthropic', 'https://proxy.example/v1', 'https://proxy.example/v1/messages'],
    ['anthropic', 'https://proxy.example/claude', 'https://proxy.example/claude/v1/messages'],
    [
      'gemini',
      null,
      'https://generativelanguage.googleapis.com/v1beta/models/a-model:generateContent',
    ],
    [
      'gemini',
      'https://proxy.example/v1',
      'https://proxy.example/v1/models/a-model:generateContent',
    ],
  ])('%s at %s', (kind, baseUrl, expected) => {
    const provider = bind({ kind, ...(baseUrl === null ? {} : { baseUrl }) });
    expect(provider.urlFor({ model: 'a-model', isStream: false })).toBe(expected);
  });

  it('gemini streams as server-sent events, and a model cannot leave its place in the path', () => {
    const provider = bind({ kind: 'gemini' });
    expect(provider.urlFor({ model: 'models/a', isStream: true })).toMatch(
      /\/v1beta\/models\/a:streamGenerateContent\?alt=sse$/,
    );
    expect(provider.urlFor({ model: '../../x?y#z', isStream: false })).toContain(
      '/models/..%2F..%2Fx%3Fy%23z:generateContent',
    );
  });
});

describe('headers', () => {
  it.each([
    ['openai', 'authorization', 'Bearer SECRET'],
    ['openai-responses', 'authorization', 'Bearer SECRET'],
    ['openai-compatible', 'authorization', 'Bearer SECRET'],
    ['anthropic', 'x-api-key', 'SECRET'],
    ['gemini', 'x-goog-api-key', 'SECRET'],
  ])('%s sends its key as %s', (kind, header, value) => {
    const headers = bind({ kind }).headersFor({ secret: 'SECRET', isStream: false });
    expect(headers[header]).toBe(value);
    expect(headers['content-type']).toBe('application/json');
    const without = bind({ kind }).headersFor({ secret: null, isStream: true });
    expect(without).not.toHaveProperty(header);
    expect(without['accept']).toBe('text/event-stream');
  });

  it('anthropic sends 2023-06-01, and lets the client ask for another version', () => {
    const provider = bind({ kind: 'anthropic' });
    expect(provider.headersFor({ secret: null, isStream: false })).toMatchObject({
      'anthropic-version': '2023-06-01',
    });
    expect(provider.passedHeaders).toEqual(['anthropic-version', 'anthropic-beta']);
  });

  it("an operator's headers are sent, references resolved at the time of use", () => {
    const headers = { 'x-team': 'blue', 'x-token': 'env:ROUTE_TOKEN', 'x-none': 'env:NONE' };
    const provider = bind({ kind: 'openai', headers });
    const sent = provider.headersFor({ secret: null, isStream: false });
    expect(sent).toMatchObject({ 'x-team': 'blue', 'x-token': 'route-secret' });
    expect(sent).not.toHaveProperty('x-none');
    sent['x-team'] = 'changed';
    expect(provider.headersFor({ secret: null, isStream: false })['x-team']).toBe('blue');
  });

  it('keys are called by the name of their reference', () => {
    const provider = bind({ kind: 'openai', keyReferences: ['env:A', 'file:/run/secrets/b'] });
    expect(provider.keys.map((key) => key.alias)).toEqual(['A', '/run/secrets/b']);
    expect(provider.keys[0]?.resolve()).toBeNull();
  });

  it('only openai takes an idempotency key, on both its routes', () => {
    const takers = providerKinds.filter((kind) => kind.takesIdempotencyKey);
    expect(takers.map((kind) => kind.name)).toEqual(['openai', 'openai-responses']);
  });

  it('R20 only gemini takes the time that is left', () => {
    const takers = providerKinds.filter((kind) => kind.deadlineHeader !== undefined);
    expect(takers.map((kind) => kind.name)).toEqual(['gemini']);
    expect(bind({ kind: 'gemini' }).deadlineHeader).toBe('x-server-timeout');
  });
});

describe('model facts', () => {
  const facts = (kind: string, model: string) => bind({ kind }).modelFacts(model);

  it("TR-08 a model's output ceiling is in the table, for snapshots too; never a hidden 4096", () => {
    expect(facts('anthropic', 'claude-sonnet-4-5').maxOutputTokens).toBe(64_000);
    expect(facts('anthropic', 'claude-sonnet-4-5-20250929').maxOutputTokens).toBe(64_000);
    expect(facts('anthropic', 'claude-opus-4-1-20250805').maxOutputTokens).toBe(32_000);
    expect(facts('anthropic', 'claude-haiku-5-5').maxOutputTokens).toBe(128_000);
    expect(facts('anthropic', 'claude-3-5-haiku-latest').maxOutputTokens).toBe(8_192);
    expect(facts('anthropic', 'claude-sonnet-9').maxOutputTokens).toBe(64_000);
  });

  it('an unknown model: window unknown, and nothing but what holds for all models of the service', () => {
    for (const kind of providerKinds) {
      const { acceptsPrefill, supports, ...rest } = bind({ kind: kind.name }).modelFacts(
        'in-house',
      );
      expect(rest, kind.name).toEqual({
        contextWindow: null,
        maxOutputTokens: null,
        isReasoningModel: false,
      });
      expect(acceptsPrefill, kind.name).toBe(kind.name === 'mistral');
      expect(Object.values(supports).includes(true), kind.name).toBe(false);
    }
    for (const kind of ['anthropic', 'openai', 'gemini', 'openai-compatible', 'vllm']) {
      expect(facts(kind, 'in-house').supports).toEqual({});
    }
    expect(facts('openai', 'toString').contextWindow).toBeNull();
    expect(facts('openai-compatible', 'gpt-5.1').isReasoningModel).toBe(false);
  });

  it('tells who refuses sampling fields, who takes a prefill and who thinks unasked', () => {
    const rows = [
      ['anthropic', 'claude-sonnet-4-5', false, true, false],
      ['anthropic', 'claude-opus-4-6', false, false, false],
      ['anthropic', 'claude-opus-4-8', true, false, false],
      ['anthropic', 'claude-opus-5-5', true, false, true],
      ['openai', 'gpt-4o-2024-08-06', false, false, false],
      ['openai', 'gpt-5.1', true, false, false],
      ['openai', 'gpt-5-mini-2025-08-07', true, false, true],
      ['openai', 'gpt-7', true, false, false],
      ['openai', 'o3', true, false, true],
      ['openai-responses', 'gpt-5-mini', true, false, true],
      ['gemini', 'gemini-3.8-flash', false, false, true],
      ['gemini', 'models/gemini-2.0-flash-001', false, false, false],
    ] as const;
    for (const [kind, model, refuses, prefill, thinks] of rows) {
      const found = facts(kind, model);
      expect(
        [model, found.isReasoningModel, found.acceptsPrefill, found.thinksByDefault ?? false],
        model,
      ).toEqual([model, refuses, prefill, thinks]);
    }
  });
});

describe('default tiers', () => {
  it('R70 are built from the keys that are found, and hold no value of a key', () => {
    const document = defaultDocument({
      OPENAI_API_KEY: 'sk-CANARY1234567890',
      GEMINI_API_KEY: 'AIzaCANARY',
      ANTHROPIC_API_KEY: ' ',
    });
    expect(JSON.stringify(document)).not.toContain('CANARY');
    const { values, warnings } = accepted(document);
    expect(warnings).toEqual([]);
    expect(values.providers).toMatchObject({
      openai: { api_keys: ['env:OPENAI_API_KEY'] },
      gemini: { api_keys: ['env:GEMINI_API_KEY'] },
    });
    expect(Object.keys(values.tiers)).toEqual(['fast', 'smart', 'reasoning']);
    expect(values.tiers['reasoning']?.deadline).toBe('300s');
    for (const tier of Object.values(values.tiers)) {
      expect(tier.targets.map((target) => target.provider)).toEqual(['openai', 'gemini']);
    }
    expect(defaultDocument({})).toBeNull();
  });

  it('R70 name every service whose key is found, the strongest first, and warn of nothing', () => {
    const variables = providerKinds.flatMap(({ keyVariable }) => keyVariable ?? []);
    const document = defaultDocument(Object.fromEntries(variables.map((name) => [name, 'a-key'])));
    const { values, warnings } = accepted(document);
    expect(warnings).toEqual([]);
    for (const tier of Object.values(values.tiers)) {
      const asked = tier.targets.map((target) => target.provider);
      expect(asked.slice(0, 3)).toEqual(['anthropic', 'openai', 'gemini']);
      expect(asked).toContain('openrouter');
      // Without an address, a project or a region these cannot be asked.
      for (const kind of ['azure-openai', 'bedrock', 'vertex-gemini', 'ollama']) {
        expect(asked).not.toContain(kind);
      }
    }
  });

  it('are built on simulated providers, which want no key', () => {
    const document = simulatedDocument({
      openai: 'http://127.0.0.1:1/v1',
      anthropic: 'http://127.0.0.1:2',
      gemini: 'http://127.0.0.1:3',
    });
    const { values, warnings } = accepted(document);
    expect(warnings).toEqual([]);
    expect(values.tiers['fast']?.targets.map((target) => target.provider)).toEqual([
      'anthropic',
      'openai',
      'gemini',
    ]);
    expect(simulatedDocument({})).toBeNull();
  });

  it('name only models that their tables know', () => {
    for (const kind of providerKinds) {
      for (const target of Object.values(kind.defaultTargets ?? {})) {
        expect(kind.modelFacts(target.model).contextWindow, target.model).not.toBeNull();
      }
    }
  });
});

describe('isLocalHost', () => {
  it.each([
    ['127.0.0.1', true],
    ['10.1.2.3', true],
    ['172.31.0.1', true],
    ['172.32.0.1', false],
    ['192.168.1.1', true],
    ['100.64.0.1', true],
    ['8.8.8.8', false],
    ['::1', true],
    ['fd12::1', true],
    ['2001:db8::1', false],
    ['localhost', true],
    ['ollama', true],
    ['host.docker.internal', true],
    ['vllm.default.svc', true],
    ['example.com', false],
    ['localhost.example.com', false],
  ])('SE-01 %s: %s', (host, expected) => {
    expect(isLocalHost(host)).toBe(expected);
  });
});
