/** What an open breaker costs those that are served meanwhile: the fallback's answer, and nothing to speak of. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CaseGateway } from '../support/case-gateway.ts';
import { effort } from '../support/effort.ts';
import { askOnce, medianOf, until } from './traffic.ts';

/** The figure wanted is 5 ms; a test allows five times as much, `npm run bench` is the judge. */
const addedMsMax = 5 * 5;
const pairs = effort(150, 3000);

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

it('R72 with the primary open an answer comes as fast as from the fallback alone', async () => {
  const both = await cases.tier(['p2', 'p1'], {}, { policies: { retry: { attempts: 1 } } });
  const alone = `${both}-alone`;
  const target = { provider: 'p1', model: cases.modelOf('p1') };
  await cases.put(alone, { targets: [target] }, { 'if-none-match': '*' });
  cases.control.fault('p2', 'overload');
  let nth = 0;
  const ask = async (tier: string, isStream: boolean): Promise<number> => {
    nth += 1;
    const answer = await askOnce(cases, tier, { nth, words: 4, isStream });
    expect(answer).toMatchObject({ isComplete: true, servedBy: cases.targetOf('p1') });
    return answer.tookMs;
  };
  await until('the primary is open', async () => {
    await ask(both, false);
    return (await cases.breakerOf('p2')) === 'open';
  });
  for (const [form, isStream] of [
    ['whole', false],
    ['stream', true],
  ] as const) {
    const calls = cases.control.calls('p2');
    const tookMs = { both: [] as number[], alone: [] as number[] };
    for (let pair = 0; pair < pairs; pair += 1) {
      // By turns, and each first as often as the other: what slows the machine down slows both.
      const order = pair % 2 === 0 ? (['both', 'alone'] as const) : (['alone', 'both'] as const);
      for (const side of order) {
        tookMs[side].push(await ask(side === 'both' ? both : alone, isStream));
      }
    }
    const [open, single] = [medianOf(tookMs.both), medianOf(tookMs.alone)];
    console.info(
      `added latency, ${form}: p50 ${open.toFixed(2)} ms with the primary open, ${single.toFixed(2)} ms with the ` +
        `fallback alone, ${(open - single).toFixed(2)} ms added; ${cases.control.calls('p2') - calls} probes in ${pairs} requests`,
    );
    expect(open - single).toBeLessThan(addedMsMax);
    // It was open indeed: the primary saw probes only.
    expect(cases.control.calls('p2') - calls).toBeLessThan(pairs / 5);
  }
});
