/** `/admin/v1/tiers` and `/admin/v1/config`: what is routed where, read and replaced while requests run. */
import type { Hono } from 'hono';
import type { TierAdmin, TierView, TierWrite, TierWriteResult } from '../../admin/tier-admin.ts';
import { unreachable } from '../../base/unreachable.ts';
import type { EdgeContext, EdgeEnvironment } from '../edge-context.ts';
import { isNotModified, writeCondition } from './entity-tags.ts';
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
    return refused === null ? c.json(admin.document()) : problemResponse(refused);
  });
}

function readTier(c: EdgeContext, admin: TierAdmin): Response {
  const refused = unknownParameters(c, []);
  if (refused !== null) return problemResponse(refused);
  const view = admin.get(c.req.param('tier') ?? '');
  if (view === null) return problemResponse(unknownTier(admin));
  if (isNotModified(c.req.header('if-none-match'), view.etag)) {
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
  if (isDryRun === 'true') return c.json(admin.check({ name, config: document.value }));
  const condition = writeCondition(c.req.header('if-match'), c.req.header('if-none-match'));
  if (condition === 'missing') return problemResponse(conditionMissing);
  if (condition === 'malformed') return problemResponse(conditionMalformed);
  const note = c.req.header('x-tiergate-note') ?? null;
  if (note !== null && note.length > noteLengthMax) return problemResponse(noteTooLong);
  const author = c.var.principal.keyId;
  return written(
    c,
    admin.replace({ name, config: document.value, condition, author, note }),
    condition,
  );
}

function written(
  c: EdgeContext,
  result: TierWriteResult,
  condition: TierWrite['condition'],
): Response {
  switch (result.kind) {
    case 'saved':
      return c.json(shown(result.view), result.isNew ? 201 : 200, { etag: result.view.etag });
    case 'invalid':
      return problemResponse({
        status: 400,
        detail: 'The document is not valid; nothing was changed.',
        errors: result.errors,
      });
    case 'stale':
      return problemResponse(staleProblem(result.etag, condition));
    case 'read_only':
      return problemResponse({
        status: 409,
        detail: `The configuration is kept in ${result.file} (config mode "file"): edit it there.`,
      });
    case 'unavailable':
      return problemResponse({ status: 503, detail: result.message });
    default:
      return unreachable(result);
  }
}

function staleProblem(etag: string | null, condition: TierWrite['condition']): Problem {
  if (etag === null) {
    const detail = 'There is no such tier. Send If-None-Match: * to create it.';
    return { status: 412, detail };
  }
  const detail =
    condition.kind === 'must_not_exist'
      ? `The tier exists. Send If-Match: ${etag} to replace it.`
      : `The tier was changed meanwhile; it is now ${etag}. Read it again, then send If-Match with that tag.`;
  return { status: 412, detail, headers: { etag } };
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

const conditionMalformed: Problem = {
  status: 400,
  detail: 'If-Match takes "etag" or *, If-None-Match takes *; one of the two.',
};

const noteTooLong: Problem = {
  status: 400,
  detail: `x-tiergate-note is longer than ${noteLengthMax} characters.`,
};
