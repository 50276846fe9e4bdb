/** One data-plane request from its first byte to its last: admit, read, ask the pipeline, write. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Access, isAllowed } from '../../admin/access.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log-port.ts';
import type { ClientDialect } from '../../dialects/dialect.ts';
import type { Answer, Pipeline } from '../../pipeline/answer.ts';
import { blankCredentials, presentedCredentials } from '../credentials.ts';
import type { RequestGuard, Screening } from '../request-guard.ts';
import { type BodyFault, readBody } from './body-reader.ts';
import { encodeRefusal, type Refusal } from './edge-refusal.ts';
import type { LiveCall, LiveCalls } from './live-call.ts';
import { writeWhole } from './whole-writer.ts';
import { writeStream } from './write-stream.ts';

/** How long the rest of a refused body is read and thrown away, so that the client gets to read the answer. */
const discardMsMax = 2000;

export type ServingMode = 'serving' | 'draining' | 'stopped';

export type DataPlaneOptions = {
  readonly pipeline: Pipeline;
  readonly access: Access;
  readonly guard: RequestGuard;
  readonly calls: LiveCalls;
  readonly clock: Clock;
  readonly log: Log;
  readonly stallMs: number;
  readonly bodyBytesMax: () => number;
  /** Whether the data plane takes any credential or none. */
  readonly isOpen: () => boolean;
  readonly mode: () => ServingMode;
};

export type Exchange = {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly dialect: ClientDialect;
};

export type Admission = { readonly keyId: string | null };

type Headers = Readonly<Record<string, string>>;

export class DataPlane {
  readonly #options: DataPlaneOptions;

  constructor(options: DataPlaneOptions) {
    this.#options = options;
  }

  /** Answers by itself, through the raw response; never throws. */
  answer(exchange: Exchange, tierInPath: string | null): void {
    const { clock, guard, calls } = this.#options;
    const { incoming, outgoing, dialect } = exchange;
    const arrivedAtMs = clock.monotonicMs();
    const screening = guard.screen(incoming);
    const extraHeaders = screening.isAllowed ? screening.headers : null;
    const admission = this.#entry(incoming, screening);
    if ('status' in admission) {
      this.refuse(exchange, admission, extraHeaders);
      return;
    }
    blankCredentials(incoming.headers);
    const call = calls.open(outgoing, dialect);
    const run = { exchange, tierInPath, arrivedAtMs, call, keyId: admission.keyId };
    void this.#run(run, extraHeaders);
  }

