/** How credentials of Google's cloud prove who asks: a bearer token, kept for all requests of a key. */
import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { numberAt, parseJson, stringAt } from '../base/json.ts';
import { fail, success } from '../base/result.ts';
import { credentialUnavailable, unresolvedSecret } from '../failure/attempt-failures.ts';
import type { CredentialPorts, KeyProof } from './credential.ts';
import { type FetchToken, FreshToken } from './fresh-token.ts';
import { fetchGoogleToken } from './google-token.ts';
import type { ProviderKey } from './provider.ts';
import { TokenRequest } from './token-request.ts';

const scheme = 'Bearer ';

/** A 403 is no fault of the token. */
const tokenRefused = 401;

/** Of a credentials file. One that is changed is used from then on. */
export function googleProof(
  { alias, resolve }: Pick<ProviderKey, 'alias' | 'resolve'>,
  { clock, transport }: CredentialPorts,
): KeyProof {
  // The file's text is not kept, only what tells that it is another.
  let held: { readonly digest: string; readonly token: FreshToken } | null = null;
  const tokenOf = (credentials: string): FreshToken => {
    const digest = createHash('sha256').update(credentials).digest('base64');
    if (held?.digest !== digest) {
      const obtain: FetchToken = (signal) => {
        const current = resolve();
        return current === null
          ? Promise.resolve(fail(unresolvedSecret(alias)))
          : fetchGoogleToken({ alias, credentials: current, transport, signal });
      };
      held = { digest, token: new FreshToken(clock, obtain) };
    }
    return held.token;
  };
  return {
    authorize: async () => {
      const credentials = resolve();
      if (credentials === null) return fail(unresolvedSecret(alias));
      const token = await tokenOf(credentials).get();
      if (!token.ok) return token;
      return success({ authorization: scheme + token.value, ...projectHeader(credentials) });
    },
    renew: ({ authorization = '' }, { status }) =>
      status === tokenRefused && (held?.token.renew(authorization.slice(scheme.length)) ?? true),
  };
}

/** Whom the quota is counted for, where the file says so. */
function projectHeader(credentials: string): Readonly<Record<string, string>> {
  const parsed = parseJson(credentials);
  const project = parsed.ok ? stringAt(parsed.value, 'quota_project_id') : null;
  const isName = project !== null && /^[a-z0-9][a-z0-9.:-]{2,62}$/.test(project);
  return isName ? { 'x-goog-user-project': project } : {};
}

/** Answers on machines of that cloud alone, with the token of the machine's own account. */
const machineTokenUrl =
  'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token';
export const machineAlias = 'machine account';

export function googleMachineKey({ clock, transport }: CredentialPorts): ProviderKey {
  const token = machineToken(clock, transport);
  return {
    alias: machineAlias,
    resolve: () => machineAlias,
    authorize: async () => {
      const held = await token.get();
      return held.ok ? success({ authorization: scheme + held.value }) : held;
    },
    renew: ({ authorization = '' }, { status }) =>
      status === tokenRefused && token.renew(authorization.slice(scheme.length)),
  };
}

function machineToken(clock: Clock, transport: CredentialPorts['transport']): FreshToken {
  return new FreshToken(clock, async (signal) => {
    const request = new TokenRequest(transport, signal);
    const headers = new Headers({ 'metadata-flavor': 'Google' });
    try {
      const answer = await request.send(machineTokenUrl, { method: 'GET', headers, body: '' });
      const parsed = parseJson(await answer.text());
      const token = parsed.ok ? stringAt(parsed.value, 'access_token') : null;
      const seconds = parsed.ok ? secondsIn(parsed.value) : 0;
      if (answer.ok && token !== null) return success({ token, lifetimeMs: seconds * 1000 });
      return fail(
        credentialUnavailable(machineAlias, `the machine answered HTTP ${answer.status}`),
      );
    } catch {
      const code = request.failure?.code ?? 'no answer';
      return fail(
        credentialUnavailable(machineAlias, `this is no machine of that cloud (${code})`),
      );
    }
  });
}

function secondsIn(document: unknown): number {
  const seconds = numberAt(document, 'expires_in');
  return seconds === null || seconds < 0 ? 0 : seconds;
}
