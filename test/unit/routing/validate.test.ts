import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadVariants, readPromptDirectory } from '../../../src/prompts/load-variants.ts';
import { providerKinds } from '../../../src/providers/registry.ts';
import { parseDocument } from '../../../src/routing/parse-document.ts';
import { validateDocument } from '../../../src/routing/validate.ts';
import {
  accepted,
  faultsOf,
  noPrompts,
  sampleDocument,
  warningsOf,
} from '../../support/routing-samples.ts';

const secret = 'sk-live-CANARY1234567890';

describe('defaults', () => {
  it('fills every default of a tier', () => {
    const { fast } = accepted(sampleDocument()).values.tiers;
    expect(fast).toMatchObject({
      description: '',
      aliases: [],
      deadline: '120s',
      dedupe: 'off',
      dedupe_ttl: '60s',
      hedge: { ratio: 0.05, burst: 10 },
      retry: {
        preset: null,
        attempts: 4,
        attempts_total: 8,
        jitter: 'decorrelated',
        base: '500ms',
        mult: 2,
        cap: '30s',
        max_wait: '10s',
        hint_ceiling: '60s',
        cooldown_max: '10m',
        budget: { ratio: 0.2, min_per_second: 1, max: 100 },
        provider_tools: 'once',
      },
      breaker: {
        failures: 3,
        window: '30s',
        failure_rate: 0.5,
        min_span: '1s',
        idle_window: '0s',
        open_for: '5s',
        open_for_max: '15s',
      },
      timeout: {
        connect: '3s',
        headers: '30s',
        first_content_soft: '10s',
        first_content: '60s',
        idle: '30s',
      },
      failover: { on_content_policy: false, recheck: '10m', waiters: 64 },
      stream: {
        hold_tokens: 20,
        hold_max: '500ms',
        on_interrupt: 'continue',
        max_continuations: 2,
        max_duration: '10m',
        commit_after: '45s',
      },
      output: {
        validate: true,
        hold_streams: false,
        repairs: 1,
        escalate_to: null,
        on_refusal: 'deliver',
      },
    });
    expect(fast?.targets[0]).toMatchObject({
      prompt: null,
      params: {},
      context_window: null,
      supports: {},
      thinking: null,
      accepts_prefill: null,
      timeout: {},
      max_concurrent: 1024,
      min_concurrent: 4,
      queue: 64,
      queue_wait: '2s',
      price: null,
    });
  });

  it('fills every default of the whole document', () => {
    expect(accepted(sampleDocument()).values).toMatchObject({
      server: {
        max_body: '32mb',
        max_header: '32kb',
        drain_delay: '0s',
        drain_timeout: '30s',
        cors: [],
      },
      alerts: { webhook: null, min_interval: '1h' },
      default_tier: null,
      log: {
        keep: '90d',
        keep_bytes: null,
        bodies: 'none',
        commit_wait: '250ms',
        on_failure: 'serve',
      },
      idempotency: { ttl: '24h', detach: true },
      guardrails: {
        without_run_id: 'observe',
        repeat: { limit: 2, same_args: 5, action: 'stop' },
        tool_failures: { limit: 2, action: 'steer' },
        steps: { limit: 15, action: 'stop' },
        tokens: { limit: null, action: 'stop' },
      },
      providers: {
        p1: { base_url: 'https://api.openai.com/v1', max_event: '16mb', rules: [] },
      },
    });
  });

  it.each([
    ['full', { jitter: 'full', base: '500ms', mult: 2, cap: '30s', attempts: 4 }],
    ['decorrelated', { jitter: 'decorrelated', base: '1s', cap: '30s', attempts: 4 }],
    ['proportional', { jitter: 'proportional', base: '1s', mult: 2, cap: '30s', attempts: 6 }],
    ['guide', { jitter: 'full', base: '1s', mult: 2, cap: '60s', attempts: 6 }],
    ['interactive', { jitter: 'decorrelated', base: '100ms', cap: '5s', attempts: 3 }],
    ['batch', { jitter: 'decorrelated', base: '5s', cap: '120s', attempts: 6 }],
  ])('the retry preset %s sets its fields', (preset, expected) => {
    const { fast } = accepted(sampleDocument({ retry: { preset } })).values.tiers;
    expect(fast?.retry).toMatchObject(expected);
  });

  it('an explicit field wins over the preset', () => {
    const retry = { preset: 'guide', attempts: 2, base: '0s' };
    const { fast } = accepted(sampleDocument({ retry })).values.tiers;
    expect(fast?.retry).toMatchObject({ attempts: 2, base: '0s', cap: '60s', jitter: 'full' });
  });

  it('hedge: false turns it off', () => {
    expect(accepted(sampleDocument({ hedge: false })).values.tiers['fast']?.hedge).toBe(false);
  });
});

