/** `/admin/v1/targets/{id}/override`: the id percent-encoded or with plain slashes. */
import type { Hono } from 'hono';
import type { OverrideResult, TargetAdmin } from '../../admin/target-admin.ts';
import { unreachable } from '../../base/unreachable.ts';
import type { EdgeContext, EdgeEnvironment } from '../edge-context.ts';
import { problemResponse } from './problem.ts';
import { unknownParameters } from './query-parameters.ts';
import { readJsonObject } from './request-document.ts';

const namesShownMax = 50;

export function mountTargetRoutes(app: Hono<EdgeEnvironment>, admin: TargetAdmin): void {
  app.put('/targets/:id{.+}/override', (c) => writeOverride(c, c.req.param('id'), admin));
}

async function writeOverride(c: EdgeContext, target: string, admin: TargetAdmin) {
  const refused = unknownParameters(c, []);
  if (refused !== null) return problemResponse(refused);
  const body = await readJsonObject(c);
  if (!body.ok) return problemResponse(body.fault);
  const author = c.var.principal.keyId;
  return written(c, target, admin.override({ target, body: body.value, author }));
}

function written(c: EdgeContext, id: string, result: OverrideResult): Response {
  switch (result.kind) {
    case 'set':
      return c.json({ id, override: result.override, persisted: result.isKept });
    case 'invalid':
      return problemResponse({
        status: 400,
        detail: 'The override is not valid; nothing was changed.',
        errors: result.errors,
      });
    case 'unknown_target': {
      const shown = result.known.slice(0, namesShownMax).join(', ');
      return problemResponse({
        status: 404,
        detail: `No tier of the config in force has this target. Known: ${shown}.`,
      });
    }
    case 'full':
      return problemResponse({
        status: 409,
        detail: 'There are too many overrides: set some back to auto first.',
      });
    default:
      return unreachable(result);
  }
}
