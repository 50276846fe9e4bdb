/** Lets in who holds the scope: the control plane always wants a key. */
import type { MiddlewareHandler } from 'hono';
import { type Access, isAllowed, type Scope } from '../../admin/access.ts';
import { headerCredentials } from '../credentials.ts';
import type { EdgeEnvironment } from '../edge-context.ts';
import { problemResponse } from './problem.ts';

/** 401 without a key that exists, 403 with one that may not; the same words whatever the path. */
export function requireScope(access: Access, scope: Scope): MiddlewareHandler<EdgeEnvironment> {
  return async (c, next) => {
    const presented = headerCredentials(c.env.incoming);
    const principal = presented.length === 0 ? null : access.identify(presented);
    if (principal === null) {
      return problemResponse({
        status: 401,
        detail: `This route wants a key with scope "${scope}": send it as Authorization: Bearer KEY. The admin key made at the first start is in DATA/admin.key.`,
        headers: { 'www-authenticate': 'Bearer' },
      });
    }
    if (!isAllowed(principal, scope)) {
      return problemResponse({ status: 403, detail: `This key lacks the scope "${scope}".` });
    }
    c.set('principal', principal);
    return next();
  };
}
