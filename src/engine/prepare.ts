/** What goes to one target: the rendered variant, the encoded body, URL and headers. */
import { fail, type Result, success } from '../base/result.ts';
import type { EncodedCall } from '../dialects/dialect.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import type { ProviderKey } from '../providers/provider.ts';
import type { UpstreamRequest } from '../transport/transport.ts';
import type { CandidateState } from './candidate-state.ts';
import { unresolvedKey } from './failure-of.ts';
import type { RequestRun } from './request-run.ts';
import { upstreamCallOf } from './upstream-call.ts';

/** Null: this target cannot be asked (it is then spent, with its reason), decide again. */
export function prepareCall(run: RequestRun, candidate: CandidateState): EncodedCall | null {
  if (candidate.encoded !== null) return candidate.encoded;
  const { target } = candidate;
  const rendered = target.variant?.render(run.request.variables) ?? null;
  if (rendered !== null && !rendered.ok) {
    run.skipForPrompt(candidate, rendered.fault);
    return null;
  }
  const call = upstreamCallOf(run.request.chat, target, rendered?.value ?? null);
  const encoded = target.provider.dialect.encodeCall(call);
  if (!encoded.ok) {
    run.skipForFault(candidate, encoded.fault);
    return null;
  }
  candidate.encoded = encoded.value;
  return encoded.value;
}

/** `key` null: the provider wants none. The fault: its reference does not resolve. */
export function upstreamRequestOf(
  run: RequestRun,
  candidate: CandidateState,
  encoded: EncodedCall,
  key: ProviderKey | null,
): Result<UpstreamRequest, AttemptFailure> {
  const { provider, model } = candidate.target;
  const secret = key?.resolve() ?? null;
  if (key !== null && secret === null) return fail(unresolvedKey(key.alias));
  const { isStream } = run.request.chat;
  const headers = provider.headersFor({ secret, isStream });
  const { headers: client } = run.request;
  if (provider.dialect.name === run.request.clientDialect) {
    copyHeaders(client, provider.passedHeaders, headers);
  }
  copyHeaders(client, traceHeaders, headers);
  headers['x-client-request-id'] = run.request.clientRequestId;
  if (provider.takesIdempotencyKey) {
    headers['idempotency-key'] = `${run.request.id}-${candidate.target.id}`;
  }
  return success({ url: provider.urlFor({ model, isStream }), headers, body: encoded.body });
}

const traceHeaders = ['traceparent', 'tracestate'];

function copyHeaders(
  from: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
  to: Record<string, string>,
): void {
  for (const name of names) {
    const value = from[name];
    if (value !== undefined) to[name] = value;
  }
}
