/** The 404 of a path that nobody serves: names the base URL to set in each SDK, and what is served. */
import type { IncomingMessage } from 'node:http';
import type { ClientDialect } from '../dialects/dialect.ts';
import type { Refusal } from './data/edge-refusal.ts';

export function unknownPath(
  incoming: IncomingMessage,
  dialects: readonly ClientDialect[],
): Refusal {
  const origin = `http://${safeHost(incoming.headers.host)}`;
  const bases = new Set(dialects.map(({ sdk, baseUrl }) => `${sdk} ${baseUrl(origin)}`));
  const calls = dialects.flatMap(callsOf);
  const message = [
    'Nothing is served at this path.',
    `Base URLs: ${[...bases].join(', ')}.`,
    `Calls: ${calls.join(', ')}.`,
    `The tiers are listed at GET ${origin}/v1/models.`,
  ].join(' ');
  return { status: 404, failureClass: 'invalid_request', message };
}

function callsOf({ routes, pathCalls }: ClientDialect): readonly string[] {
  const [version] = pathCalls?.versions ?? [];
  const [collection] = pathCalls?.collections ?? [];
  return [
    ...routes.map(({ suffix }) => `/v1/${suffix}`),
    ...(pathCalls?.names ?? []).map((name) => `/${version}/${collection}/TIER:${name}`),
  ];
}

/** What the client called us, when it can stand in a message. */
function safeHost(host: string | undefined): string {
  return host !== undefined && /^[\w.:[\]-]{1,255}$/.test(host) ? host : '127.0.0.1';
}
