/** The data-plane requests under way: who is told when a client leaves or the process ends. */
import type { ServerResponse } from 'node:http';
import type { ClientDialect } from '../../dialects/dialect.ts';
import type { AbortReason, Answer } from '../../pipeline/answer.ts';
import type { Rejection } from '../../pipeline/rejection.ts';

type Stream = Pick<Extract<Answer, { kind: 'stream' }>, 'chunks' | 'fail'>;

/** One request under way. */
export class LiveCall {
  readonly outgoing: ServerResponse;
  readonly dialect: ClientDialect;
  readonly #controller = new AbortController();
  #stream: Stream | null = null;

  constructor(outgoing: ServerResponse, dialect: ClientDialect) {
    this.outgoing = outgoing;
    this.dialect = dialect;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on `stream` is ended by `abort`; at once when that has happened. */
  attach(stream: Stream): void {
    this.#stream = stream;
    if (this.signal.aborted) void endChunks(stream);
  }

  /** What tells the client of a stream that it ends here. */
  failureBytes(rejection: Rejection): string {
    return this.#stream?.fail(rejection) ?? '';
  }

  /** Stops the work on this call, in this tick; the first reason counts. */
  abort(reason: AbortReason): void {
    this.#controller.abort(reason);
    if (this.#stream !== null) void endChunks(this.#stream);
  }
}

/** Ends the generator; a fault in doing so has been met, or will be, by whoever pulls. */
async function endChunks({ chunks }: Stream): Promise<void> {
  try {
    await chunks.return();
  } catch {
    // The puller gets the same fault from its own call and logs it.
  }
}

/** The calls under way. A call leaves by itself when its response closes. */
export class LiveCalls {
  readonly #calls = new Set<LiveCall>();

  get size(): number {
    return this.#calls.size;
  }

  /** Listens from now on: the signal aborts in the tick in which the response closes unfinished. */
  open(outgoing: ServerResponse, dialect: ClientDialect): LiveCall {
    const call = new LiveCall(outgoing, dialect);
    this.#calls.add(call);
    outgoing.on('close', () => {
      this.#calls.delete(call);
      if (!outgoing.writableFinished) call.abort('client_gone');
    });
    return call;
  }

  list(): readonly LiveCall[] {
    return [...this.#calls];
  }
}
