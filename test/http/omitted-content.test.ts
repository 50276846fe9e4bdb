/** What an answer holds and a client of another dialect cannot be told stands in the header, in the body's own object and in the row. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningGateway, startGateway } from '../support/running-gateway.ts';

const url_citation = { start_index: 0, end_index: 3, title: 'Sky', url: 'https://example.com/sky' };
const annotations = [{ type: 'url_citation', url_citation }];
const head = { id: 'chatcmpl-1', created: 1, model: 'gpt-5.1' };

/** A service that cites a page in every answer. */
const service: Server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const message = { role: 'assistant', content: 'The sky is blue.', annotations };
    if (JSON.parse(body).stream !== true) {
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...head, object: 'chat.completion', choices }));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    for (const choice of [
      { delta: message, finish_reason: null },
      { delta: {}, finish_reason: 'stop' },
    ]) {
      const choices = [{ index: 0, ...choice }];
      const chunk = { ...head, object: 'chat.completion.chunk', choices };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  });
});

let gateway: RunningGateway;
beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const { port } = service.address() as AddressInfo;
  const p1 = { base_url: `http://127.0.0.1:${port}/v1` };
  gateway = await startGateway({ tier: ['p1'], providers: { p1 } });
});
afterAll(async () => {
  await gateway.close();
  service.closeAllConnections();
  service.close();
});

const hello = { model: 'fast', max_tokens: 99, messages: [{ role: 'user', content: 'hi' }] };
const asked = { headers: { 'x-tiergate-meta': 'body' } };

it('of a whole answer', async () => {
  const answer = await gateway.post('/v1/messages', hello, asked);
  expect(answer.headers.get('x-tiergate-dropped')).toBe('citations');
  expect(await answer.json()).toMatchObject({ tiergate: { dropped: ['citations'] } });
  expect((await gateway.rows())[0]).toMatchObject({ dropped: ['citations'] });
});

it('of a stream, whose headers are gone by then', async () => {
  const answer = await gateway.post('/v1/messages', { ...hello, stream: true }, asked);
  expect(answer.headers.get('x-tiergate-dropped')).toBeNull();
  expect(await answer.text()).toContain('"dropped":["citations"]');
  expect((await gateway.rows())[0]).toMatchObject({ dropped: ['citations'] });
});

it('is nothing for a client of the same dialect, or of one that has a place for it', async () => {
  for (const path of ['/v1/chat/completions', '/v1beta/models/fast:generateContent']) {
    const body = path.includes('beta') ? { contents: [{ parts: [{ text: 'hi' }] }] } : hello;
    const answer = await gateway.post(path, body);
    expect(await answer.text()).toContain('https://example.com/sky');
    expect(answer.headers.get('x-tiergate-dropped') ?? '').not.toContain('citations');
  }
});
