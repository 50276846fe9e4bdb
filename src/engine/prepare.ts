/** What goes to one target: the rendered variant, the encoded body, URL and headers. */
import { fail, type Result, success } from '../base/result.ts';
import type { EncodedCall, RequestFault, SystemSplice, UpstreamCall } from '../dialects/dialect.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import { unresolvedSecret } from '../failure/attempt-failures.ts';
import type { ProviderKey } from '../providers/provider.ts';
import type { Target } from '../routing/snapshot.ts';
import type { UpstreamRequest } from '../transport/transport.ts';
import type { CandidateState } from './candidate-state.ts';
import { restCall } from './continuation/rest-call.ts';
import type { EngineRequest } from './engine-request.ts';
import { type Account, isSameAccount, type Origin } from './origins.ts';
import type { RequestRun } from './request-run.ts';
import { upstreamCallOf, usualModelOf } from './upstream-call.ts';

/** Null: this target cannot be asked (it is then spent, with its reason), decide again. */
export function prepareCall(run: RequestRun, candidate: CandidateState): EncodedCall | null {
  if (run.isContinuing) return prepareRest(run, candidate);
  const keyAlias = candidate.pickKey()?.alias ?? null;
  const isOfKey = run.request.origins === undefined || candidate.encodedFor === keyAlias;
  if (candidate.encoded !== null && isOfKey) return candidate.encoded;
  const written = writeCall(run.request, candidate.target, keyAlias);
  switch (written.kind) {
    case 'prompt':
      run.skipForPrompt(candidate, written.fault);
      return null;
    case 'translation':
      run.skipForFault(candidate, written.fault);
      return null;
    case 'written':
      candidate.encoded = written.encoded;
      candidate.encodedFor = keyAlias;
      return written.encoded;
  }
}

/** What asks for the rest of the answer that was sent so far. */
function prepareRest(run: RequestRun, candidate: CandidateState): EncodedCall | null {
  const rest = run.continuation?.requestFor(candidate) ?? null;
  if (rest === null) {
    run.skipForPrompt(candidate, 'the words that ask for the rest of an answer');
    return null;
  }
  const request = { ...run.request, chat: rest.chat };
  const keyAlias = candidate.pickKey()?.alias ?? null;
  const written = writeCall(request, candidate.target, keyAlias, (call) => restCall(call, rest));
  if (written.kind === 'written') return written.encoded;
  candidate.isSpent = true;
  return null;
}

export type WrittenCall =
  | {
      readonly kind: 'written';
      readonly encoded: EncodedCall;
      /** The variant's words, as put around the caller's own. */
      readonly system: SystemSplice | null;
    }
  /** The variant cannot be rendered: a fault of ours. */
  | { readonly kind: 'prompt'; readonly fault: string }
  /** The target's dialect cannot carry what the client sent. */
  | { readonly kind: 'translation'; readonly fault: RequestFault };

/** What `target` would be sent with the key of that alias, or why it cannot be. `change` has the last word. */
export function writeCall(
  request: Pick<
    EngineRequest,
    'chat' | 'variables' | 'tier' | 'pin' | 'account' | 'origins' | 'clientDialect' | 'headers'
  >,
  target: Target,
  keyAlias: string | null,
  change: (call: UpstreamCall) => UpstreamCall = (call) => call,
): WrittenCall {
  const rendered = target.variant?.render(request.variables) ?? null;
  if (rendered !== null && !rendered.ok) return { kind: 'prompt', fault: rendered.fault };
  const { dialect, name: provider } = target.provider;
  const usualModel = usualModelOf(request, target);
  const isOwn = dialect.name === request.clientDialect;
  const call: UpstreamCall = {
    ...upstreamCallOf(request.chat, target, rendered?.value ?? null, usualModel),
    ...itemsAt({ provider, keyAlias }, request.origins),
    ...(isOwn ? { clientHeaders: request.headers } : {}),
  };
  const encoded = dialect.encodeCall(change(call));
  if (!encoded.ok) return { kind: 'translation', fault: encoded.fault };
  return { kind: 'written', encoded: encoded.value, system: call.system };
}

/** What of the ids in a request means something to `account`. */
function itemsAt(
  account: Account,
  origins: ReadonlyMap<string, Origin> | undefined,
): Pick<UpstreamCall, 'items'> {
  if (origins === undefined) return {};
  const isMadeHere = (id: string): boolean | null => {
    const origin = origins.get(id);
    return origin === undefined ? null : isSameAccount(origin, account);
  };
  return {
    items: {
      isKeptHere: (id) => isMadeHere(id) === true && origins.get(id)?.isKept === true,
      isMadeElsewhere: (id) => isMadeHere(id) === false,
    },
  };
}

/**
 * `patienceMs`: how long the attempt may take at most. `key` null: the provider wants none. A key with its own way to authorize is shown when the call is
 * sent, not here, and says by itself what it lacks. The fault: its reference does not resolve.
 */
export function upstreamRequestOf(
  run: RequestRun,
  candidate: CandidateState,
  encoded: EncodedCall,
  { key, patienceMs }: { readonly key: ProviderKey | null; readonly patienceMs: number },
): Result<UpstreamRequest, AttemptFailure> {
  const { provider, model } = candidate.target;
  const isShown = key !== null && key.authorize === undefined;
  const secret = isShown ? key.resolve() : null;
  if (isShown && secret === null) return fail(unresolvedSecret(key.alias));
  const { isStream } = run.request.chat;
  const headers = provider.headersFor({ secret, isStream });
  const { headers: client } = run.request;
  if (provider.dialect.name === run.request.clientDialect) {
    copyHeaders(client, provider.passedHeaders, headers);
  }
  copyHeaders(client, traceHeaders, headers);
  headers['x-client-request-id'] = run.request.clientRequestId;
  // The first content of a stream is due by then, and not all of it.
  if (provider.deadlineHeader !== undefined && !isStream) {
    headers[provider.deadlineHeader] ??= String(Math.max(1, Math.ceil(patienceMs / 1000)));
  }
  if (provider.takesIdempotencyKey) {
    // What asks for the rest is another request, and each time a longer one.
    const rest = run.isContinuing ? `-${run.records.length}` : '';
    headers['idempotency-key'] = `${run.request.id}-${candidate.target.id}${rest}`;
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
