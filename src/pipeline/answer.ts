/** What `http` gives to the pipeline and gets back. The pipeline encodes; `http` only writes. */
import type { ClientDialect } from '../dialects/dialect.ts';
import type { Rejection } from './rejection.ts';

/** `shutdown`: the process ends and the time to finish is up; the client is still there and is told by `http`. */
export type AbortReason = 'client_gone' | 'shutdown';

export type Call = {
  readonly dialect: ClientDialect;
  /** The tier named in the path, or null: then the body's `model` names it. */
  readonly tierInPath: string | null;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** Monotonic ms. */
  readonly arrivedAtMs: number;
  /** Aborts when the answer can no longer be given; its `reason` is an `AbortReason`. */
  readonly signal: AbortSignal;
  readonly keyId: string | null;
};

/** What shows between two chunks of a stream that it lives, and says nothing. */
export type KeepAlive = {
  readonly bytes: string;
  /** Due after so long in which nothing was written. */
  readonly everyMs: number;
  /** Due with the head as well: it may be long until the first chunk. */
  readonly isEarly: boolean;
};

/** Headers in order; a name occurs once. */
export type AnswerHeaders = Record<string, string>;

export type Answer =
  /** Success or error, its row already durable (or counted). */
  | {
      readonly kind: 'whole';
      readonly status: number;
      readonly headers: AnswerHeaders;
      readonly body: Buffer | string;
    }
  /**
   * A committed stream: 200. Pull, write, wait for drain, pull again. The row is durable before the
   * terminator is given out. `return()` (client gone) cancels upstream and writes the row.
   */
  | {
      readonly kind: 'stream';
      readonly headers: AnswerHeaders;
      /** Each is whole events: anything may be written between two of them. */
      readonly chunks: AsyncGenerator<Buffer | string, void, undefined>;
      readonly keepAlive: KeepAlive;
      /** What tells the client that its stream ends here, when it is ended from outside. */
      readonly fail: (rejection: Rejection) => string;
    }
  /** The client left before anything was sent; nothing to write. */
  | { readonly kind: 'gone' };

export type Pipeline = {
  readonly answer: (call: Call) => Promise<Answer>;
  /** Requests under way. */
  readonly inFlight: () => number;
};
