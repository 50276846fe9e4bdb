import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { chat, startGateway } from '../support/running-gateway.ts';

it('a locked database: requests are answered, the control plane says 503, readyz says degraded', async () => {
  const gateway = await startGateway({ document: { log: { commit_wait: '100ms' } } });
  const database = new Database(join(gateway.dataDirectory, 'tiergate.db'));
  try {
    const before = (await (await gateway.admin('/tiers/fast')).json()) as { config: object };
    database.exec('begin immediate');
    expect((await gateway.post('/v1/chat/completions', chat('fast'))).status).toBe(200);
    const edited = { ...before.config, description: 'edited' };
    const put = await gateway.admin('/tiers/fast', {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'if-match': '*' },
      body: JSON.stringify(edited),
    });
    expect(put.status).toBe(503);
    expect(put.headers.get('retry-after')).toBe('1');
    expect(await put.json()).toMatchObject({ status: 503 });
    const ready = await fetch(`${gateway.origin}/readyz`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toMatchObject({ status: 'degraded' });
  } finally {
    database.close();
    await gateway.close();
  }
});

it('a damaged database at start: the gateway serves on the last good config', async () => {
  const gateway = await startGateway();
  const { dataDirectory } = gateway;
  await gateway.app.close();
  writeFileSync(join(dataDirectory, 'tiergate.db'), 'this is no database');
  await gateway.simulation.close();
  const again = await startGateway({ dataDirectory });
  try {
    const ready = await (await fetch(`${again.origin}/readyz`)).json();
    expect(ready).toMatchObject({
      status: 'degraded',
      reasons: expect.arrayContaining(['database_corrupt']),
    });
    const models = (await (await fetch(`${again.origin}/v1/models`)).json()) as {
      data: { id: string }[];
    };
    expect(models.data.map(({ id }) => id)).toContain('fast');
  } finally {
    await again.close();
  }
});
