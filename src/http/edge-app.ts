/** All routes on Hono: data plane, control plane, health; and the fast lane beside it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { getPath } from 'hono/utils/url';
import type { ClientDialect } from '../dialects/dialect.ts';
import { StoreUnavailableError } from '../store/sqlite/database-access.ts';
import { mountClientRoutes } from './client-routes.ts';
import { createControlPlane } from './control/control-plane.ts';
import { problemResponse } from './control/problem.ts';
import type { DataPlane, ServingMode } from './data/data-plane.ts';
import type { Refusal } from './data/edge-refusal.ts';
import type { EdgeContext, EdgeEnvironment } from './edge-context.ts';
import type { HttpServerOptions } from './http-server-ports.ts';
import type { RequestGuard } from './request-guard.ts';
import { unknownPath } from './unknown-path.ts';

export type EdgeAppOptions = Pick<
  HttpServerOptions,
  | 'access'
  | 'dialects'
  | 'log'
  | 'questions'
  | 'readiness'
  | 'served'
  | 'snapshot'
  | 'status'
  | 'targetAdmin'
  | 'tierAdmin'
> & {
  readonly dataPlane: DataPlane;
  readonly guard: RequestGuard;
  readonly mode: () => ServingMode;
};

/** The paths of the model calls whose tier stands in the body: what most requests name. */
export function fastLane(dialects: readonly ClientDialect[]): ReadonlyMap<string, ClientDialect> {
  const lane = new Map<string, ClientDialect>();
  for (const dialect of dialects) {
    for (const { suffix, speaks } of dialect.routes) lane.set(`/v1/${suffix}`, speaks ?? dialect);
  }
  return lane;
}

export function createEdgeApp(options: EdgeAppOptions): Hono<EdgeEnvironment> {
  const app = new Hono<EdgeEnvironment>({ getPath: plainPath });
  app.onError((error, c) => {
    if (error instanceof StoreUnavailableError) {
      const headers = { 'retry-after': '1' };
      return problemResponse({ status: 503, detail: 'The database cannot be used now.', headers });
    }
    options.log.error('a route failed inside the gateway', {
      error: error.stack ?? error.message,
      path: c.req.path,
    });
    return problemResponse({ status: 500, detail: 'The gateway failed on this request.' });
  });
  mountModelCalls(app, options);
  app.use('*', (c, next) => screen(c, next, options));
  mountHealth(app, options);
  app.route('/admin/v1', createControlPlane(options));
  mountClientRoutes(app, {
    dialects: options.dialects,
    snapshot: options.snapshot,
    served: options.served,
    refuse: (c, refusal) => refuse(c, refusal, options),
    admit: (c) => {
      const admission = options.dataPlane.admit(c.env.incoming);
      return 'status' in admission ? refuse(c, admission, options) : admission;
    },
  });
  mountWrongMethods(app, options);
  app.notFound((c) => refuse(c, unknownPath(c.env.incoming, options.dialects), options));
  return app;
}

/** A base URL that ends in a slash, or a path that does, is taken as it is meant. */
function plainPath(request: Request): string {
  return getPath(request)
    .replace(/\/{2,}/g, '/')
    .replace(/(.)\/$/, '$1');
}

function mountModelCalls(app: Hono<EdgeEnvironment>, options: EdgeAppOptions): void {
  for (const dialect of options.dialects) {
    for (const { suffix, speaks = dialect } of dialect.routes) {
      app.post(`/v1/${suffix}`, (c) => call(c, speaks, null, options));
      for (const base of ['/v1/tiers/:tier', '/v1/tiers/:tier/v1']) {
        app.post(`${base}/${suffix}`, (c) => call(c, speaks, c.req.param('tier') ?? null, options));
      }
    }
    for (const path of pathsOfCalls(dialect)) {
      app.post(path, (c) => pathCall(c, dialect, options));
    }
  }
}

function pathsOfCalls({ pathCalls }: ClientDialect): readonly string[] {
  if (pathCalls === undefined) return [];
  const versions = pathCalls.versions.map((version) => `/${version}`);
  const bases = [...versions, ...['', ...versions].map((version) => `/v1/tiers/:tier${version}`)];
  return bases.flatMap((base) =>
    pathCalls.collections.map((collection) => `${base}/${collection}/:model{.+}`),
  );
}

/** What follows the collection says what is called of which model, and with the query how it is to be answered. */
function pathCall(c: EdgeContext, dialect: ClientDialect, options: EdgeAppOptions): Response {
  const named = c.req.param('model') ?? '';
  const asked = dialect.pathCalls?.dialectFor(named, (name) => c.req.query(name)) ?? null;
  if (asked !== null) return call(c, asked, c.req.param('tier') ?? null, options);
  return refuse(c, unknownPath(c.env.incoming, options.dialects), options);
}

