/** Builders of what a provider answered, for the tests of classification. */

import type { AttemptFailure } from '../../../src/failure/attempt-failure.ts';
import { classify, type FailedAnswer } from '../../../src/failure/classify.ts';
import type { ErrorFacts, ErrorRule, HintTable } from '../../../src/failure/error-rule.ts';

export const noHints: HintTable = { limits: [], bodyDelay: () => null };

/** 2026-01-01T00:00:00Z. */
export const nowWallMs = Date.UTC(2026, 0, 1);

export type Told = Partial<ErrorFacts> & {
  readonly headers?: Readonly<Record<string, string>>;
  readonly rules?: readonly ErrorRule[];
  readonly operatorRules?: readonly ErrorRule[];
  readonly hints?: HintTable;
  /** A text body; without it the body is JSON. */
  readonly text?: string;
  readonly httpStatus?: number;
};

export function answerOf(told: Told): FailedAnswer {
  return {
    facts: {
      status: told.status ?? null,
      code: told.code ?? null,
      type: told.type ?? null,
      param: told.param ?? null,
      message: told.message ?? told.text ?? '',
      reasons: told.reasons ?? [],
      upstreamRequestId: told.upstreamRequestId ?? null,
      isKnownShape: told.isKnownShape ?? true,
    },
    headers: told.headers ?? {},
    isJson: told.text === undefined,
    body: told.text ?? { error: { message: told.message ?? '' } },
    rules: told.rules ?? [],
    operatorRules: told.operatorRules ?? [],
    hints: told.hints ?? noHints,
    nowWallMs,
    ...(told.httpStatus === undefined ? {} : { httpStatus: told.httpStatus }),
  };
}

export function classified(told: Told): AttemptFailure {
  return classify(answerOf(told));
}
