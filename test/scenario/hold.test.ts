/** The first tokens stay in the gateway for a moment, so that a restart is invisible; then nothing is in the way. */
import { describe, expect, it } from 'vitest';
import type { StepText } from '../../src/simulator/script/step.ts';
import { readStream } from '../support/answer-readers.ts';
import {
  clientForms,
  type ProviderName,
  type VirtualAsk,
  VirtualGateway,
} from '../support/virtual-gateway.ts';
import { type Behaviour, inOrder } from '../support/virtual-providers.ts';

/** `count` words, one every `gapMs`, the first at once. */
function words(count: number, gapMs: number, word = 'word'): readonly StepText[] {
  return ['ROLE', { repeat: count, steps: [`T:${word}`, `SLEEP:${gapMs}`] }];
}

const whole = (steps: readonly StepText[]): Behaviour =>
  inOrder({ sse: [...steps, 'FIN:stop', 'DONE'] });

function gatewayWith(
  behaviours: { readonly [name in ProviderName]?: Behaviour },
  stream = {},
): VirtualGateway {
  const tier = Object.keys(behaviours) as ProviderName[];
  return new VirtualGateway({
    tier,
    behaviours,
    policies: { hedge: false, retry: { attempts: 2, base: '100ms', jitter: 'none' }, stream },
  });
}

/** When each word reached the client. */
function timesOf(ask: VirtualAsk, word = 'word'): readonly number[] {
  return ask.pieces.flatMap(({ atMs, text }) =>
    Array.from({ length: text.split(word).length - 1 }, () => atMs),
  );
}

describe('what the hold costs', () => {
  it('at most hold_max until the first token, and nothing between tokens afterwards', async () => {
    const ask = await gatewayWith({ p1: whole(words(30, 100)) }).askWithin(10_000);
    const times = timesOf(ask);
    expect(times.slice(0, 6)).toEqual([500, 500, 500, 500, 500, 500]);
    expect(times.slice(6)).toEqual(Array.from({ length: 24 }, (_, nth) => 600 + nth * 100));
  });

  it('ends with the 20th token where that comes first', async () => {
    const ask = await gatewayWith({ p1: whole(words(40, 10)) }).askWithin(10_000);
    const times = timesOf(ask);
    expect(times.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 190));
    expect(times.slice(20)).toEqual(Array.from({ length: 20 }, (_, nth) => 200 + nth * 10));
  });

  it('is none for a first delta of 80 characters, nor with hold_tokens: 0', async () => {
    const long = await gatewayWith({ p1: whole(words(3, 100, 'word'.repeat(20))) }).askWithin(9000);
    expect(new Set(timesOf(long))).toEqual(new Set([0, 100, 200]));
    const off = await gatewayWith({ p1: whole(words(3, 100)) }, { hold_tokens: 0 }).askWithin(9000);
    expect(timesOf(off)).toEqual([0, 100, 200]);
  });

  it('ends with the answer', async () => {
    const ask = await gatewayWith({
      p1: inOrder({ sse: ['ROLE', 'T:word', 'FIN:stop', 'DONE'] }),
    }).askWithin(9000);
    expect(timesOf(ask)).toEqual([0]);
  });

  it('follows the settings of the tier', async () => {
    const stream = { hold_tokens: 3, hold_max: '5s' };
    const ask = await gatewayWith({ p1: whole(words(5, 1000)) }, stream).askWithin(20_000);
    expect(timesOf(ask)).toEqual([2000, 2000, 2000, 3000, 4000]);
  });
});

