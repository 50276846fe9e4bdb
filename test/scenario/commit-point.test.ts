/** A stream without content is begun in time all the same, kept alive, and then ends in itself. */
import { describe, expect, it } from 'vitest';
import { readStream } from '../support/answer-readers.ts';
import { clientForms, type GatewayPlan, VirtualGateway } from '../support/virtual-gateway.ts';
import { inOrder } from '../support/virtual-providers.ts';

const slow = {
  sse: ['ROLE', 'SLEEP:58000', 'T:hello', 'FIN:stop', 'DONE'],
} as const;
const alone = { hedge: false };
const early = ['x-tiergate-served-by', 'x-tiergate-variant', 'x-tiergate-attempts'] as const;

function slowGateway(over: Partial<GatewayPlan> = {}): VirtualGateway {
  return new VirtualGateway({
    tier: ['p1'],
    behaviours: { p1: inOrder(slow) },
    policies: alone,
    ...over,
  });
}

describe.each(clientForms)('a client that speaks %s', (form) => {
  const beat = form.startsWith('gemini') ? '\r\n' : ': keep-alive\n\n';

  it('gets its head after commit_after, signs of life, and the answer when it comes', async () => {
    const ask = await slowGateway().askWithin(60_000, { form });
    expect(ask.status).toBe(200);
    expect(ask.pieces.filter(({ text }) => text === beat).map(({ atMs }) => atMs)).toEqual([
      45_000, 55_000,
    ]);
    expect(await readStream(form, ask.text)).toMatchObject({ text: 'hello', isComplete: true });
    for (const name of [...early, 'x-tiergate-failovers'])
      expect(ask.headers[name]).toBeUndefined();
    expect(ask.headers).toMatchObject({
      'x-tiergate-tier': 'fast',
      'x-tiergate-config-version': '1',
    });
  });

  it('hears of a failure in its stream from then on; the row says 200 and why', async () => {
    const gateway = slowGateway({ behaviours: { p1: inOrder('silent') } });
    const ask = await gateway.askWithin(125_000, { form });
    expect(ask.status).toBe(200);
    const { text, isComplete, error } = await readStream(form, ask.text);
    expect({ text, isComplete }).toEqual({ text: '', isComplete: false });
    expect(error).toMatchObject({ tiergate: { class: 'deadline_exceeded' } });
    expect(String(error?.['message'])).toContain(gateway.lastTrace.id);
    expect(gateway.lastTrace).toMatchObject({ outcome: 'failed', status: 200 });
    expect(gateway.lastTrace.failure?.failureClass).toBe('deadline_exceeded');
    expect(gateway.recorder.traces).toHaveLength(1);
  });

  it('gets an ordinary error before that point', async () => {
    const gateway = slowGateway({ behaviours: { p1: inOrder({ status: 400, body: '{}' }) } });
    const ask = await gateway.askWithin(60_000, { form });
    expect(ask.status).toBe(400);
    expect(ask.headers['content-type']).toBe('application/json');
  });

  it('leaves while it waits: the provider is left in the same instant, and one row is written', async () => {
    const gateway = slowGateway();
    const ask = gateway.begin({ form });
    await gateway.clock.advance(50_000);
    expect(ask.status).toBe(200);
    ask.leave();
    await gateway.clock.advance(0);
    expect(gateway.providers.calls).toMatchObject([{ closedAtMs: 50_000 }]);
    expect(gateway.recorder.traces).toMatchObject([{ outcome: 'client_gone', status: 499 }]);
    expect(gateway.pipeline.inFlight()).toBe(0);
    expect(gateway.clock.pending).toBe(0);
  });
});

