/** Requests in odd but possible forms: what a path or a protocol offer holds does no harm. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CaseGateway } from '../support/case-gateway.ts';
import { chat } from '../support/running-gateway.ts';
import { RawClient } from './raw-client.ts';

let cases: CaseGateway;
let tier = '';
beforeAll(async () => {
  cases = await CaseGateway.start();
  tier = await cases.tier(['p1'], { p1: [{ text: 'hello' }] });
});
afterAll(() => cases.close());

it.each(['fa%00st', 'fa%0D%0Ax-evil:%201', '%E6%97%A5', '%ff', 'x'.repeat(8000)])(
  'a path that names the tier %.30s, which is none, is a 404 and sets no header',
  async (name) => {
    const response = await cases.gateway.post(`/v1/tiers/${name}/chat/completions`, chat('any'));
    expect(response.status).toBe(404);
    expect(response.headers.get('x-tiergate-tier')).toBe(null);
    expect(await response.json()).toMatchObject({ error: { code: 'model_not_found' } });
  },
);

it('a body that cannot be read leaves no row under a tier that only its path has', async () => {
  const wrong = await cases.gateway.post('/v1/tiers/no-such-tier/chat/completions', '{');
  expect(wrong.status).toBe(400);
  const right = await cases.gateway.post(`/v1/tiers/${tier}/chat/completions`, '{');
  expect(right.headers.get('x-tiergate-tier')).toBe(tier);
  expect((await cases.rowsOfTier('no-such-tier')).size).toBe(0);
  expect([...(await cases.rowsOfTier(tier)).values()]).toMatchObject([{ outcome: 'rejected' }]);
});

it('an offer of HTTP/2 is not taken up, and the request is answered', async () => {
  const client = await RawClient.open(Number(new URL(cases.gateway.origin).port));
  client.post(JSON.stringify(chat(tier)), [
    'connection: Upgrade, HTTP2-Settings',
    'upgrade: h2c',
    'http2-settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA',
  ]);
  await client.receives('hello');
  expect(client.text).toMatch(/^HTTP\/1\.1 200 /);
  client.socket.destroy();
});
