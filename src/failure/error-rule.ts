/** Classification as data: one table of rules per dialect, read top to bottom, the first match counts. */
import type { ErrorClass } from './attempt-failure.ts';

/** What a dialect reads out of an error document. Absent = null; never throws on odd shapes. */
export type ErrorFacts = {
  /** The HTTP status, or for an error inside a 200 the number it states, else null. */
  readonly status: number | null;
  readonly code: string | null;
  readonly type: string | null;
  readonly param: string | null;
  readonly message: string;
  /** Other machine words: a status word, a reason, a quota id. */
  readonly reasons: readonly string[];
  readonly upstreamRequestId: string | null;
  /** Whether an error document was recognised (an unknown one is counted by shape). */
  readonly isKnownShape: boolean;
};

/** Every given condition must hold; an empty rule matches anything. Strings compare exactly, patterns anywhere. */
export type ErrorRule = {
  readonly name: string;
  readonly status?: readonly number[];
  readonly code?: readonly string[] | RegExp;
  readonly type?: readonly string[] | RegExp;
  readonly reason?: readonly string[] | RegExp;
  readonly message?: RegExp;
  readonly errorClass: ErrorClass;
  /** Set by operators: overrides what the class says about asking the same target again. */
  readonly retry?: boolean | null;
};

/** Where a dialect's providers say when a limit resets. Header names in lower case. */
export type LimitHeader = {
  readonly remaining: string;
  readonly reset: string;
  readonly format: 'duration' | 'rfc3339' | 'epoch_seconds';
};

export type HintTable = {
  readonly limits: readonly LimitHeader[];
  /** A delay inside the error document such as "34.4s", or null. */
  readonly bodyDelay: (body: unknown) => string | null;
};
