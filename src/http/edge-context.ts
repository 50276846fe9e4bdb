/** What Hono's handlers share: node's own request and response, and who is asking. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'hono';
import type { Principal } from '../admin/access.ts';

export type EdgeEnvironment = {
  Bindings: { incoming: IncomingMessage; outgoing: ServerResponse };
  Variables: { principal: Principal };
};

export type EdgeContext = Context<EdgeEnvironment>;
