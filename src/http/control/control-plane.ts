/** The control plane as one Hono app, mounted at `/admin/v1`. */
import { Hono } from 'hono';
import type { Access } from '../../admin/access.ts';
import type { TargetAdmin } from '../../admin/target-admin.ts';
import type { TierAdmin } from '../../admin/tier-admin.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ServedQuery } from '../../served-by/served-query.ts';
import type { EdgeEnvironment } from '../edge-context.ts';
import { problemResponse } from './problem.ts';
import { unknownParameters } from './query-parameters.ts';
import { mountQuestionRoutes, type Questions } from './question-routes.ts';
import { requireScope } from './require-scope.ts';
import { mountServedRoutes } from './served-routes.ts';
import { mountTargetRoutes } from './target-routes.ts';
import { mountTierRoutes } from './tier-routes.ts';

export type ControlPlaneOptions = {
  readonly access: Access;
  readonly tierAdmin: TierAdmin;
  readonly served: ServedQuery;
  readonly targetAdmin: TargetAdmin;
  readonly questions: Questions;
  readonly status: () => JsonObject;
};

export function createControlPlane(options: ControlPlaneOptions): Hono<EdgeEnvironment> {
  const app = new Hono<EdgeEnvironment>();
  const asLog = requireScope(options.access, 'log');
  const asAdmin = requireScope(options.access, 'admin');
  const isLogPath = (path: string): boolean =>
    /^\/admin\/v1\/(served(\/[^/]+)?|status)$/.test(path);
  app.use('*', (c, next) =>
    c.req.method === 'GET' && isLogPath(c.req.path) ? asLog(c, next) : asAdmin(c, next),
  );
  mountTierRoutes(app, options.tierAdmin);
  mountServedRoutes(app, options.served);
  mountTargetRoutes(app, options.targetAdmin);
  mountQuestionRoutes(app, options.questions);
  app.get('/status', (c) => {
    const refused = unknownParameters(c, []);
    return refused === null ? c.json(options.status()) : problemResponse(refused);
  });
  const paths = [...new Set(app.routes.map(({ path }) => path))].filter((path) => path !== '/*');
  for (const path of paths) {
    const allow = app.routes.filter((route) => route.path === path).map(({ method }) => method);
    app.all(path, () =>
      problemResponse({
        status: 405,
        detail: `Allowed here: ${allow.join(', ')}.`,
        headers: { allow: allow.join(', ') },
      }),
    );
  }
  app.all('*', () => problemResponse({ status: 404, detail: 'There is no such route.' }));
  return app;
}
