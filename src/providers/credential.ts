/** Credentials that are more than a key in a header: requests that are signed, tokens that are fetched. */
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { Result } from '../base/result.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import type { Transport, UpstreamRequest } from '../transport/transport.ts';
import type { ProviderKey } from './provider.ts';
import type { SecretResolver } from './secrets.ts';

/**
 * The headers that prove who asks, made for `request` as it is about to be sent: once for every sending.
 * They come over those that it has. Throws nothing; the fault says why there is no proof. What it waits
 * for ends with `signal`, which its caller does not wait beyond.
 */
export type Authorize = (
  request: UpstreamRequest,
  signal: AbortSignal,
) => Promise<Result<Readonly<Record<string, string>>, AttemptFailure>>;

/** What credentials are made with. */
export type CredentialPorts = { readonly clock: Clock; readonly transport: Transport };

/** How a key proves who asks, and whether it may once more after it was refused. */
export type KeyProof = Required<Pick<ProviderKey, 'authorize' | 'renew'>>;

/** The credentials that a document's entry describes in its kind's own fields, in the order of use. */
export type CredentialsOf = (
  input: {
    readonly own: JsonObject;
    readonly resolveSecret: SecretResolver;
  } & CredentialPorts,
) => readonly ProviderKey[];
