/** `REDIS_URL`, read and checked. Who shows it shows `shown`: the address alone. */
import { fail, type Result, success } from '../../base/result.ts';

export type RedisAddress = {
  /** With user and password: for the client library, never for a line. */
  readonly url: string;
  /** `host:port/database`. */
  readonly shown: string;
  /** What must not stand in any line. */
  readonly secrets: readonly string[];
};

const form = 'redis://[user:password@]host[:port][/database], or rediss:// for TLS';

/** The fault says what is wrong and quotes nothing. */
export function readRedisAddress(text: string): Result<RedisAddress, string> {
  const url = URL.parse(text);
  if (url === null || !['redis:', 'rediss:'].includes(url.protocol) || url.hostname === '') {
    return fail(`is no address of the form ${form}`);
  }
  const database = /^\/?(\d{0,5})$/.exec(url.pathname)?.[1];
  if (database === undefined) return fail('names a database that is no number');
  if (url.search !== '' || url.hash !== '') return fail(`has more than ${form}`);
  const password = decoded(url.password);
  if (password === null || decoded(url.username) === null) {
    return fail('has a user or password that is not percent-encoded rightly');
  }
  return success({
    url: text,
    shown: `${url.hostname}:${url.port || '6379'}/${database || '0'}`,
    secrets: [text, url.password, password].filter((secret) => secret !== ''),
  });
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
