/** Where SDKs put their key. The same list is what is blanked before a request goes on. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

const keyHeaders = ['x-api-key', 'api-key', 'x-goog-api-key'] as const;
/** Longer ones are no keys of ours; hashing them would only cost. */
const secretLengthMax = 512;

/** Every credential in the headers, in no order that matters: any valid one counts. */
export function headerCredentials(incoming: IncomingMessage): string[] {
  const { headers } = incoming;
  const found: string[] = [];
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) found.push(bearer);
  for (const name of keyHeaders) {
    const value = headers[name];
    if (typeof value === 'string') found.push(value.trim());
  }
  return found.filter(isPossible);
}

/** Those in the headers and in `?key=`, which the data plane alone takes. */
export function presentedCredentials(incoming: IncomingMessage): string[] {
  const found = headerCredentials(incoming);
  const query = queryOf(incoming.url);
  if (query?.includes('key=') === true) {
    const keys = new URLSearchParams(query).getAll('key');
    found.push(...keys.slice(0, 4).filter(isPossible));
  }
  return found;
}

function isPossible(secret: string): boolean {
  return secret.length > 0 && secret.length <= secretLengthMax;
}

/** Takes the credentials out of `headers`: nothing behind the edge sees a client's key. */
export function blankCredentials(headers: IncomingHttpHeaders): void {
  if (headers.authorization !== undefined) headers.authorization = undefined;
  if (headers['proxy-authorization'] !== undefined) headers['proxy-authorization'] = undefined;
  for (const name of keyHeaders) {
    if (headers[name] !== undefined) headers[name] = undefined;
  }
}

function queryOf(url: string | undefined): string | null {
  const start = url?.indexOf('?') ?? -1;
  return url === undefined || start === -1 ? null : url.slice(start + 1);
}
