/** Access tokens for Google's cloud, by Google's own library, which is loaded only where one is wanted. */
import type { AuthClient, ExternalAccountClientOptions, gaxios } from 'google-auth-library';
import { systemClock } from '../base/clock.ts';
import {
  isJsonObject,
  type JsonObject,
  objectAt,
  parseJson,
  property,
  stringAt,
} from '../base/json.ts';
import { fail, type Result, success } from '../base/result.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import { credentialRefused, credentialUnavailable } from '../failure/attempt-failures.ts';
import type { Transport } from '../transport/transport.ts';
import { baseUrlFault } from './base-url.ts';
import type { FetchedToken } from './fresh-token.ts';
import { TokenRequest } from './token-request.ts';

const scopes = ['https://www.googleapis.com/auth/cloud-platform'];
/** Where the library asks, whatever the credentials say of it. */
const usualTokenUrl = 'https://oauth2.googleapis.com/token';
/** For a token whose end is not told. */
const unknownLifetimeMs = 5 * 60_000;

type Library = typeof import('google-auth-library');

/** Why a text is none of the credentials that are known here; null = it looks like one. */
export function googleCredentialsFault(text: string): string | null {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return 'it is no JSON document';
  const type = stringAt(parsed.value, 'type') ?? '';
  const wanted = Object.hasOwn(wantedFields, type) ? wantedFields[type] : undefined;
  if (wanted === undefined) return 'its type is not one that is known here';
  const missing = wanted.find((name) => property(parsed.value, name) === undefined);
  return missing === undefined ? null : `it has no ${missing}`;
}

const wantedFields: { readonly [type: string]: readonly string[] } = {
  service_account: ['client_email', 'private_key'],
  authorized_user: ['client_id', 'client_secret', 'refresh_token'],
  external_account: ['audience', 'subject_token_type', 'token_url', 'credential_source'],
  impersonated_service_account: ['service_account_impersonation_url', 'source_credentials'],
};

/** `credentials` is the text of a credentials file: a service account's key, or what `gcloud` made. */
export async function fetchGoogleToken(input: {
  readonly alias: string;
  readonly credentials: string;
  readonly transport: Transport;
  readonly signal: AbortSignal;
}): Promise<Result<FetchedToken, AttemptFailure>> {
  const { alias, signal } = input;
  const fault = googleCredentialsFault(input.credentials);
  if (fault !== null) return fail(credentialRefused(alias, fault));
  const parsed = parseJson(input.credentials);
  const json = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  const request = new TokenRequest(input.transport, signal);
  try {
    const library = await import('google-auth-library');
    const client = clientOf(json, library, transporterOf(request, library, json));
    if (client === null) return fail(credentialRefused(alias, 'it is incomplete or broken'));
    const { token } = await client.getAccessToken();
    if (typeof token !== 'string' || !/^[\x21-\x7e]{1,4096}$/.test(token)) {
      return fail(credentialUnavailable(alias, 'the answer of the token service holds none'));
    }
    const endsAtMs = client.credentials.expiry_date;
    // The library reads the wall clock itself.
    const lifetimeMs = endsAtMs ? endsAtMs - systemClock.wallMs() : unknownLifetimeMs;
    return success({ token, lifetimeMs });
  } catch (error) {
    return fail(failureOf(alias, request, error));
  }
}

function clientOf(
  json: JsonObject,
  library: Library,
  transporter: gaxios.Gaxios,
): AuthClient | null {
  const text = (name: string): string => stringAt(json, name) ?? '';
  switch (json['type']) {
    case 'service_account':
      return new library.JWT({
        email: text('client_email'),
        key: text('private_key'),
        keyId: text('private_key_id'),
        scopes,
        transporter,
      });
    case 'authorized_user':
      return new library.UserRefreshClient({
        clientId: text('client_id'),
        clientSecret: text('client_secret'),
        refreshToken: text('refresh_token'),
        transporter,
      });
    case 'external_account': {
      const options = { ...json, scopes, transporter } as unknown as ExternalAccountClientOptions;
      return library.ExternalAccountClient.fromJSON(options);
    }
    case 'impersonated_service_account': {
      const url = text('service_account_impersonation_url');
      const source = objectAt(json, 'source_credentials');
      const sourceClient = source === null ? null : clientOf(source, library, transporter);
      const targetPrincipal = /\/([^/]{1,256}):generateAccessToken$/.exec(url)?.[1];
      if (sourceClient === null || targetPrincipal === undefined) return null;
      return new library.Impersonated({
        sourceClient,
        targetPrincipal,
        targetScopes: scopes,
        transporter,
      });
    }
    default:
      return null;
  }
}

/** The library's requests go over our transport, once each: what is tried again is decided elsewhere. */
function transporterOf(
  request: TokenRequest,
  library: Library,
  credentials: JsonObject,
): gaxios.Gaxios {
  const named = stringAt(credentials, 'token_uri');
  const tokenUrl = named !== null && baseUrlFault(named) === null ? named : usualTokenUrl;
  return new library.gaxios.Gaxios({
    retryConfig: { retry: 0, noResponseRetries: 0, shouldRetry: () => false },
    fetchImplementation: (target, init = {}) => {
      const url = String(target instanceof Request ? target.url : target);
      const { body } = init;
      return request.send(url === usualTokenUrl ? tokenUrl : url, {
        method: init.method ?? 'GET',
        headers: new Headers(init.headers),
        body: typeof body === 'string' || body instanceof URLSearchParams ? String(body) : '',
      });
    },
  });
}

/** The words of the service may quote the credential: only its machine word is told. */
function failureOf(alias: string, request: TokenRequest, error: unknown): AttemptFailure {
  const { failure, status } = request;
  if (failure !== null) {
    const why = failure.kind === 'aborted' ? 'the token service is silent' : failure.code;
    return credentialUnavailable(alias, why);
  }
  if (status === null) return credentialRefused(alias, 'it is incomplete or broken');
  if (status >= 500 || status === 429 || status === 408 || status < 400) {
    return credentialUnavailable(alias, `the token service answered HTTP ${status}`);
  }
  const word = wordOf(error);
  return credentialRefused(alias, `the token service answered HTTP ${status}${word}`);
}

function wordOf(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const word = /^([a-z_]{3,40}): /.exec(message)?.[1];
  return word === undefined ? '' : ` (${word})`;
}