  #entry(incoming: IncomingMessage, screening: Screening): Admission | Refusal {
    if (!screening.isAllowed) return forbidden(screening.reason);
    return this.#options.mode() === 'stopped' ? shuttingDown : this.admit(incoming);
  }

  /** The key behind the credentials, null where none is asked for; else why not. */
  admit(incoming: IncomingMessage): Admission | Refusal {
    if (this.#options.isOpen()) return { keyId: null };
    const principal = this.#options.access.identify(presentedCredentials(incoming));
    if (principal === null) return unauthenticated;
    return isAllowed(principal, 'call') ? { keyId: principal.keyId } : forbidden(noCallScope);
  }

  /** An error in the client's dialect; what is unread of the body is thrown away. */
  refuse(exchange: Exchange, refusal: Refusal, extraHeaders: Headers | null): void {
    const { incoming, outgoing, dialect } = exchange;
    const wallMs = this.#options.clock.wallMs();
    const { headers, body } = encodeRefusal(refusal, dialect, {
      headers: incoming.headers,
      wallMs,
    });
    writeWhole(
      outgoing,
      { status: refusal.status, headers, body },
      { ...this.#writing, extraHeaders: this.#withConnection(extraHeaders) },
    );
    this.#discardRest(incoming);
  }

  /** The process ends: the client is told, in its stream or by a status, and the work is stopped. */
  cut(call: LiveCall): void {
    const { outgoing, dialect } = call;
    call.abort('shutdown');
    if (outgoing.writableEnded || outgoing.destroyed) return;
    if (outgoing.headersSent) this.#endStream(call, shutDownInStream);
    else this.refuse({ incoming: outgoing.req, outgoing, dialect }, shuttingDown, null);
  }

  get #writing() {
    return { clock: this.#options.clock, stallMs: this.#options.stallMs };
  }

  async #run(
    run: {
      readonly exchange: Exchange;
      readonly tierInPath: string | null;
      readonly arrivedAtMs: number;
      readonly call: LiveCall;
      readonly keyId: string | null;
    },
    extraHeaders: Headers | null,
  ): Promise<void> {
    const { exchange, call, tierInPath, arrivedAtMs, keyId } = run;
    const { incoming, outgoing, dialect } = exchange;
    try {
      const body = await readBody(incoming, outgoing, this.#options.bodyBytesMax());
      if (!body.ok) return this.#refuseBody(exchange, body.fault, extraHeaders);
      const answer = await this.#options.pipeline.answer({
        dialect,
        tierInPath,
        // Node joins repeated headers; only `set-cookie`, which no client sends, would be a list.
        headers: incoming.headers as Readonly<Record<string, string | undefined>>,
        body: body.value,
        arrivedAtMs,
        signal: call.signal,
        keyId,
      });
      await this.#write(call, answer, extraHeaders);
    } catch (error) {
      this.#fail(exchange, call, error);
    }
  }

  #refuseBody(exchange: Exchange, fault: BodyFault, extraHeaders: Headers | null): void {
    if (fault === 'aborted') {
      exchange.outgoing.destroy();
      return;
    }
    const refusal = fault === 'encoded' ? encodedBody : bodyTooLarge(this.#options.bodyBytesMax());
    this.refuse(exchange, refusal, extraHeaders);
  }

  async #write(call: LiveCall, answer: Answer, extraHeaders: Headers | null): Promise<void> {
    const { outgoing } = call;
    switch (answer.kind) {
      case 'whole':
        return writeWhole(outgoing, answer, {
          ...this.#writing,
          extraHeaders: this.#withConnection(extraHeaders),
        });
      case 'stream':
        return this.#writeStream(call, answer, extraHeaders);
      case 'gone':
        // The pipeline saw the abort; an answer that was cut here is still on its way out.
        if (!outgoing.headersSent) outgoing.destroy();
        return;
    }
  }

  async #writeStream(
    call: LiveCall,
    answer: Extract<Answer, { kind: 'stream' }>,
    extraHeaders: Headers | null,
  ): Promise<void> {
    const { outgoing } = call;
    call.attach(answer);
    if (call.signal.aborted || outgoing.headersSent) return;
    const isWritten = await writeStream(outgoing, answer, {
      ...this.#writing,
      extraHeaders: this.#withConnection(extraHeaders),
    });
    if (isWritten) return;
    call.abort('client_gone');
    if (!outgoing.writableEnded) outgoing.destroy();
  }

  /** A fault of ours: nothing of it reaches the client but that it happened. */
  #fail(exchange: Exchange, call: LiveCall, error: unknown): void {
    const { outgoing } = exchange;
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#options.log.error('a request failed inside the gateway', { error: reason });
    call.abort('client_gone');
    if (outgoing.writableEnded || outgoing.destroyed) return;
    if (outgoing.headersSent) this.#endStream(call, internalInStream);
    else this.refuse(exchange, internalFault, null);
  }

  #endStream(call: LiveCall, { failureClass, status, message }: Refusal): void {
    const rejection = { failureClass, status, message, param: null, retryAfterMs: null };
    call.outgoing.end(call.failureBytes(rejection));
  }

  /** While the process drains, a connection ends with its answer, so that the client connects elsewhere. */
  #withConnection(headers: Headers | null): Headers | null {
    return this.#options.mode() === 'serving' ? headers : { ...headers, connection: 'close' };
  }

  /** Node reads on after the answer; a client that never ends its body is cut off. */
  #discardRest(incoming: IncomingMessage): void {
    if (incoming.complete || incoming.destroyed) return;
    const cancel = this.#options.clock.schedule(discardMsMax, () => incoming.socket.destroy());
    incoming.once('close', cancel);
    incoming.resume();
  }
}

const noCallScope =
  'This key may not call models: it lacks the scope "call". Use a client key of this gateway.';

const unauthenticated: Refusal = {
  status: 401,
  failureClass: 'unauthenticated',
  message:
    'The gateway wants a client key of its own and got none that it knows. Send it as your SDK sends its API key (Authorization: Bearer KEY).',
  headers: { 'www-authenticate': 'Bearer' },
};

const encodedBody: Refusal = {
  status: 415,
  failureClass: 'invalid_request',
  message: 'The body is compressed (content-encoding). Send it as plain JSON.',
};

const shuttingDown: Refusal = {
  status: 503,
  failureClass: 'no_target_available',
  message: 'The gateway is shutting down. Send the request again.',
  retryAfterMs: 1000,
};

const shutDownInStream: Refusal = {
  status: 503,
  failureClass: 'stream_interrupted',
  message: 'The gateway shut down before the answer was complete. Ask again.',
};

const internalFault: Refusal = {
  status: 500,
  failureClass: 'internal',
  message:
    'The gateway failed on this request; it is not your fault. Its operator finds it in the log.',
};

const internalInStream: Refusal = { ...internalFault, failureClass: 'stream_interrupted' };

function forbidden(message: string): Refusal {
  return { status: 403, failureClass: 'forbidden', message };
}

function bodyTooLarge(bytesMax: number): Refusal {
  return {
    status: 413,
    failureClass: 'body_too_large',
    message: `The body is larger than the gateway takes (${bytesMax} bytes, server.max_body). Send less, or files by reference.`,
  };
}
