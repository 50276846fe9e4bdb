/** The 404 of a path that nobody serves: names the base URL to set in each SDK. */
import type { IncomingMessage } from 'node:http';
import type { ClientDialect } from '../dialects/dialect.ts';
import type { Refusal } from './data/edge-refusal.ts';

export function unknownPath(
  incoming: IncomingMessage,
  dialects: readonly ClientDialect[],
): Refusal {
  const origin = `http://${safeHost(incoming.headers.host)}`;
  const bases = dialects.map((dialect) => `${dialect.name}: ${dialect.baseUrl(origin)}`);
  return {
    status: 404,
    failureClass: 'invalid_request',
    message: `Nothing is served at this path. Set the base URL of your SDK: ${bases.join('; ')}. The tiers are listed at GET ${origin}/v1/models.`,
  };
}

/** What the client called us, when it can stand in a message. */
function safeHost(host: string | undefined): string {
  return host !== undefined && /^[\w.:[\]-]{1,255}$/.test(host) ? host : '127.0.0.1';
}
