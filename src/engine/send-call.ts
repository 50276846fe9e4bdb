/** Sends one request, with what proves who asks made for this very sending. */
import type { Result } from '../base/result.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import type { Authorize } from '../providers/credential.ts';
import type {
  SendOptions,
  Transport,
  TransportFailure,
  UpstreamRequest,
  UpstreamResponse,
} from '../transport/transport.ts';

export type SentCall =
  /** `proof` null: none was made for this sending. */
  | {
      readonly kind: 'response';
      readonly response: UpstreamResponse;
      readonly proof: Readonly<Record<string, string>> | null;
    }
  | { readonly kind: 'failed'; readonly failure: TransportFailure }
  /** Nothing was sent: the credential could not be had. */
  | { readonly kind: 'unauthorized'; readonly failure: AttemptFailure };

export const abortedFailure: TransportFailure = {
  kind: 'aborted',
  isConnectTimeout: false,
  isStaleSocket: false,
  code: 'ABORTED',
};

/** `authorize` null: `upstream` is complete. Aborted by the options' signal in both waits. */
export async function sendCall(
  call: { readonly upstream: UpstreamRequest; readonly authorize: Authorize | null },
  transport: Transport,
  options: SendOptions,
): Promise<SentCall> {
  let { upstream } = call;
  let proof: Readonly<Record<string, string>> | null = null;
  if (call.authorize !== null) {
    const made = await proofOf(upstream, call.authorize, options.signal);
    if (made === null) return { kind: 'failed', failure: abortedFailure };
    if (!made.ok) return { kind: 'unauthorized', failure: made.fault };
    proof = made.value;
    upstream = { ...upstream, headers: { ...upstream.headers, ...proof } };
  }
  const result = await transport.send(upstream, options);
  return result.ok
    ? { kind: 'response', response: result.value, proof }
    : { kind: 'failed', failure: result.fault };
}

/** Null: `signal` aborted first, whether or not what was waited for heeds it. */
function proofOf(
  upstream: UpstreamRequest,
  authorize: Authorize,
  signal: AbortSignal,
): Promise<Result<Readonly<Record<string, string>>, AttemptFailure> | null> {
  const aborted = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  return Promise.race([authorize(upstream, signal), aborted]);
}
