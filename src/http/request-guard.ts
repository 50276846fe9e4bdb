/** Which browser requests are let in: `Host` against DNS rebinding, `Origin` against foreign pages, CORS for listed ones. */
import type { IncomingMessage } from 'node:http';

export type Screening =
  | { readonly isAllowed: true; readonly headers: Readonly<Record<string, string>> | null }
  | { readonly isAllowed: false; readonly reason: string };

export type RequestGuard = {
  /** Decides by `Host` and `Origin`; `headers` go on the answer. */
  readonly screen: (incoming: IncomingMessage) => Screening;
  /** The headers of an answer to `OPTIONS`, after `screen` allowed it. */
  readonly preflightHeaders: (incoming: IncomingMessage) => Record<string, string>;
};

export type GuardOptions = {
  /** Whether the listener is bound to loopback alone; asked per request. */
  readonly isLoopback: () => boolean;
  /** Origins that may call from a browser; `*` = any. Asked per request: the config changes. */
  readonly origins: () => readonly string[];
};

const allowed: Screening = { isAllowed: true, headers: null };
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

export function createRequestGuard(options: GuardOptions): RequestGuard {
  let lastGoodHost = '';
  const isHostAllowed = (host: string | undefined): boolean => {
    if (host === undefined || host === lastGoodHost || !options.isLoopback()) return true;
    if (!isLoopbackName(hostName(host))) return false;
    lastGoodHost = host;
    return true;
  };
  return {
    screen: (incoming) => {
      const { host, origin } = incoming.headers;
      if (!isHostAllowed(host)) {
        return {
          isAllowed: false,
          reason:
            'The Host header is not a loopback name, as it must be for a gateway that listens on loopback. Use http://127.0.0.1 or http://localhost as the base URL.',
        };
      }
      return origin === undefined ? allowed : screenOrigin(origin, host, options.origins());
    },
    preflightHeaders: (incoming) => preflightHeaders(incoming),
  };
}

function screenOrigin(
  origin: string,
  host: string | undefined,
  origins: readonly string[],
): Screening {
  if (origins.includes(origin) || origins.includes('*')) {
    const headers = {
      'access-control-allow-origin': origins.includes(origin) ? origin : '*',
      'access-control-expose-headers': '*',
      vary: 'Origin',
    };
    return { isAllowed: true, headers };
  }
  const isOwn = host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
  if (isOwn) return allowed;
  return {
    isAllowed: false,
    reason:
      'This Origin may not call the gateway. List it under server.cors in the configuration to let its pages in.',
  };
}

function preflightHeaders(incoming: IncomingMessage): Record<string, string> {
  const asked = incoming.headers['access-control-request-headers'];
  const headers: Record<string, string> = {
    'access-control-allow-methods': methods,
    'access-control-max-age': '600',
  };
  if (typeof asked === 'string' && /^[\w\-, ]{1,2048}$/.test(asked)) {
    headers['access-control-allow-headers'] = asked;
  }
  return headers;
}

/** `[::1]:8437` -> `[::1]`, `localhost:8437` -> `localhost`. */
function hostName(host: string): string {
  if (host.startsWith('[')) return host.slice(0, host.indexOf(']') + 1);
  const colon = host.indexOf(':');
  return colon === -1 ? host : host.slice(0, colon);
}

/** Whether `name` (an address or a host name) can only mean this machine. */
export function isLoopbackName(name: string): boolean {
  const lower = name.toLowerCase().replace(/\.$/, '');
  if (lower === 'localhost' || lower.endsWith('.localhost')) return true;
  if (lower === '[::1]' || lower === '::1') return true;
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(lower);
}
