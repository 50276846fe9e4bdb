/** The port through which bytes reach a provider. Failures are values; nothing here retries or follows a redirect. */
import type { Result } from '../base/result.ts';

export type UpstreamRequest = {
  /** Absent = POST. */
  readonly method?: 'GET';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
};

/** `refused`: no connection stood (DNS, refused, TLS, connect timeout). `reset`: it broke. `aborted`: our signal. */
export type TransportFailure = {
  readonly kind: 'refused' | 'reset' | 'aborted';
  readonly isConnectTimeout: boolean;
  /** The socket had served an earlier request and no byte of an answer came: safe to ask again once. */
  readonly isStaleSocket: boolean;
  /** A short machine code such as ECONNREFUSED; never an address. */
  readonly code: string;
};

export type BodyChunk =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly failure: TransportFailure };

/** The body is read by pulling: not reading slows the provider down. Read to `end`/`failed`, or `cancel`. */
export type UpstreamResponse = {
  readonly status: number;
  /** Lower-case names; repeated ones joined with ', '. */
  readonly headers: Readonly<Record<string, string>>;
  readonly read: () => Promise<BodyChunk>;
  readonly cancel: () => void;
};

export type SendOptions = { readonly signal: AbortSignal; readonly connectTimeoutMs: number };

export type Transport = {
  readonly send: (
    request: UpstreamRequest,
    options: SendOptions,
  ) => Promise<Result<UpstreamResponse, TransportFailure>>;
  readonly close: () => Promise<void>;
};