describe('0 means 0', () => {
  it('CF-01 a zero that is given is kept, never replaced by the default', () => {
    const { fast } = accepted(
      sampleDocument({
        retry: { attempts: 1, base: '0s', cap: '0s', max_wait: '0s', budget: { ratio: 0, max: 0 } },
        breaker: { open_for: '0s', open_for_max: '0s', min_span: '0s', failure_rate: 0 },
        stream: { hold_tokens: 0, hold_max: '0s', commit_after: '0s', max_continuations: 0 },
        failover: { recheck: '0s', waiters: 0 },
        dedupe_ttl: '0s',
      }),
    ).values.tiers;
    expect(fast?.retry).toMatchObject({
      attempts: 1,
      base: '0s',
      cap: '0s',
      max_wait: '0s',
      budget: { ratio: 0, max: 0, min_per_second: 1 },
    });
    expect(fast?.breaker).toMatchObject({
      open_for: '0s',
      open_for_max: '0s',
      min_span: '0s',
      failure_rate: 0,
    });
    expect(fast?.stream).toMatchObject({
      hold_tokens: 0,
      hold_max: '0s',
      commit_after: '0s',
      max_continuations: 0,
    });
    expect(fast?.failover).toMatchObject({ recheck: '0s', waiters: 0 });
  });

  it('CF-01 a zero that would end everything is refused by name', () => {
    expect(faultsOf(sampleDocument({ timeout: { idle: '0s' }, retry: { attempts: 0 } }))).toEqual([
      'tiers.fast.retry.attempts: must be a whole number from 1 to 11: the first ask counts, so 1 is no retry',
      'tiers.fast.timeout.idle: must be above 0, which would end everything at once',
    ]);
  });

  it.each([[0], [30], ['30'], [true], [null]])('a duration needs a unit: %s', (deadline) => {
    expect(faultsOf(sampleDocument({ deadline }))).toEqual([
      'tiers.fast.deadline: must be a duration with a unit, such as 250ms, 30s or 5m',
    ]);
  });
});

