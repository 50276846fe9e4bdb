/** Credentials never leave the simulator: what a request carried is shown without them. */
import { createHash } from 'node:crypto';

const secretHeaders = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'x-amz-security-token',
  'cookie',
]);

export type HeaderValues = { readonly [name: string]: string | readonly string[] };

/** The headers with the value of each credential replaced by its length and a short hash. */
export function maskHeaders(headers: HeaderValues): HeaderValues {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secretHeaders.has(name.toLowerCase()) ? maskSecret(String(value)) : value,
    ]),
  );
}

/** The path with a `key=` parameter masked. */
export function maskPath(path: string): string {
  return path.replace(
    /([?&](?:key|api_key|access_token)=)([^&#]+)/gi,
    (_, name: string, secret: string) => {
      const isMasked = /^%3C\d+%20characters%2C%20sha256%20[0-9a-f]{8}%3E$/.test(secret);
      return `${name}${isMasked ? secret : encodeURIComponent(maskSecret(secret))}`;
    },
  );
}

function maskSecret(value: string): string {
  const scheme = /^(Bearer|Basic) /i.exec(value)?.[0] ?? '';
  const secret = value.slice(scheme.length);
  if (/^<\d+ characters, sha256 [0-9a-f]{8}>$/.test(secret)) return value;
  const digest = createHash('sha256').update(secret).digest('hex').slice(0, 8);
  return `${scheme}<${secret.length} characters, sha256 ${digest}>`;
}