describe('the commit point', () => {
  const headAt = async (gateway: VirtualGateway, headers = {}): Promise<number | undefined> => {
    const ask = await gateway.askWithin(130_000, { headers });
    return ask.pieces[0]?.atMs;
  };

  it.each([
    ['x-stainless-read-timeout', '20', 19_000],
    ['x-stainless-timeout', '20', 19_000],
    ['x-stainless-timeout', '600', 45_000],
    ['x-stainless-timeout', '1', 500],
    ['x-stainless-timeout', 'NOT_GIVEN', 45_000],
  ])('with %s: %s is at %i ms', async (name, value, atMs) => {
    expect(await headAt(slowGateway(), { [name]: value })).toBe(atMs);
  });

  it('with a short read timeout shows life at half of it, so that no read of the client times out', async () => {
    const ask = await slowGateway().askWithin(60_000, {
      headers: { 'x-stainless-read-timeout': '8' },
    });
    const atMs = ask.pieces.map((piece) => piece.atMs);
    expect(atMs.slice(0, 4)).toEqual([7000, 11_000, 15_000, 19_000]);
    const gaps = atMs.slice(1).map((at, index) => at - (atMs[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(8000);
  });

  it('commit_after: 0 waits for the first content, or for the client’s own timeout', async () => {
    const policies = { ...alone, stream: { commit_after: '0s' } };
    const ask = await slowGateway({ policies }).askWithin(60_000);
    expect(ask.pieces[0]?.atMs).toBe(58_000);
    expect(ask.headers['x-tiergate-served-by']).toBe('p1/gpt-5.1');
    expect(await headAt(slowGateway({ policies }), { 'x-stainless-timeout': '30' })).toBe(29_000);
  });

  it('R40 is no content: a target that fails after it is still replaced in silence', async () => {
    const gateway = slowGateway({
      tier: ['p1', 'p2'],
      behaviours: {
        p1: inOrder({ sse: ['ROLE', 'SLEEP:50000', 'T:half', 'CUT'] }),
        p2: inOrder({ sse: ['ROLE', 'T:hello', 'FIN:end_turn', 'DONE'] }),
      },
      policies: { ...alone, retry: { attempts: 1 } },
    });
    const ask = await gateway.askWithin(60_000);
    expect(await readStream('chat', ask.text)).toMatchObject({ text: 'hello', isComplete: true });
    expect(ask.text).not.toContain('half');
    expect(gateway.lastTrace).toMatchObject({ recovery: 'restarted', outcome: 'served' });
    expect(gateway.lastTrace.serving?.target).toBe('p2/claude-sonnet-4-5');
  });

  it('tells in the meta object of the last event who served after all', async () => {
    const ask = await slowGateway().askWithin(60_000, { headers: { 'x-tiergate-meta': 'body' } });
    expect(ask.text).toContain('"served_by":"p1/gpt-5.1"');
    expect(ask.text).toContain('"attempts":1');
  });

  it('is none of a whole reply', async () => {
    const gateway = slowGateway({ behaviours: { p1: inOrder({ delay: 58_000, text: 'hello' }) } });
    const ask = await gateway.askWithin(60_000, { isStream: false });
    expect(ask.pieces).toEqual([]);
    expect(ask.status).toBe(200);
    expect(ask.headers['x-tiergate-attempts']).toBe('1');
  });

  it('a provider that answers a stream with one piece after it is read to its end', async () => {
    const gateway = slowGateway({
      policies: { ...alone, timeout: { headers: '60s' } },
      behaviours: {
        p1: inOrder({
          delay: 50_000,
          body: {
            id: 'c1',
            model: 'm',
            choices: [{ message: { content: 'hello' }, finish_reason: 'stop' }],
          },
        }),
      },
    });
    const ask = await gateway.askWithin(60_000);
    expect(await readStream('chat', ask.text)).toMatchObject({ text: 'hello', isComplete: true });
    expect(gateway.recorder.traces).toMatchObject([{ outcome: 'served', status: 200 }]);
  });
});

it('an answer in time leaves no timer of the commit point behind', async () => {
  const gateway = slowGateway({
    behaviours: { p1: inOrder({ sse: ['ROLE', 'T:hello', 'FIN:stop', 'DONE'] }) },
  });
  const ask = await gateway.askWithin(1000);
  expect(ask.headers['x-tiergate-served-by']).toBe('p1/gpt-5.1');
  await gateway.clock.advance(2000);
  expect(gateway.clock.pending).toBe(0);
});
