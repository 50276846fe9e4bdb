/** Sixteen faults that gateways are examined with: each answer complete, in order and in time, in every client's dialect. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { RequestTrace } from '../../src/engine/trace.ts';
import type { StepText } from '../../src/simulator/script/step.ts';
import { readStream, readWhole, type Said } from '../support/answer-readers.ts';
import {
  type AskPlan,
  type ClientForm,
  clientForms,
  type ProviderName,
  type VirtualAsk,
  VirtualGateway,
} from '../support/virtual-gateway.ts';
import {
  type Behaviour,
  inOrder,
  refusal,
  type VirtualCall,
} from '../support/virtual-providers.ts';

const words = Array.from({ length: 60 }, (_, index) => `w${index + 1}`);
const answer = words.join(' ');

/** Tokens from the `from`-th on, 20 ms apart. */
function tokens(from: number, to: number): readonly StepText[] {
  return words
    .slice(from, to)
    .flatMap((word, index) => [`T:${from + index === 0 ? '' : ' '}${word}`, 'SLEEP:20']);
}

const anthropicEnd = ['FIN:end_turn', 'DONE'];
const whole: VirtualCall = { text: answer };

/** Goes on faithfully with what it is given: from its end, or from the eight words before it. */
function goesOn(end: readonly string[]): Behaviour {
  return (_nth, _atMs, body) => {
    const { messages } = JSON.parse(body) as {
      readonly messages: readonly { readonly role: string; readonly content: unknown }[];
    };
    const partial = messages.findLast(({ role }) => role === 'assistant');
    if (partial === undefined) return { sse: ['ROLE', ...tokens(0, 60), ...end] };
    const last = /w(\d+)"[^w]*$/.exec(JSON.stringify(partial.content))?.[1];
    const isPrefill = messages.at(-1) === partial;
    const from = Number(last) - (isPrefill ? 0 : 8);
    const [opening = '', ...rest] = tokens(from, 60);
    const first = isPrefill ? opening : String(opening).replace(' ', '');
    return { sse: ['ROLE', first, ...rest, ...end] };
  };
}

type Outcome = {
  readonly gateway: VirtualGateway;
  readonly ask: VirtualAsk;
  readonly said: Said;
  readonly trace: RequestTrace;
  readonly tookMs: number;
  readonly calls: (provider: ProviderName) => number;
};

type Scene = {
  readonly behaviours: { readonly [name in ProviderName]?: Behaviour };
  readonly policies?: JsonObject;
  readonly targets?: { readonly [name in ProviderName]?: JsonObject };
  readonly ask?: AskPlan;
};

/** One request under the shipped policies. */
async function live(form: ClientForm, scene: Scene, isStream = true): Promise<Outcome> {
  const tier = Object.keys(scene.behaviours) as ProviderName[];
  const gateway = new VirtualGateway({ tier, ...scene });
  const ask = await gateway.askWithin(125_000, { form, isStream, ...scene.ask });
  return outcomeOf(gateway, ask, form, isStream);
}

async function outcomeOf(
  gateway: VirtualGateway,
  ask: VirtualAsk,
  form: ClientForm,
  isStream: boolean,
): Promise<Outcome> {
  const isEvents = isStream && ask.status === 200;
  return {
    gateway,
    ask,
    said: isEvents ? await readStream(form, ask.text) : readWhole(form, ask.text),
    trace: gateway.lastTrace,
    tookMs: (ask.endedMs ?? 0) - ask.startedMs,
    calls: (provider) => gateway.providers.callsOf(provider).length,
  };
}

function expectComplete({ said, trace, gateway }: Outcome): void {
  expect(said.text).toBe(answer);
  expect(said).toMatchObject({ isComplete: true, error: null });
  expect(trace.outcome).toBe('served');
  expect(gateway.providers.open).toBe(0);
}

const streamOrWhole = clientForms.flatMap((form) => [
  [form, true, 'stream'] as const,
  [form, false, 'whole'] as const,
]);