function call(
  c: EdgeContext,
  dialect: ClientDialect,
  tierInPath: string | null,
  { dataPlane }: EdgeAppOptions,
): Response {
  const { incoming, outgoing } = c.env;
  dataPlane.answer({ incoming, outgoing, dialect }, tierInPath);
  return RESPONSE_ALREADY_SENT;
}

async function screen(
  c: EdgeContext,
  next: () => Promise<void>,
  options: EdgeAppOptions,
): Promise<Response | undefined> {
  const screening = options.guard.screen(c.env.incoming);
  if (!screening.isAllowed) {
    return isAdminPath(c.req.path)
      ? problemResponse({ status: 403, detail: screening.reason })
      : refuse(c, { status: 403, failureClass: 'forbidden', message: screening.reason }, options);
  }
  if (c.req.method === 'OPTIONS') {
    const headers = { ...screening.headers, ...options.guard.preflightHeaders(c.env.incoming) };
    return c.body(null, 204, headers);
  }
  await next();
  if (c.res === RESPONSE_ALREADY_SENT) return undefined;
  for (const [name, value] of Object.entries(screening.headers ?? {})) c.header(name, value);
  c.header('x-content-type-options', 'nosniff');
  if (options.mode() !== 'serving') c.header('connection', 'close');
  return undefined;
}

/** Through the raw response, like every data-plane answer; the screening's headers come along. */
function refuse(c: EdgeContext, refusal: Refusal, options: EdgeAppOptions): Response {
  const { incoming, outgoing } = c.env;
  const dialect = dialectOf(c, options.dialects);
  if (dialect === null) return problemResponse({ status: refusal.status, detail: refusal.message });
  const screening = options.guard.screen(incoming);
  const headers = screening.isAllowed ? screening.headers : null;
  options.dataPlane.refuse({ incoming, outgoing, dialect }, refusal, headers);
  return RESPONSE_ALREADY_SENT;
}

/** The dialect whose SDK calls the path, else the one that the request says it speaks, else the first. */
function dialectOf(c: EdgeContext, dialects: readonly ClientDialect[]): ClientDialect | null {
  const { path } = c.req;
  const { headers } = c.env.incoming;
  const own = dialects.find(
    ({ routes, modelListing, pathCalls }) =>
      routes.some(({ suffix }) => path.endsWith(`/${suffix}`)) ||
      (modelListing?.version !== undefined && path.includes(`/${modelListing.version}/models`)) ||
      (pathCalls?.dialectFor(path.slice(path.lastIndexOf('/') + 1), noQuery) ?? null) !== null,
  );
  const told = dialects.find(({ modelListing }) => modelListing?.isAskedFor(headers) === true);
  return own ?? told ?? dialects[0] ?? null;
}

function noQuery(): undefined {}

function mountHealth(app: Hono<EdgeEnvironment>, options: EdgeAppOptions): void {
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', (c) => {
    if (options.mode() !== 'serving') {
      return c.json({ status: 'unavailable', reasons: ['draining'] }, 503);
    }
    const { status, reasons } = options.readiness();
    return c.json({ status, reasons }, status === 'unavailable' ? 503 : 200);
  });
}

/** A path that is served, by another method: 405 that names it. */
function mountWrongMethods(app: Hono<EdgeEnvironment>, options: EdgeAppOptions): void {
  const methods = new Map<string, string>();
  for (const { method, path } of app.routes) {
    if (method === 'ALL' || isAdminPath(path)) continue;
    const other = methods.get(path);
    methods.set(path, other === undefined || other === method ? method : `${other}, ${method}`);
  }
  for (const [path, allow] of methods) {
    app.all(path, (c) =>
      refuse(
        c,
        {
          status: 405,
          failureClass: 'invalid_request',
          message: `This path takes ${allow}.`,
          headers: { allow },
        },
        options,
      ),
    );
  }
}

function isAdminPath(path: string): boolean {
  return path === '/admin' || path.startsWith('/admin/');
}

/** Node's request goes past Hono when it names a fast path; false = it does not. */
export function answerOnFastLane(
  exchange: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
  lane: ReadonlyMap<string, ClientDialect>,
  dataPlane: DataPlane,
): boolean {
  const { incoming } = exchange;
  if (incoming.method !== 'POST') return false;
  const dialect = lane.get(incoming.url ?? '');
  if (dialect === undefined) return false;
  dataPlane.answer({ ...exchange, dialect }, null);
  return true;
}
