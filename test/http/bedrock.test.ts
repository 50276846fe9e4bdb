/** Signed requests and binary streams through the whole gateway, to a service that checks both. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { exampleAccessKey } from '../../src/simulator/vendors/bedrock/bedrock-auth.ts';
import {
  chat,
  type GatewayOptions,
  modelNames,
  type RunningGateway,
  readChatStream,
  startGateway,
} from '../support/running-gateway.ts';

const { id, secret } = exampleAccessKey;
const auth = [`${id}:${secret}`, 'bedrock-api-key'];

let gateway: RunningGateway;
afterEach(() => gateway.close());

async function start(settings: JsonObject, over: GatewayOptions = {}): Promise<void> {
  const providers = { p5: settings };
  gateway = await startGateway({ tier: ['p5'], policies: { hedge: false }, providers, ...over });
}

/** What a client, the log and the row were told. */
async function everythingTold(response: Response): Promise<string> {
  const text = await response.text();
  const [row] = await gateway.rows('?limit=1');
  return JSON.stringify([text, row, gateway.log]);
}

describe('a service that checks every signature', () => {
  it.each([false, true])('takes what is signed (stream %s)', async (stream) => {
    await start({}, { auth });
    const response = await gateway.post('/v1/chat/completions', chat('fast', { stream }));
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(modelNames.p5);
    const [row] = await gateway.rows('?limit=1');
    expect(row).toMatchObject({ outcome: 'served', provider: 'p5' });
    expect(row?.attempts[0]).toMatchObject({
      key_alias: 'SIMULATED_ACCESS_KEY_ID',
      status: 200,
      model: modelNames.p5,
    });
    expect(row?.['input_tokens']).toBeGreaterThan(0);
    expect(row?.['output_tokens']).toBeGreaterThan(0);
    const [sent] = gateway.simulation.control.requests('p5');
    expect(sent?.headers['accept']).toContain(stream ? 'vnd.amazon.eventstream' : 'json');
  });

  it('takes an API key as a bearer token, and an ARN as its model', async () => {
    const model =
      'arn:aws:bedrock:us-east-1:000000000000:inference-profile/us.amazon.nova-lite-v1:0';
    await start(
      { credentials: null, api_keys: ['env:TOKEN'] },
      { auth, environment: { TOKEN: 'bedrock-api-key' } },
    );
    const tier = { targets: [{ provider: 'p5', model }], hedge: false };
    await gateway.admin('/tiers/fast', {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'if-match': '*' },
      body: JSON.stringify(tier),
    });
    const response = await gateway.post('/v1/chat/completions', chat('fast'));
    expect(await response.text()).toContain(model);
  });

  it('refuses a wrong secret: the key is parked, the next target answers, and nobody is told the secret', async () => {
    await start(
      {
        credentials: {
          access_key_id: 'env:ID',
          secret_access_key: 'env:SECRET',
          session_token: 'env:SESSION',
        },
      },
      { auth, tier: ['p5', 'p1'], environment: { ID: id, SECRET: 'CANARY1', SESSION: 'CANARY2' } },
    );
    // The other provider wants a key that this gateway has not.
    gateway.simulation.control.script('p1', [{ sse: ['ROLE', 'T:from p1', 'FIN:stop', 'DONE'] }]);
    const response = await gateway.post('/v1/chat/completions', chat('fast', { stream: true }));
    const told = await everythingTold(response);
    expect(told).toContain('from p1');
    expect(told).toContain('"error_class":"auth"');
    expect(told).toContain('"key_alias":"ID"');
    expect(told).not.toContain('CANARY');
    expect(told).not.toContain('Signature=');
  });

  it('is asked with the secret that stands in the file now', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tiergate-secret-'));
    const file = join(folder, 'secret');
    writeFileSync(file, `${secret}\n`);
    await start(
      { credentials: { access_key_id: 'env:ID', secret_access_key: `file:${file}` } },
      { auth, environment: { ID: id } },
    );
    expect((await gateway.post('/v1/chat/completions', chat('fast'))).status).toBe(200);
    rmSync(folder, { recursive: true });
  });

  it('is not asked at all without a secret, which is named', async () => {
    await start(
      { credentials: { access_key_id: 'env:ID', secret_access_key: 'env:NOT_THERE' } },
      { auth, environment: { ID: id } },
    );
    const response = await gateway.post('/v1/chat/completions', chat('fast'));
    expect(response.status).toBeGreaterThanOrEqual(500);
    const told = await everythingTold(response);
    expect(told).toContain('NOT_THERE is not set');
    expect(gateway.simulation.control.requests('p5')).toEqual([]);
  });
});

describe('a binary stream', () => {
  const ask = async (): Promise<Awaited<ReturnType<typeof readChatStream>>> =>
    readChatStream(await gateway.post('/v1/chat/completions', chat('fast', { stream: true })));

  it.each(['stream_error', 'malformed', 'cut', 'truncate'] as const)(
    'that is hit by %s before its content was shown is begun anew elsewhere',
    async (fault) => {
      await start({}, { tier: ['p5', 'p1'] });
      gateway.simulation.control.fault('p5', fault, { afterTokens: 2 });
      const { text, error, isDone } = await ask();
      expect([error, isDone]).toEqual([null, true]);
      expect(text).toContain('gpt-5.1');
      const [row] = await gateway.rows('?limit=1');
      expect(row).toMatchObject({ outcome: 'served', provider: 'p1' });
    },
  );

  it('in pieces of any size, with padding in every event, is one answer', async () => {
    await start({});
    const whole = await ask();
    for (const split of [1, 7, 64]) {
      gateway.simulation.control.script('p5', [
        { sse: ['ROLE', 'T:héllo 🌍', 'T: there', 'FIN:end_turn', 'USAGE:10:5', 'DONE'], split },
      ]);
      const { text, finishReasons, isDone } = await ask();
      expect([text, finishReasons, isDone]).toEqual(['héllo 🌍 there', ['stop'], true]);
    }
    expect(whole.isDone).toBe(true);
  });
});
