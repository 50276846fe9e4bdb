/** `/admin/v1/served`: who really answered, as pages of rows or one row with its attempts. */
import type { Hono } from 'hono';
import { parseServedQuery } from '../../admin/served-filter.ts';
import { toCsv, toJsonLines } from '../../admin/served-format.ts';
import type { ServedPage, ServedQuery } from '../../served-by/served-query.ts';
import type { EdgeContext, EdgeEnvironment } from '../edge-context.ts';
import { problemResponse } from './problem.ts';
import { unknownParameters } from './query-parameters.ts';

export function mountServedRoutes(app: Hono<EdgeEnvironment>, served: ServedQuery): void {
  app.get('/served', (c) => {
    const query = parseServedQuery(c.req.queries());
    if (!query.ok) {
      const detail = 'A query parameter is wrong.';
      return problemResponse({ status: 400, detail, errors: query.fault });
    }
    const page = served.page(query.value);
    if (page !== null) return encodePage(c, page);
    const errors = [{ path: 'cursor', message: 'not a cursor of this log' }];
    return problemResponse({ status: 400, detail: 'A query parameter is wrong.', errors });
  });
  app.get('/served/:id', (c) => {
    const refused = unknownParameters(c, []);
    if (refused !== null) return problemResponse(refused);
    const row = served.byId(c.req.param('id'));
    return row === null
      ? problemResponse({ status: 404, detail: 'There is no such row.' })
      : c.json(row);
  });
}

/** By `Accept`; the cursor of the next page stands in a header where the form has no place for it. */
function encodePage(c: EdgeContext, page: ServedPage): Response {
  const accept = c.req.header('accept') ?? '';
  const cursor: Record<string, string> =
    page.nextCursor === null ? {} : { 'x-tiergate-next-cursor': page.nextCursor };
  if (accept.includes('text/csv')) {
    return c.body(toCsv(page.rows), 200, { 'content-type': 'text/csv; charset=utf-8', ...cursor });
  }
  if (accept.includes('application/x-ndjson')) {
    return c.body(toJsonLines(page.rows), 200, {
      'content-type': 'application/x-ndjson',
      ...cursor,
    });
  }
  return c.json({ data: page.rows, next_cursor: page.nextCursor });
}