describe.each(streamOrWhole)('a client of %s, %s', (form, isStream) => {
  const good = (end: readonly string[] = ['FIN:stop', 'DONE']): VirtualCall =>
    isStream ? { sse: ['ROLE', ...tokens(0, 60), ...end] } : whole;
  const second = inOrder(good(anthropicEnd));
  const limited = (headers: { readonly [name: string]: string }): VirtualCall => ({
    status: 429,
    headers,
    body: { error: { message: 'Slow down', type: 'requests', code: 'rate_limit_exceeded' } },
  });

  it('1: 429 with Retry-After: 2 is waited for in full, and no longer', async () => {
    const p1 = inOrder(limited({ 'retry-after': '2' }), good());
    const outcome = await live(form, { behaviours: { p1, p2: second } }, isStream);
    expectComplete(outcome);
    expect([outcome.calls('p1'), outcome.calls('p2')]).toEqual([2, 0]);
    const [first, again] = outcome.gateway.providers.calls;
    const waitedMs = (again?.atMs ?? 0) - (first?.atMs ?? 0);
    expect(waitedMs).toBeGreaterThanOrEqual(2000);
    expect(waitedMs).toBeLessThan(2500);
  });

  it('2: 429 without a hint, for ever, is tried once more and then left', async () => {
    const outcome = await live(
      form,
      { behaviours: { p1: inOrder(limited({})), p2: second } },
      isStream,
    );
    expectComplete(outcome);
    expect(outcome.calls('p1')).toBeLessThanOrEqual(2);
    expect(outcome.tookMs).toBeLessThan(6000);
    expect(outcome.trace.serving?.target).toBe('p2/claude-sonnet-4-5');
  });

  it('3: 500 once is a retry, not a failover', async () => {
    const p1 = inOrder({ status: 500 }, good());
    const outcome = await live(form, { behaviours: { p1, p2: second } }, isStream);
    expectComplete(outcome);
    expect([outcome.calls('p1'), outcome.calls('p2')]).toEqual([2, 0]);
    expect(outcome.tookMs).toBeLessThan(4000);
  });

  it('4: 503 for ever is left for the second target, with few calls', async () => {
    const outcome = await live(
      form,
      { behaviours: { p1: inOrder({ status: 503 }), p2: second } },
      isStream,
    );
    expectComplete(outcome);
    expect(outcome.calls('p1')).toBeLessThanOrEqual(4);
    expect(outcome.tookMs).toBeLessThan(12_000);
  });

  it('5: a reset before the headers is tried again, and for ever left', async () => {
    const once = await live(
      form,
      { behaviours: { p1: inOrder('reset', good()), p2: second } },
      isStream,
    );
    expectComplete(once);
    expect(once.calls('p2')).toBe(0);
    const ever = await live(form, { behaviours: { p1: inOrder('reset'), p2: second } }, isStream);
    expectComplete(ever);
    expect(ever.calls('p1')).toBeLessThanOrEqual(4);
    expect(ever.tookMs).toBeLessThan(12_000);
  });

  it('6: no response at all is given up once, after its first timeout', async () => {
    const outcome = await live(
      form,
      { behaviours: { p1: inOrder('silent'), p2: second }, policies: { hedge: false } },
      isStream,
    );
    expectComplete(outcome);
    expect([outcome.calls('p1'), outcome.calls('p2')]).toEqual([1, 1]);
    // Streams have a clock for their headers; a whole reply leaves half of its time to the next.
    expect(outcome.tookMs).toBeLessThan(isStream ? 32_000 : 61_500);
    const hedged = await live(
      form,
      { behaviours: { p1: inOrder('silent'), p2: second } },
      isStream,
    );
    expectComplete(hedged);
    expect([hedged.calls('p1'), hedged.calls('p2')]).toEqual([1, 1]);
    if (isStream) expect(hedged.tookMs).toBeLessThan(12_500);
  });

  it('12: a prompt that is too long is asked once of each larger window, else refused', async () => {
    const tooLong = inOrder(refusal('openai', 'context_length'));
    const targets = {
      p1: { context_window: 1000 },
      p4: { context_window: 500 },
      p2: { context_window: 200_000 },
    };
    const outcome = await live(
      form,
      { behaviours: { p1: tooLong, p4: tooLong, p2: second }, targets },
      isStream,
    );
    expectComplete(outcome);
    expect([outcome.calls('p1'), outcome.calls('p4'), outcome.calls('p2')]).toEqual([1, 0, 1]);
    const lone = await live(form, { behaviours: { p1: tooLong }, targets }, isStream);
    expect(lone.ask.status).toBe(400);
    expect(lone.calls('p1')).toBe(1);
    expect(lone.said.error).toMatchObject({ tiergate: { class: 'context_length' } });
  });

  it('13: a prompt that a content filter refused is told so, asked once and nowhere else', async () => {
    const p1 = inOrder(refusal('openai', 'content_policy'));
    const outcome = await live(form, { behaviours: { p1, p2: second } }, isStream);
    expect(outcome.ask.status).toBe(400);
    expect(outcome.said.error).toMatchObject({
      tiergate: { class: 'content_policy', retryable: false },
    });
    expect(outcome.ask.headers['x-should-retry']).toBe('false');
    expect([outcome.calls('p1'), outcome.calls('p2')]).toEqual([1, 0]);
  });

  it('15: a primary that is down for a minute costs no answer and few probes, and serves again soon', async () => {
    const p1: Behaviour = (_nth, atMs) => (atMs < 60_000 ? { status: 503 } : good());
    const gateway = new VirtualGateway({ tier: ['p1', 'p2'], behaviours: { p1, p2: second } });
    const seen: { readonly atMs: number; readonly target: string | undefined }[] = [];
    for (let nth = 0; nth < 30; nth += 1) {
      await gateway.clock.advance(Math.max(0, nth * 4000 - gateway.clock.monotonicMs()));
      const atMs = gateway.clock.monotonicMs();
      const ask = await gateway.askWithin(30_000, { form, isStream });
      expectComplete(await outcomeOf(gateway, ask, form, isStream));
      seen.push({ atMs, target: gateway.lastTrace.serving?.target });
    }
    const whileDown = gateway.providers.callsOf('p1').filter(({ atMs }) => atMs < 60_000);
    expect(whileDown.length).toBeLessThanOrEqual(12);
    const back = seen.find(({ target, atMs }) => atMs >= 60_000 && target === 'p1/gpt-5.1');
    expect(back?.atMs).toBeLessThan(90_000);
    const afterwards = seen.filter(({ atMs }) => atMs > (back?.atMs ?? 0));
    expect(afterwards.length).toBeGreaterThan(5);
    expect(new Set(afterwards.map(({ target }) => target))).toEqual(new Set(['p1/gpt-5.1']));
  });

  it('16: after a failover the body names the fallback’s model and counts its tokens', async () => {
    const p2 = inOrder(
      isStream
        ? { sse: ['ROLE', ...tokens(0, 60), 'FIN:end_turn', 'USAGE:17:60', 'DONE'] }
        : {
            body: {
              id: 'msg_1',
              type: 'message',
              role: 'assistant',
              model: 'claude-sonnet-4-5',
              content: [{ type: 'text', text: answer }],
              stop_reason: 'end_turn',
              stop_sequence: null,
              usage: { input_tokens: 17, output_tokens: 60 },
            },
          },
    );
    const body = form === 'chat' && isStream ? { stream_options: { include_usage: true } } : {};
    const outcome = await live(
      form,
      { behaviours: { p1: inOrder(refusal('openai', 'quota')), p2 }, ask: { body } },
      isStream,
    );
    expectComplete(outcome);
    expect(outcome.said.models).toEqual(['claude-sonnet-4-5']);
    expect(outcome.said.usage.output).toBe(60);
    expect(outcome.trace.usage.outputTokens).toBe(60);
    expect(outcome.trace).toMatchObject({ reportedModel: 'claude-sonnet-4-5', isFailedOver: true });
    expect(outcome.ask.headers['x-tiergate-served-by']).toBe('p2/claude-sonnet-4-5');
  });
});

