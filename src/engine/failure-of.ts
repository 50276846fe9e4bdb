/** Turns what befell an attempt into its failure: transport, clock, error document, broken stream. */
import { parseJson } from '../base/json.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import {
  classify,
  classifyTimeout,
  classifyTransport,
  malformedResponse,
  streamInterrupted,
  unresolvedSecret,
} from '../failure/classify.ts';
import { effectOf } from '../failure/effects.ts';
import type { Provider } from '../providers/provider.ts';
import type { Target } from '../routing/snapshot.ts';
import type { TransportFailure, UpstreamResponse } from '../transport/transport.ts';
import type { Alert } from './alerts.ts';
import type { Break } from './attempt-stream.ts';
import type { ClockName } from './body-reader.ts';

export function failureOfTransport(failure: TransportFailure): AttemptFailure {
  return classifyTransport(failure);
}

export function failureOfClock(clock: ClockName): AttemptFailure {
  return classifyTimeout(clock);
}

export function malformed(why: string): AttemptFailure {
  return malformedResponse(why);
}

export function unresolvedKey(alias: string): AttemptFailure {
  return unresolvedSecret(alias);
}

/** The failure of a non-2xx answer. `bytes` is its body, possibly cut. */
export function failureOfResponse(
  provider: Provider,
  response: UpstreamResponse,
  bytes: Buffer,
  nowWallMs: number,
): AttemptFailure {
  const text = bytes.toString('utf8');
  const parsed = parseJson(text);
  return classified(provider, {
    status: response.status,
    headers: response.headers,
    body: parsed.ok ? parsed.value : text,
    isJson: parsed.ok,
    nowWallMs,
  });
}

export type BreakInput = {
  readonly provider: Provider;
  readonly cause: Break;
  /** Of the response whose body broke. */
  readonly headers: Readonly<Record<string, string>>;
  readonly nowWallMs: number;
  /** Whether the client had seen some of it. */
  readonly isCommitted: boolean;
};

export function failureOfBreak(input: BreakInput): AttemptFailure {
  const { cause, isCommitted } = input;
  switch (cause.why) {
    case 'error_event':
      return classified(input.provider, {
        status: cause.status,
        headers: input.headers,
        body: cause.body,
        isJson: typeof cause.body !== 'string',
        nowWallMs: input.nowWallMs,
      });
    case 'malformed':
      return malformedResponse('a second event of the stream could not be read');
    case 'no_finish':
      return streamInterrupted('the stream ended without its finish');
    case 'transport':
      return isCommitted
        ? streamInterrupted('the connection broke before the finish')
        : classifyTransport(cause.failure);
    case 'clock':
      return isCommitted ? streamInterrupted(silence(cause.clock)) : classifyTimeout(cause.clock);
  }
}

function silence(clock: ClockName): string {
  return clock === 'whole'
    ? 'the stream lasted longer than it may'
    : 'the stream fell silent before its finish';
}

function classified(
  provider: Provider,
  answer: {
    readonly status: number | null;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
    readonly isJson: boolean;
    readonly nowWallMs: number;
  },
): AttemptFailure {
  const { dialect, operatorRules } = provider;
  return classify({
    ...answer,
    facts: dialect.readError(answer),
    rules: dialect.rules,
    operatorRules,
    hints: dialect.hints,
  });
}

/** Whom a failure wakes, if anyone: a refused key, an empty account, an unknown model. */
export function alertOf(
  failure: AttemptFailure,
  target: Target,
  keyAlias: string | null,
  requestId: string,
): Alert | null {
  const { alert } = effectOf(failure);
  if (alert === null) return null;
  const subject = alert === 'model_not_found' ? target.id : (keyAlias ?? target.provider.name);
  return {
    kind: alert,
    subject,
    message: `${target.id}: ${failure.message}`,
    requestId,
  };
}
