import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  privateKeyText,
  serviceAccount,
  startTokenService,
  type TokenService,
  userAccount,
} from '../support/google-account.ts';
import { type LoopbackServer, startHttp } from '../support/loopback-server.ts';
import { quickRetry, type RunningGateway, startGateway } from '../support/running-gateway.ts';

/** The cloud: knows which tokens hold, and answers as both publishers' models do. */
let cloud: LoopbackServer;
let service: TokenService;
let gateway: RunningGateway;
let directory = '';
const seen: { url: string; authorization: string; body: Record<string, unknown> }[] = [];
let refused = new Set<string>();

const geminiReply = {
  candidates: [
    { content: { role: 'model', parts: [{ text: 'from gemini' }] }, finishReason: 'STOP' },
  ],
  usageMetadata: {
    promptTokenCount: 1,
    candidatesTokenCount: 1,
    totalTokenCount: 2,
    trafficType: 'ON_DEMAND',
  },
  modelVersion: 'gemini-2.5-pro',
};
const claudeReply = {
  id: 'msg_vrtx_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [{ type: 'text', text: 'from claude' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

function claudeStream(): string {
  const { content: _, ...message } = { ...claudeReply, stop_reason: null };
  const events = [
    { type: 'message_start', message: { ...message, content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    // An event of a name of the cloud's own, which carries a ping.
    { type: 'ping' },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'from claude' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  return events
    .map((event) => {
      const name = event.type === 'ping' ? 'vertex_event' : event.type;
      return `event: ${name}\ndata: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
}

beforeAll(async () => {
  service = await startTokenService();
  cloud = await startHttp((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => {
      const { url = '', headers } = request;
      const authorization = headers.authorization ?? '';
      seen.push({ url, authorization, body: JSON.parse(text) });
      const isRefused = !authorization.startsWith('Bearer ya29.') || refused.has(authorization);
      const status = isRefused ? 401 : 200;
      if (status === 200 && /:stream/.test(url)) {
        const events = /:streamRawPredict$/.test(url)
          ? claudeStream()
          : `data: ${JSON.stringify(geminiReply)}\r\n\r\n`;
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events);
        return;
      }
      const reply = /publishers\/anthropic/.test(url) ? claudeReply : geminiReply;
      const error = {
        code: 401,
        message: `Invalid token ${authorization}`,
        status: 'UNAUTHENTICATED',
      };
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify(isRefused ? { error } : reply));
    });
  });
  directory = mkdtempSync(join(tmpdir(), 'vertex-'));
  const file = join(directory, 'account.json');
  writeFileSync(file, serviceAccount(`${service.origin}/token`));
  const entry = { project: 'a-secret-project', base_url: cloud.origin };
  const gemini = { provider: 'gemini', model: 'gemini-2.5-pro' };
  const claude = { provider: 'claude', model: 'claude-sonnet-4-5@20250929' };
  const broken = { provider: 'broken', model: 'gemini-2.5-pro' };
  gateway = await startGateway({
    environment: {
      USER_ACCOUNT: userAccount(`${service.origin}/token`),
      BROKEN: '{"type":"service_account","private_key":"CANARY-broken"}',
    },
    document: {
      providers: {
        gemini: { kind: 'vertex-gemini', api_keys: [`file:${file}`], ...entry },
        claude: { kind: 'vertex-anthropic', api_keys: ['env:USER_ACCOUNT'], ...entry },
        broken: { kind: 'vertex-gemini', api_keys: ['env:BROKEN'], ...entry },
      },
      tiers: {
        gemini: { targets: [gemini], retry: quickRetry },
        claude: { targets: [claude], retry: quickRetry },
        broken: { targets: [broken, claude], retry: quickRetry },
        refused: { targets: [gemini, claude], retry: quickRetry },
      },
    },
  });
});

afterAll(async () => {
  await gateway.close();
  await cloud.close();
  await service.close();
  rmSync(directory, { recursive: true });
});

afterEach(() => {
  seen.length = 0;
  refused = new Set();
});

type Chunk = { readonly choices: readonly { readonly delta?: { readonly content?: string } }[] };

async function ask(tier: string, stream: boolean, headers: Record<string, string> = {}) {
  const body = { model: tier, messages: [{ role: 'user', content: 'hi' }], stream };
  const response = await gateway.post('/v1/chat/completions', body, { headers });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  if (!stream) return JSON.parse(text).choices[0].message.content;
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => (JSON.parse(line.slice(6)) as Chunk).choices[0]?.delta?.content ?? '')
    .join('');
}

const place = '/projects/a-secret-project/locations/global/publishers';

it('models of both publishers answer, whole and as a stream, and one token serves each key', async () => {
  service.grants.length = 0;
  const all = ['gemini', 'claude'].flatMap((tier) =>
    [true, false, true, false].map((stream) => ask(tier, stream)),
  );
  expect(new Set(await Promise.all(all))).toEqual(new Set(['from gemini', 'from claude']));
  expect(service.grants.toSorted().map((grant) => grant.split(' ')[0])).toEqual(['jwt', 'refresh']);
  expect(new Set(seen.map(({ url }) => url))).toEqual(
    new Set([
      `/v1beta1${place}/google/models/gemini-2.5-pro:generateContent`,
      `/v1beta1${place}/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse`,
      `/v1${place}/anthropic/models/claude-sonnet-4-5%4020250929:rawPredict`,
      `/v1${place}/anthropic/models/claude-sonnet-4-5%4020250929:streamRawPredict`,
    ]),
  );
  const claude = seen.filter(({ url }) => /anthropic/.test(url));
  for (const { body } of claude) {
    expect(body).toMatchObject({ anthropic_version: 'vertex-2023-10-16' });
    expect(body).not.toHaveProperty('model');
  }
});

it('a beta that a client of the Messages API asks for reaches the body', async () => {
  const response = await gateway.post(
    '/v1/messages',
    { model: 'claude', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] },
    { headers: { 'anthropic-beta': 'context-1m-2025-08-07', 'anthropic-version': '2023-06-01' } },
  );
  expect(await response.json()).toMatchObject({ content: [{ text: 'from claude' }] });
  expect(seen[0]?.body['anthropic_beta']).toEqual(['context-1m-2025-08-07']);
});

it('a credential that is none rests, wakes somebody, and the next target answers', async () => {
  expect(await ask('broken', false)).toBe('from claude');
  expect(seen).toHaveLength(1);
  const [row] = await gateway.rows('?tier=broken');
  expect(row?.attempts[0]).toMatchObject({ error_class: 'auth', target: 'broken/gemini-2.5-pro' });
  const status = await (await gateway.admin('/status')).text();
  expect(status).toContain('BROKEN');
});

it('a token that is refused though it is new is not fetched again and again', async () => {
  await ask('gemini', false);
  const current = seen[0]?.authorization ?? '';
  refused = new Set([current]);
  service.grants.length = 0;
  expect(await ask('refused', false)).toBe('from claude');
  expect(service.grants).toEqual([]);
});

it('neither keys nor tokens nor the project are told to clients, in rows, in status or in the log', async () => {
  const told = [
    JSON.stringify(await gateway.rows()),
    JSON.stringify(gateway.log),
    await (await gateway.admin('/status')).text(),
  ].join('\n');
  expect(told).toContain('gemini-2.5-pro');
  const secret = privateKeyText.split('\n')[1] ?? '';
  for (const word of ['CANARY', 'ya29', secret, 'a-secret-project', 'robot@']) {
    expect(told, word).not.toContain(word);
  }
});