describe.each(clientForms)('a stream for a client of %s', (form) => {
  const second = inOrder({ sse: ['ROLE', ...tokens(0, 60), ...anthropicEnd] });

  it('7: whose first token takes 20 s is answered by the second target within 15 s', async () => {
    const late: VirtualCall = {
      sse: ['ROLE', 'SLEEP:20000', ...tokens(0, 60), 'FIN:stop', 'DONE'],
    };
    const outcome = await live(form, { behaviours: { p1: inOrder(late), p2: second } });
    expectComplete(outcome);
    expect(outcome.tookMs).toBeLessThan(15_000);
    expect(outcome.trace.serving?.target).toBe('p2/claude-sonnet-4-5');
    const alone = await live(form, { behaviours: { p1: inOrder(late) } });
    expectComplete(alone);
    expect(alone.calls('p1')).toBe(1);
  });

  it('8: R41 that is cut after 40 of 60 tokens is gone on with, each word once', async () => {
    const cut: VirtualCall = { sse: ['ROLE', ...tokens(0, 40), 'CUT'] };
    const again = goesOn(['FIN:stop', 'DONE']);
    const p1: Behaviour = (nth, atMs, body) => (nth === 0 ? cut : again(nth, atMs, body));
    const outcome = await live(form, { behaviours: { p1, p2: second } });
    expectComplete(outcome);
    expect(outcome.trace).toMatchObject({ recovery: 'continued' });
    expect(outcome.gateway.providers.calls).toHaveLength(2);
    expect(outcome.tookMs).toBeLessThan(6000);
  });

  it('9: R41 that falls silent after 20 tokens is gone on with by the second target', async () => {
    const silent: VirtualCall = { sse: ['ROLE', ...tokens(0, 20), 'HANG'] };
    const outcome = await live(form, {
      behaviours: { p1: inOrder(silent), p2: goesOn(anthropicEnd) },
    });
    expectComplete(outcome);
    expect(outcome.trace).toMatchObject({ recovery: 'continued' });
    expect([outcome.calls('p1'), outcome.calls('p2')]).toEqual([1, 1]);
    expect(outcome.tookMs).toBeLessThan(34_000);
  });

  it('10: with one malformed event lacks nothing else, and the row says so', async () => {
    const odd = 'RAW:data: {"choices":[{"delta":{"content"\\n\\n';
    const p1 = inOrder({
      sse: ['ROLE', ...tokens(0, 30), odd, ...tokens(30, 60), 'FIN:stop', 'DONE'],
    });
    const outcome = await live(form, { behaviours: { p1, p2: second } });
    expectComplete(outcome);
    expect(outcome.trace).toMatchObject({ malformedEvents: 1, recovery: 'none' });
    expect(outcome.calls('p2')).toBe(0);
  });

  it('11: without [DONE] is complete at once', async () => {
    const p1 = inOrder({ sse: ['ROLE', ...tokens(0, 60), 'FIN:stop', 'END'] });
    const outcome = await live(form, { behaviours: { p1, p2: second } });
    expectComplete(outcome);
    expect(outcome.tookMs).toBe(60 * 20);
    expect(outcome.trace.recovery).toBe('none');
  });

  it('14: R41 whose fallback refuses a prefill is gone on with in words, and the refusal stays here', async () => {
    const silent: VirtualCall = { sse: ['ROLE', ...tokens(0, 40), 'HANG'] };
    const again = goesOn(anthropicEnd);
    const p2: Behaviour = (nth, atMs, body) => {
      const isPrefill = JSON.parse(body).messages.at(-1).role === 'assistant';
      return isPrefill ? refusal('anthropic', 'prefill') : again(nth, atMs, body);
    };
    const outcome = await live(form, {
      behaviours: { p1: inOrder(silent), p2 },
      targets: { p2: { accepts_prefill: true } },
    });
    expectComplete(outcome);
    expect(outcome.calls('p2')).toBe(2);
    expect(outcome.ask.text).not.toContain('prefill');
    expect(outcome.trace).toMatchObject({ recovery: 'continued' });
    expect(outcome.tookMs).toBeLessThan(34_000);
  });
});