describe('faults say where', () => {
  it('an unknown key names its path and the nearest known one', () => {
    const document = sampleDocument({ deadlin: '3s', breaker: { windows: '1s' } }, { teirs: {} });
    expect(faultsOf(document)).toEqual([
      'tiers.fast.breaker.windows: unknown key windows; did you mean window?',
      'tiers.fast.deadlin: unknown key deadlin; did you mean deadline?',
      'teirs: unknown key teirs; did you mean tiers?',
    ]);
  });

  it('CF-03 CF-05 every fault is told at once, each with its path', () => {
    const document = {
      providers: {
        good: { kind: 'openai', api_keys: ['env:K'] },
        odd: { kind: 'opnai' },
        bare: { kind: 'openai-compatible' },
        plain: { kind: 'openai', base_url: 'http://example.com/v1', max_event: 16 },
      },
      tiers: {
        a: { targets: [{ provider: 'goood', model: 'm' }] },
        b: { targets: [{ provider: 'good' }], deadline: 3 },
        C: { targets: [] },
      },
      default_tier: 'none',
    };
    expect(faultsOf(document)).toEqual([
      'providers.bare.base_url: is required for kind openai-compatible',
      'tiers.a.targets[0].provider: unknown provider goood; did you mean good? (known: good, odd, bare, plain)',
      'default_tier: unknown tier none (known: a, b, C)',
      `providers.odd.kind: must be one of ${providerKinds.map(({ name }) => name).join(', ')}; did you mean openai?`,
      'providers.plain.base_url: must be https: plain http is accepted only for loopback and private hosts',
      'providers.plain.max_event: must be a size with a unit, such as 32kb or 10mb',
      'tiers.b.deadline: must be a duration with a unit, such as 250ms, 30s or 5m',
      'tiers.b.targets[0].model: is required',
      'tiers.C: must be a name of a-z, 0-9, dot, dash and underscore, at most 64 characters',
    ]);
  });

  it('CF-05 a file with four problems: all four are listed with paths, no secret is printed', () => {
    const { value, faults } = parseDocument(`
providers:
  p1: { kind: openai, api_keys: [env:MISSING] }
tiers:
  good: { targets: [{ provider: p1, model: m }] }
  bad: { targets: [{ provider: p9, model: m }], deadline: 1s, deadline: 2s }
`);
    const judged = validateDocument(value, { ...noPrompts, resolveSecret: () => null });
    expect(judged.ok).toBe(false);
    if (judged.ok) return;
    expect([...faults, ...judged.fault.faults, ...judged.fault.warnings]).toEqual([
      { path: 'tiers.bad.deadline', message: 'duplicate key deadline (line 6)' },
      {
        path: 'tiers.bad.targets[0].provider',
        message: 'unknown provider p9 (known: p1)',
      },
      {
        path: 'providers.p1.api_keys[0]',
        message: 'env:MISSING does not resolve: calls that need it will fail',
      },
    ]);
  });

  it.each([
    [null, ': the document is empty'],
    [[], ': the document must be a mapping'],
    ['text', ': the document must be a mapping'],
    [undefined, ': the document must be a mapping'],
  ])('refuses %j', (document, expected) => {
    const judged = validateDocument(document, noPrompts);
    expect(judged.ok ? [] : judged.fault.faults.map((f) => `${f.path}: ${f.message}`)).toContain(
      expected,
    );
  });
});

describe('targets', () => {
  it('FO-01 a target is never a tier', () => {
    const document = {
      ...sampleDocument(),
      tiers: {
        a: { targets: [{ provider: 'p1', model: 'm' }, { tier: 'b' }] },
        b: { targets: [{ provider: 'p2', model: 'm' }, { tier: 'a' }] },
      },
    };
    const message =
      "a target is never a tier: put that tier's own targets here, or send requests to it by name";
    expect(faultsOf(document)).toEqual([
      `tiers.a.targets[1]: ${message}`,
      `tiers.b.targets[1]: ${message}`,
    ]);
  });

  it('FO-06 a bare model name is refused: target must be provider/model', () => {
    expect(faultsOf(sampleDocument({ targets: ['model-x'] }))).toEqual([
      'tiers.fast.targets[0]: target must be provider/model: write { provider: NAME, model: NAME }',
    ]);
  });

  it('two equal ids in one tier are an error that says to set id', () => {
    const target = { provider: 'p1', model: 'm' };
    expect(faultsOf(sampleDocument({ targets: [target, target] }))).toEqual([
      'tiers.fast.targets[1]: has the same id as targets[0]: set id on one of them',
    ]);
    accepted(sampleDocument({ targets: [target, { ...target, id: 'second' }] }));
  });

  it('canonical params are checked, others pass, force is known', () => {
    const target = { provider: 'p1', model: 'm' };
    const withParams = (params: object) => sampleDocument({ targets: [{ ...target, params }] });
    accepted(withParams({ max_tokens: { force: 8192 }, temperature: 0, store: { any: ['x'] } }));
    expect(faultsOf(withParams({ temperature: 'hot', max_tokens: { force: 0 } }))).toEqual([
      'tiers.fast.targets[0].params.max_tokens.force: must be a whole number from 1 to 100000000',
      'tiers.fast.targets[0].params.temperature: must be a number from 0 to 2',
    ]);
  });

  it('an unknown ability is refused by name', () => {
    const targets = [{ provider: 'p1', model: 'm', supports: { image: true } }];
    expect(faultsOf(sampleDocument({ targets }))).toEqual([
      'tiers.fast.targets[0].supports.image: unknown key image; did you mean images?',
    ]);
  });

  it('a prompt that does not exist is refused with the nearest name', async () => {
    const { variants } = await loadVariants({ 'fast.p1': 'Be brief.' });
    const targets = [{ provider: 'p1', model: 'm', prompt: 'fast.p2' }];
    expect(faultsOf(sampleDocument({ targets }), { ...noPrompts, variants })).toEqual([
      'tiers.fast.targets[0].prompt: unknown prompt fast.p2; did you mean fast.p1?',
    ]);
  });

  it('max_continuations, open_for and min_concurrent keep their relations', () => {
    const targets = [{ provider: 'p1', model: 'm', min_concurrent: 9, max_concurrent: 3 }];
    const breaker = { open_for: '20s' };
    expect(faultsOf(sampleDocument({ targets, breaker }))).toEqual([
      'tiers.fast.breaker.open_for_max: must not be below open_for (20s)',
      'tiers.fast.targets[0].min_concurrent: must not be above max_concurrent (3)',
    ]);
  });
});

