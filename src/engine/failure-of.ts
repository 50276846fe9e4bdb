/** Turns what befell an attempt into its failure: transport, clock, error document, broken stream. */
import { parseJson } from '../base/json.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import {
  type AttemptClockName,
  classifyTimeout,
  classifyTransport,
  malformedResponse,
  streamInterrupted,
  thrownFailure,
} from '../failure/attempt-failures.ts';
import { classify } from '../failure/classify.ts';
import { effectOf } from '../failure/effects.ts';
import type { UnknownShapes } from '../failure/unknown-shapes.ts';
import type { Provider } from '../providers/provider.ts';
import type { Target } from '../routing/snapshot.ts';
import type { UpstreamResponse } from '../transport/transport.ts';
import type { Alert } from './alerts.ts';
import type { Break } from './attempt-stream.ts';
import type { ClockName } from './body-reader.ts';

/** Which clock of an attempt ran out, after how long. */
export function failureOfClock(clock: ClockName, afterMs: number): AttemptFailure {
  return classifyTimeout({ clock: attemptClock(clock), afterMs, isContentSent: false });
}

/** `hold` and `tail` end no attempt. */
function attemptClock(clock: ClockName): AttemptClockName {
  return clock === 'hold' || clock === 'tail' ? 'idle' : clock;
}

/** Whose tables judge an answer. */
export type Judge = Pick<Provider, 'dialect' | 'operatorRules'>;

export type ErrorResponse = {
  readonly provider: Judge;
  readonly response: Pick<UpstreamResponse, 'status' | 'headers'>;
  /** Its body, possibly cut. */
  readonly bytes: Buffer;
  readonly nowWallMs: number;
  /** Where shapes that no dialect knows are counted; absent = nowhere. */
  readonly unknownShapes?: UnknownShapes | undefined;
};

/** The failure of a non-2xx answer. */
export function failureOfResponse(input: ErrorResponse): AttemptFailure {
  const { provider, response, bytes, nowWallMs, unknownShapes } = input;
  const text = bytes.toString('utf8');
  const parsed = parseJson(text);
  return classified(provider, {
    status: response.status,
    headers: response.headers,
    body: parsed.ok ? parsed.value : text,
    isJson: parsed.ok,
    nowWallMs,
    unknownShapes,
  });
}

export type BreakInput = {
  readonly provider: Judge;
  readonly cause: Break;
  /** Of the response whose body broke. */
  readonly headers: Readonly<Record<string, string>>;
  readonly nowWallMs: number;
  /** Since the attempt's start. */
  readonly afterMs: number;
  /** Whether the client had seen some of it. */
  readonly isCommitted: boolean;
  readonly unknownShapes?: UnknownShapes | undefined;
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
        httpStatus: 200,
        unknownShapes: input.unknownShapes,
      });
    case 'malformed':
      return malformedResponse('a second event of the stream could not be read');
    case 'too_large':
      return malformedResponse('the stream is larger than any answer');
    case 'slow_client':
      return streamInterrupted('its time was over while the client still had to read it');
    case 'unjoinable':
      return streamInterrupted('the answer was begun anew instead of gone on with');
    case 'no_stream':
      return malformedResponse(foreignReply);
    case 'no_finish':
      return streamInterrupted('the stream ended without its finish');
    case 'thrown':
      return thrownFailure(cause.error);
    case 'transport':
      return isCommitted
        ? streamInterrupted('the connection broke before the finish')
        : classifyTransport(cause.failure);
    case 'clock':
      return isCommitted
        ? { ...streamInterrupted(silence(cause.clock)), rule: `clock:${cause.clock}` }
        : failureOfClock(cause.clock, input.afterMs);
  }
}

/** Why a 200 cannot be used that says nothing in its dialect. */
export const foreignReply = 'the reply is not one of its dialect';

/** A model that begins anew is no sick target, nor is one whose answer is read too slowly, or not by us. */
export function isFaultOfTarget({ why }: Break): boolean {
  return why !== 'unjoinable' && why !== 'slow_client' && why !== 'thrown';
}

function silence(clock: ClockName): string {
  return clock === 'whole'
    ? 'the stream lasted longer than it may'
    : 'the stream fell silent before its finish';
}

function classified(
  { dialect, operatorRules }: Judge,
  answer: {
    readonly status: number | null;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
    readonly isJson: boolean;
    readonly nowWallMs: number;
    /** Where it differs from what the error says of itself. */
    readonly httpStatus?: number;
    readonly unknownShapes: UnknownShapes | undefined;
  },
): AttemptFailure {
  const { unknownShapes, ...rest } = answer;
  return classify({
    ...rest,
    ...(unknownShapes === undefined ? {} : { unknownShapes }),
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
  const isOfTarget = alert === 'model_not_found' || alert === 'internal_error';
  const subject = isOfTarget ? target.id : (keyAlias ?? target.provider.name);
  return {
    kind: alert,
    subject,
    message: `${target.id}: ${failure.message}`,
    requestId,
    target: target.id,
  };
}
