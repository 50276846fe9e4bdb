/** The data-plane requests under way: who is told when a client leaves or the process ends. */
import type { ServerResponse } from 'node:http';
import type { ClientDialect } from '../../dialects/dialect.ts';
import type { AbortReason } from '../../pipeline/answer.ts';

type Chunks = AsyncGenerator<Buffer | string, void, undefined>;

/** One request under way. */
export class LiveCall {
  readonly outgoing: ServerResponse;
  readonly dialect: ClientDialect;
  readonly #controller = new AbortController();
  #chunks: Chunks | null = null;

  constructor(outgoing: ServerResponse, dialect: ClientDialect) {
    this.outgoing = outgoing;
    this.dialect = dialect;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on `chunks` is ended by `abort`; at once when that has happened. */
  attach(chunks: Chunks): void {
    this.#chunks = chunks;
    if (this.signal.aborted) void endChunks(chunks);
  }

  /** Stops the work on this call, in this tick; the first reason counts. */
  abort(reason: AbortReason): void {
    this.#controller.abort(reason);
    if (this.#chunks !== null) void endChunks(this.#chunks);
  }
}

/** Ends the generator; a fault in doing so has been met, or will be, by whoever pulls. */
async function endChunks(chunks: Chunks): Promise<void> {
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