describe('secrets', () => {
  it.each([
    ['an api key', { providers: { p1: { kind: 'openai', api_keys: [secret] } } }],
    ['a header', { providers: { p1: { kind: 'openai', headers: { 'x-gate': secret } } } }],
    ['a description', { tiers: { fast: { description: secret, targets: [] } } }],
    ['a parameter', { tiers: { fast: { targets: [{ params: { user: secret } }] } } }],
    ['an unknown key', { [secret]: 1 }],
    ['an unknown provider', { tiers: { fast: { targets: [{ provider: secret, model: 'm' }] } } }],
    ['a base URL', { providers: { p1: { kind: 'openai', base_url: `https://u:${secret}@h` } } }],
    ['a webhook', { alerts: { webhook: 'https://hooks.slack.com/services/T0/B0/CANARY' } }],
  ])('a literal secret in %s is refused and never printed', (_place, part) => {
    const judged = validateDocument({ ...sampleDocument(), ...part }, noPrompts);
    const text = JSON.stringify(judged);
    expect(judged.ok).toBe(false);
    expect(text).toContain('looks like a key');
    expect(text).not.toContain('CANARY');
  });

  it('a key without a known form is told apart from a wrong name', () => {
    const keys = ['f3a9c1d27b604e85aa10', 'MY_KEY'];
    const document = sampleDocument({}, { providers: { p1: { kind: 'openai', api_keys: keys } } });
    const faults = faultsOf({ ...document, tiers: {} });
    expect(faults).toEqual([
      'providers.p1.api_keys[0]: looks like a key: keep it in the environment and write env:NAME, or file:/path',
      'providers.p1.api_keys[1]: must name a secret: env:NAME or file:/path',
    ]);
  });

  it('words that are none are left alone', () => {
    const description = 'Bearer authentication, sk-learn-classifier-model, ghp_ and AKIA explained';
    accepted(sampleDocument({ description }));
  });

  it('a credential header must be a reference', () => {
    const headers = { 'X-Api-Key': 'short', 'x-route': 'eu' };
    const providers = { p1: { kind: 'openai', headers } };
    expect(faultsOf({ providers, tiers: {} })).toEqual([
      'providers.p1.headers.X-Api-Key: is a credential: keep it in the environment and write env:NAME, or file:/path',
    ]);
  });
});

