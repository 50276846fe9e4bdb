/** Failures of attempts that got no answer to judge: each built in one place, with words of our own. */
import { unreachable } from '../base/unreachable.ts';
import type { AttemptFailure, ErrorClass } from './attempt-failure.ts';
import { redact } from './redact.ts';

function plain(errorClass: ErrorClass, rule: string, message: string): AttemptFailure {
  return {
    errorClass,
    connection: null,
    status: null,
    code: null,
    type: null,
    param: null,
    message: redact(message),
    hint: null,
    shouldRetry: null,
    upstreamRequestId: null,
    rule,
    tokens: null,
  };
}

/** The transport's own failure, as far as it is judged here. */
type BrokenTransport = {
  readonly kind: 'refused' | 'reset' | 'aborted';
  readonly isConnectTimeout: boolean;
  readonly code: string;
};

/**
 * `aborted` is our own doing, so the caller knows why: where its own clock fired it says so with
 * `classifyTimeout`; what is left is that the client has gone.
 */
export function classifyTransport(failure: BrokenTransport): AttemptFailure {
  const code = /^[\w.-]{1,64}$/.test(failure.code) ? failure.code : 'unknown';
  switch (failure.kind) {
    case 'refused': {
      const rule = failure.isConnectTimeout ? 'connect_timeout' : 'no_connection';
      const message = failure.isConnectTimeout
        ? 'no connection to the provider within the connect timeout'
        : `no connection to the provider (${code})`;
      return { ...plain('connection', rule, message), connection: 'refused', code };
    }
    case 'reset': {
      const message = `the connection to the provider broke (${code})`;
      return { ...plain('connection', 'connection_broke', message), connection: 'reset', code };
    }
    case 'aborted':
      return clientGone();
    default:
      return unreachable(failure.kind);
  }
}

export type AttemptClockName =
  | 'connect'
  | 'headers'
  | 'first_content'
  | 'idle'
  | 'whole'
  | 'deadline';

const silences = {
  headers: 'no response headers',
  first_content: 'no content',
  idle: 'no progress',
  whole: 'no complete answer',
  deadline: "no answer before the request's deadline",
} satisfies { readonly [name in Exclude<AttemptClockName, 'connect'>]: string };

/**
 * A clock of the attempt ran out after `afterMs`. `isContentSent`: content of this stream had come, so
 * that an idle clock is an interruption of the stream and no timeout.
 */
export function classifyTimeout(cut: {
  readonly clock: AttemptClockName;
  readonly afterMs: number;
  readonly isContentSent: boolean;
}): AttemptFailure {
  if (cut.clock === 'connect') {
    return classifyTransport({ kind: 'refused', isConnectTimeout: true, code: 'CONNECT_TIMEOUT' });
  }
  const seconds = (cut.afterMs / 1000).toFixed(1);
  const message =
    cut.clock === 'deadline'
      ? `${silences.deadline} (${seconds} s)`
      : `${silences[cut.clock]} from the provider for ${seconds} s`;
  const errorClass = cut.isContentSent && cut.clock === 'idle' ? 'stream_interrupted' : 'timeout';
  return plain(errorClass, `clock:${cut.clock}`, message);
}

/** The rule's name of a key that could not be read, so that its alert names the cause. */
export const unresolvedSecretRule = 'secret_unresolved';

/** The reference `alias` does not resolve, so nothing was sent; the provider's other keys may. */
export function unresolvedSecret(alias: string): AttemptFailure {
  return plain('auth', unresolvedSecretRule, `the secret ${alias} is not set`);
}

/** `alias` was not accepted where it is changed for a token, or is nothing that could be: `why` in a few words. */
export function credentialRefused(alias: string, why: string): AttemptFailure {
  return plain('auth', 'credential_refused', `the credential ${alias} cannot be used: ${why}`);
}

/** Where `alias` is changed for a token did not answer, so nothing could be sent: as good as no connection. */
export function credentialUnavailable(alias: string, why: string): AttemptFailure {
  const message = `no token could be had for the credential ${alias}: ${why}`;
  return { ...plain('connection', 'credential_unavailable', message), connection: 'refused' };
}

/** A fault of ours; `message` says what was impossible, for the operator. */
export function internalFailure(message: string): AttemptFailure {
  return plain('internal', 'internal', message);
}

/** What was thrown is a bug of ours: its words and where it was, for the operator alone. */
export function thrownFailure(error: unknown): AttemptFailure {
  if (!(error instanceof Error)) return internalFailure(String(error));
  const where = /\n\s+(at .{1,200})/.exec(error.stack ?? '')?.[1];
  return internalFailure(where === undefined ? error.message : `${error.message} (${where})`);
}

export function clientGone(): AttemptFailure {
  return plain('client_gone', 'client_gone', 'the client left before the answer was complete');
}

/** A 200 that is no answer; `why` in a few words ("no choices"). `status` is the HTTP status. */
export function malformedResponse(why: string, status: number | null = 200): AttemptFailure {
  const message = `the provider's answer cannot be used: ${why}`;
  return { ...plain('malformed_response', 'malformed_response', message), status };
}

/** A stream that ended without its terminal event; `why` in a few words. */
export function streamInterrupted(why: string): AttemptFailure {
  return plain('stream_interrupted', 'stream_interrupted', `the stream broke off: ${why}`);
}
