/** `/admin/v1/tiers` and `/admin/v1/config`: what is routed where, read and replaced while requests run. */
import type { Hono } from 'hono';
import { stringify } from 'yaml';
import type { TierAdmin, TierView, TierWriteResult } from '../../admin/tier-admin.ts';
import { unreachable } from '../../base/unreachable.ts';
import { isMatch } from '../../routing/etag.ts';
import type { EdgeContext, EdgeEnvironment } from '../edge-context.ts';
import { type Problem, problemResponse } from './problem.ts';
import { unknownParameters } from './query-parameters.ts';
import { readDocument } from './request-document.ts';

const tierName = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const noteLengthMax = 500;

export function mountTierRoutes(app: Hono<EdgeEnvironment>, admin: TierAdmin): void {
  app.get('/tiers', (c) => {
    const refused = unknownParameters(c, []);
    if (refused !== null) return problemResponse(refused);
    return c.json({ data: admin.list().map(shown), next_cursor: null });
  });
  app.get('/tiers/:tier', (c) => readTier(c, admin));
  app.put('/tiers/:tier', (c) => writeTier(c, admin));
  app.get('/config', (c) => {
    const refused = unknownParameters(c, []);
    if (refused !== null) return problemResponse(refused);
    const document = admin.document();
    if (!/\byaml\b/.test(c.req.header('accept') ?? '')) return c.json(document);
    return c.body(stringify(document.config), 200, { 'content-type': 'application/yaml' });
  });
}

function readTier(c: EdgeContext, admin: TierAdmin): Response {
  const refused = unknownParameters(c, []);
  if (refused !== null) return problemResponse(refused);
  const view = admin.get(c.req.param('tier') ?? '');
  if (view === null) return problemResponse(unknownTier(admin));
  const cached = c.req.header('if-none-match');
  if (cached !== undefined && isMatch(cached.replaceAll('W/"', '"'), view.etag)) {
    return c.body(null, 304, { etag: view.etag });
  }
  return c.json(shown(view), 200, { etag: view.etag });
}

async function writeTier(c: EdgeContext, admin: TierAdmin): Promise<Response> {
  const refused = unknownParameters(c, ['dry_run']);
  if (refused !== null) return problemResponse(refused);
  const isDryRun = c.req.query('dry_run');
  if (isDryRun !== undefined && isDryRun !== 'true' && isDryRun !== 'false') {
    const errors = [{ path: 'dry_run', message: 'expected true or false' }];
    return problemResponse({ status: 400, detail: 'A query parameter is wrong.', errors });
  }
  const name = c.req.param('tier') ?? '';
  if (!tierName.test(name)) return problemResponse(badName);
  const document = await readDocument(c);
  if (!document.ok) return problemResponse(document.fault);
  if (isDryRun === 'true') return c.json(await admin.check({ name, config: document.value }));
  const note = c.req.header('x-tiergate-note') ?? null;
  if (note !== null && note.length > noteLengthMax) return problemResponse(noteTooLong);
  const result = await admin.replace({
    name,
    config: document.value,
    ifMatch: c.req.header('if-match') ?? null,
    ifNoneMatch: c.req.header('if-none-match') ?? null,
    author: c.var.principal.keyId,
    note,
  });
  return written(c, result);
}

function written(c: EdgeContext, result: TierWriteResult): Response {
  switch (result.kind) {
    case 'saved': {
      const body = { ...shown(result.view), warnings: result.warnings };
      return c.json(body, result.isNew ? 201 : 200, { etag: result.view.etag });
    }
    case 'invalid':
      return problemResponse({
        status: 400,
        detail: 'The document is not valid; nothing was changed.',
        errors: result.errors,
      });
    case 'stale':
      return problemResponse(stale(result.etag));
    case 'condition_missing':
      return problemResponse(conditionMissing);
    case 'conflict':
      return problemResponse({
        status: 409,
        detail: 'Another process changed the configuration first. Read the tier again and repeat.',
      });
    case 'read_only':
      return problemResponse({
        status: 409,
        detail: `The configuration is kept in ${result.file} (config mode "file"): edit it there.`,
      });
    default:
      return unreachable(result);
  }
}

function stale(etag: string | null): Problem {
  if (etag === null) {
    return { status: 412, detail: 'There is no such tier. Send If-None-Match: * to create it.' };
  }
  return {
    status: 412,
    detail: `The tier is not as the condition wants it: its ETag is ${etag}. Read it again, then send If-Match with that tag.`,
    headers: { etag },
  };
}

function shown(view: TierView) {
  return {
    name: view.name,
    version: view.version,
    config: view.config,
    effective: view.effective,
    etag: view.etag,
  };
}

function unknownTier(admin: TierAdmin): Problem {
  const names = admin.list().map(({ name }) => name);
  return { status: 404, detail: `There is no such tier. Known: ${names.join(', ')}.` };
}

const badName: Problem = {
  status: 400,
  detail: 'A tier name is 1 to 64 of a-z, 0-9, ".", "_", "-", and begins with a letter or digit.',
  errors: [{ path: 'tier', message: 'expected a tier name' }],
};

const conditionMissing: Problem = {
  status: 428,
  detail:
    'Say what you replace: If-Match with the ETag of GET (or * for any), or If-None-Match: * to create. ?dry_run=true needs neither.',
};

const noteTooLong: Problem = {
  status: 400,
  detail: `x-tiergate-note is longer than ${noteLengthMax} characters.`,
};