describe('hostile documents', () => {
  it('SE-10 keys that reach into prototypes are refused, and nothing is polluted', () => {
    const document: unknown = JSON.parse(
      '{"providers":{"__proto__":{"isAdmin":true}},"tiers":{},"constructor":{"prototype":{"x":1}}}',
    );
    const faults = faultsOf(document);
    expect(faults).toContain('providers: the key __proto__ is refused');
    expect(faults).toContain(': the key constructor is refused');
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('bottomless, huge and circular documents are refused without being walked to the end', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (const document of [{ a: deep }, circular]) {
      expect(faultsOf(document)[0]).toContain('is nested too deeply');
    }
    expect(faultsOf({ a: new Array(200_001).fill(1) })[0]).toContain('holds too many values');
  });

  it('values that are no JSON are refused', () => {
    for (const odd of [Number.NaN, Number.POSITIVE_INFINITY, () => 1, new Date(0), 1n]) {
      expect(faultsOf(sampleDocument({ description: odd }))[0]).toContain('tiers.fast.description');
    }
  });

  it.each([
    'http://example.com/v1',
    'http://169.254.169.254/',
    'https://169.254.169.254/latest',
    'https://[fe80::1]/v1',
    'http://[::ffff:169.254.169.254]/',
    'http://2852039166/latest',
    'http://0.0.0.0:80/',
    'http://metadata.google.internal/',
    'https://user:pass@host/v1',
    'https://host/v1?key=1',
    'ftp://host',
    'host/v1',
    '',
  ])('SE-01 the base URL "%s" is refused', (base_url) => {
    const providers = { p1: { kind: 'openai', base_url } };
    expect(faultsOf({ providers, tiers: {} })).toEqual([
      expect.stringMatching(/^providers\.p1\.base_url: /),
    ]);
  });
});

describe('warnings', () => {
  it('an unresolved secret is a warning', () => {
    const context = { ...noPrompts, resolveSecret: () => null };
    expect(warningsOf(sampleDocument(), context)).toEqual([
      'providers.p1.api_keys[0]: env:P1_KEY does not resolve: calls that need it will fail',
      'providers.p2.api_keys[0]: env:P2_KEY does not resolve: calls that need it will fail',
    ]);
  });

  it('more than 6 attempts, and waits that cannot fit the deadline', () => {
    expect(warningsOf(sampleDocument({ retry: { attempts: 7 } }))).toEqual([
      'tiers.fast.retry.attempts: 7 attempts keep an ailing provider busy; 6 are usually enough',
    ]);
    expect(warningsOf(sampleDocument({ retry: { preset: 'batch' } }))).toEqual([
      'tiers.fast.retry: the waits of 6 attempts (155000ms) do not fit the deadline of 120s',
    ]);
  });

  it('R71 targets without a variant, and variants that require different variables', async () => {
    const { variants } = await loadVariants({
      'fast.p1': '---\ninput:\n  schema:\n    topic: string\n---\nOn {{variables.topic}}.',
      'other.p2': 'Be brief.',
    });
    const context = { ...noPrompts, variants };
    expect(warningsOf(sampleDocument(), context)).toEqual([
      'tiers.fast.targets[1]: has no prompt variant: neither fast.p2 nor fast exists',
    ]);
    const targets = [
      { provider: 'p1', model: 'm' },
      { provider: 'p2', model: 'm', prompt: 'other.p2' },
    ];
    expect(warningsOf(sampleDocument({ targets }), context)).toEqual([
      'tiers.fast: its variants require different variables: fast.p1 (topic); other.p2 (none)',
    ]);
  });

  it('aliases that are never used, a keyless vendor, no tiers', () => {
    const document = {
      providers: {
        p1: { kind: 'openai' },
        sim: { kind: 'openai', base_url: 'http://127.0.0.1:1' },
      },
      tiers: {
        a: { aliases: ['b', 'gpt-*'], targets: [{ provider: 'p1', model: 'm' }] },
        b: { aliases: ['gpt-*'], targets: [{ provider: 'p1', model: 'm' }] },
      },
    };
    expect(warningsOf(document)).toEqual([
      'providers.p1.api_keys: is empty: this service wants a key, such as env:OPENAI_API_KEY',
      'tiers.a.aliases[0]: never used: b is the name of a tier',
      'tiers.b.aliases[0]: never used: tier a has the same alias',
    ]);
    expect(warningsOf({ providers: {}, tiers: {} })).toEqual([
      'tiers: is empty: no request can be served',
    ]);
  });
});

it('the example file and the shipped prompts are sound and give no warning', async () => {
  const prompts = readPromptDirectory('prompts');
  if (!prompts.ok) throw new Error(JSON.stringify(prompts.fault));
  const { variants, faults } = await loadVariants(prompts.value);
  expect(faults).toEqual([]);
  const parsed = parseDocument(readFileSync('tiergate.example.yaml'));
  expect(parsed.faults).toEqual([]);
  expect(warningsOf(parsed.value, { ...noPrompts, variants })).toEqual([]);
});