describe.each(clientForms)('R40 a stream for %s that breaks inside the hold', (form) => {
  const half = { sse: ['ROLE', 'T:lost ', 'SLEEP:100', 'T:lost ', 'CUT'] };
  const good = { sse: ['ROLE', 'T:hello', 'FIN:stop', 'DONE'] };

  it('is restarted on the same target, and nothing of the first is seen', async () => {
    const gateway = gatewayWith({ p1: inOrder(half, good) });
    const ask = await gateway.askWithin(10_000, { form });
    expect(await readStream(form, ask.text)).toMatchObject({ text: 'hello', isComplete: true });
    expect(ask.text).not.toContain('lost');
    expect(ask.headers).toMatchObject({
      'x-tiergate-recovery': 'restarted',
      'x-tiergate-attempts': '2',
      'x-tiergate-failovers': '0',
    });
    expect(gateway.lastTrace).toMatchObject({ recovery: 'restarted', outcome: 'served' });
    expect(gateway.lastTrace.attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'served']);
  });

  it('is restarted on the next target, of another vendor, when the first does not mend', async () => {
    const gateway = gatewayWith({
      p1: inOrder(half),
      p2: inOrder({ sse: ['ROLE', 'T:hello', 'FIN:end_turn', 'DONE'] }),
    });
    const ask = await gateway.askWithin(10_000, { form });
    expect(await readStream(form, ask.text)).toMatchObject({ text: 'hello', isComplete: true });
    expect(ask.text).not.toContain('lost');
    expect(ask.headers).toMatchObject({
      'x-tiergate-recovery': 'restarted',
      'x-tiergate-served-by': 'p2/claude-sonnet-4-5',
    });
  });

  it('is an error status when nobody else answers: nothing had reached the client', async () => {
    const gateway = gatewayWith({ p1: inOrder(half) });
    const ask = await gateway.askWithin(10_000, { form });
    expect(ask.status).toBe(502);
    expect(ask.text).not.toContain('lost');
    expect(gateway.lastTrace).toMatchObject({ outcome: 'failed', status: 502 });
  });

  it('R43 with hold_tokens: 0 has begun, and is never begun again', async () => {
    const stream = { hold_tokens: 0, on_interrupt: 'fail_forward' };
    const gateway = gatewayWith({ p1: inOrder(half, good) }, stream);
    const ask = await gateway.askWithin(10_000, { form });
    const { text, isComplete, error } = await readStream(form, ask.text);
    expect({ text, isComplete }).toEqual({ text: 'lost lost ', isComplete: false });
    expect(error).toMatchObject({ tiergate: { class: 'stream_interrupted', regenerate: true } });
    expect(gateway.providers.calls).toHaveLength(1);
  });
});

describe('a tool call', () => {
  const call = 'TOOL:0:call_1:look:{\\"at\\":1}';
  const body = {
    tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
  };

  it('R30 that has reached the client is never asked for again: the stream fails forward', async () => {
    const gateway = gatewayWith(
      {
        p1: inOrder({ sse: ['ROLE', call, 'SLEEP:1000', 'CUT'] }),
        p2: inOrder({ sse: ['ROLE', 'T:hello', 'FIN:end_turn', 'DONE'] }),
      },
      { on_interrupt: 'continue' },
    );
    const ask = await gateway.askWithin(10_000, { body });
    expect(ask.text).toContain('look');
    const { isComplete, error } = await readStream('chat', ask.text);
    expect(isComplete).toBe(false);
    expect(error).toMatchObject({ tiergate: { class: 'stream_interrupted' } });
    expect(gateway.providers.calls).toHaveLength(1);
    expect(gateway.lastTrace).toMatchObject({ recovery: 'failed_forward', outcome: 'failed' });
  });

  it('R30 that is still held back is asked for again, once', async () => {
    const gateway = gatewayWith({
      p1: inOrder(
        { sse: ['ROLE', call, 'SLEEP:100', 'CUT'] },
        { sse: ['ROLE', call, 'FIN:tool_calls', 'DONE'] },
      ),
    });
    const ask = await gateway.askWithin(10_000, { body });
    expect(ask.text.split('call_1')).toHaveLength(2);
    expect(gateway.lastTrace).toMatchObject({ recovery: 'restarted', outcome: 'served' });
  });
});

it('R44 what follows an interruption is the tier’s own choice', async () => {
  const broken: Behaviour = inOrder(
    { sse: [...words(30, 10), 'CUT'] },
    { sse: ['ROLE', 'T:and so it ended', 'FIN:stop', 'DONE'] },
  );
  const recoveryWith = async (stream: object): Promise<string> => {
    const gateway = gatewayWith({ p1: broken }, stream);
    await gateway.askWithin(10_000);
    return gateway.lastTrace.recovery;
  };
  expect(await recoveryWith({ on_interrupt: 'fail_forward' })).toBe('failed_forward');
  expect(await recoveryWith({ on_interrupt: 'continue' })).toBe('continued');
  expect(await recoveryWith({ on_interrupt: 'continue', max_continuations: 0 })).toBe(
    'failed_forward',
  );
  expect(await recoveryWith({ hold_tokens: 100, hold_max: '9s' })).toBe('restarted');
});
