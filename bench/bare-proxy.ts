/** The yardstick: what a pass-through costs that does nothing but pass through. Upstream's origin in argv. */

import { Readable } from 'node:stream';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { Agent, request } from 'undici';

const upstream = process.argv[2] ?? '';
const dispatcher = new Agent({ connections: 512 });
const app = new Hono();

app.post('*', async (context) => {
  const { pathname } = new URL(context.req.url);
  const answer = await request(upstream + pathname, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: context.req.header('accept') ?? '*/*',
      authorization: context.req.header('authorization') ?? '',
    },
    body: Buffer.from(await context.req.arrayBuffer()),
    dispatcher,
  });
  const contentType = String(answer.headers['content-type']);
  const init = { status: answer.statusCode, headers: { 'content-type': contentType } };
  if (!contentType.startsWith('text/event-stream')) {
    return new Response(await answer.body.arrayBuffer(), init);
  }
  return new Response(Readable.toWeb(answer.body) as ReadableStream, init);
});

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, (address) => {
  process.send?.({ origin: `http://127.0.0.1:${address.port}` });
});
