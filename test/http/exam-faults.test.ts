/** The faults of the exam that need no long wait, over real sockets; all of them in virtual time: test/scenario/exam-faults. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ScriptedCall } from '../../src/simulator/script/scripted-call.ts';
import type { StepText } from '../../src/simulator/script/step.ts';
import { type Asked, attemptsOf, CaseGateway } from '../support/case-gateway.ts';
import { refusal } from '../support/virtual-providers.ts';

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

const words = Array.from({ length: 60 }, (_, index) => `w${index + 1}`);
const answer = words.join(' ');

function tokens(from: number, to: number, isFirst = from === 0): readonly StepText[] {
  const steps = words
    .slice(from, to)
    .map((word, index) => `T:${index === 0 && isFirst ? '' : ' '}${word}`);
  return steps.flatMap((step) => [step, 'SLEEP:2']);
}

const whole: ScriptedCall = { sse: ['ROLE', ...tokens(0, 60), 'FIN:stop', 'DONE'] };
const second: ScriptedCall = { sse: ['ROLE', ...tokens(0, 60), 'FIN:end_turn', 'DONE'] };
/** From the eight words before the 41st on, as the instruction asks. */
const rest = (end: string): ScriptedCall => ({
  sse: ['ROLE', ...tokens(32, 60, true), end, 'DONE'],
});
const cut: ScriptedCall = { sse: ['ROLE', ...tokens(0, 40), 'SLEEP:50', 'CUT'] };

function expectComplete({ stream, row }: Asked): void {
  expect(stream).toMatchObject({
    text: answer,
    isDone: true,
    error: null,
    finishReasons: ['stop'],
  });
  expect(row['outcome']).toBe('served');
}

it('3: 500 once is a retry', async () => {
  const tier = await cases.tier(['p1', 'p2'], { p1: [{ status: 500 }, whole], p2: [second] });
  const asked = await cases.stream(tier);
  expectComplete(asked);
  expect(attemptsOf(asked.row)).toEqual(['p1 transient_infra', 'p1 served']);
});

it('5: a reset before the headers is tried again', async () => {
  const tier = await cases.tier(['p1', 'p2'], { p1: [{ socket: ['RST'] }, whole], p2: [second] });
  const asked = await cases.stream(tier);
  expectComplete(asked);
  expect(cases.calls('p2')).toBe(0);
});

it('8: R41 a cut after 40 of 60 tokens is gone on with, each word once', async () => {
  const tier = await cases.tier(['p1', 'p2'], { p1: [cut, rest('FIN:stop')], p2: [second] });
  const asked = await cases.stream(tier);
  expectComplete(asked);
  expect(asked.row).toMatchObject({ recovery: 'continued' });
  expect(attemptsOf(asked.row)).toEqual(['p1 stream_interrupted', 'p1 served']);
});

const quickIdle = { policies: { timeout: { idle: '400ms' } } };
/** Its tokens come at once: only the end is silence, however busy the machine. */
const silentAfter = (count: number): ScriptedCall => ({
  sse: ['ROLE', ...tokens(0, count).filter((step) => step !== 'SLEEP:2'), 'HANG'],
});

it('9: R41 a stream that falls silent after 20 tokens is gone on with by the second target', async () => {
  const scripts = { p1: [silentAfter(20)], p2: [{ story: answer }] };
  const tier = await cases.tier(['p1', 'p2'], scripts, quickIdle);
  const asked = await cases.stream(tier);
  expectComplete(asked);
  expect(asked.row).toMatchObject({ recovery: 'continued', provider: 'p2' });
  expect(attemptsOf(asked.row)).toEqual(['p1 stream_interrupted', 'p2 served']);
  await expect.poll(() => cases.received('p1')[0]?.end).toBe('peer_closed');
});

it('10: one malformed event is passed over and counted', async () => {
  const odd = 'RAW:data: {"choices":[{"delta":{"content"\\n\\n';
  const sse = ['ROLE', ...tokens(0, 30), odd, ...tokens(30, 60), 'FIN:stop', 'DONE'];
  const tier = await cases.tier(['p1', 'p2'], { p1: [{ sse }], p2: [second] });
  const asked = await cases.stream(tier);
  expectComplete(asked);
  expect(asked.row).toMatchObject({ malformed_events: 1, recovery: 'none', provider: 'p1' });
});

it('11: no [DONE] is complete', async () => {
  const sse = ['ROLE', ...tokens(0, 60), 'FIN:stop', 'END'];
  const tier = await cases.tier(['p1', 'p2'], { p1: [{ sse }], p2: [second] });
  expectComplete(await cases.stream(tier));
  expect(cases.calls('p2')).toBe(0);
});

it('12: a prompt that is too long is asked once, then of a larger window', async () => {
  const tier = await cases.tier(
    ['p1', 'p1b', 'p2'],
    { p1: [refusal('openai', 'context_length')], p1b: [whole], p2: [second] },
    {
      targets: {
        p1: { context_window: 1000 },
        p1b: { context_window: 500 },
        p2: { context_window: 200_000 },
      },
    },
  );
  const asked = await cases.stream(tier);
  expectComplete(asked);
  expect(attemptsOf(asked.row)).toEqual(['p1 context_length', 'p2 served']);
  expect(asked.row['skipped']).toEqual([
    { target: cases.targetOf('p1b'), reason: 'context_window' },
  ]);
});

it('13: a content filter’s refusal is told, asked once and nowhere else', async () => {
  const tier = await cases.tier(['p1', 'p2'], {
    p1: [refusal('openai', 'content_policy')],
    p2: [second],
  });
  const response = await cases.post(tier, { stream: true });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { tiergate: { class: 'content_policy' } } });
  expect([cases.calls('p1'), cases.calls('p2')]).toEqual([1, 0]);
});

it('14: R41 a fallback that refuses a prefill is asked in words, and its refusal stays here', async () => {
  const scripts = { p1: [silentAfter(40)], p2: [{ story: answer, prefill: false }] };
  const tier = await cases.tier(['p1', 'p2'], scripts, quickIdle);
  const asked = await cases.stream(tier);
  expectComplete(asked);
  expect(asked.stream.raw).not.toContain('prefill');
  expect(attemptsOf(asked.row)).toEqual([
    'p1 stream_interrupted',
    'p2 invalid_request',
    'p2 served',
  ]);
  expect(await cases.breakerOf('p2')).toBe('closed');
});

it('16: after a failover model and usage are the fallback’s', async () => {
  const sse = ['ROLE', ...tokens(0, 60), 'FIN:end_turn', 'USAGE:17:60', 'DONE'];
  const tier = await cases.tier(['p1', 'p2'], { p1: [refusal('openai', 'quota')], p2: [{ sse }] });
  const asked = await cases.stream(tier, { stream_options: { include_usage: true } });
  expectComplete(asked);
  const { events } = asked.stream;
  expect(new Set(events.map(({ model }) => model))).toEqual(new Set([cases.modelOf('p2')]));
  const usage = events.findLast((event) => event.usage != null)?.usage;
  expect(usage).toMatchObject({ completion_tokens: 60 });
  expect(asked.row).toMatchObject({ output_tokens: 60, provider: 'p2', failed_over: true });
});
