/** The transport over undici pools: one per origin and connect timeout, without any timer, retry or redirect of its own. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { fail, type Result, success } from '../base/result.ts';
import { BodyQueue, type BodySource } from './body-queue.ts';
import { type ContentDecoder, decoderFor } from './content-decoding.ts';
import type {
  SendOptions,
  Transport,
  TransportFailure,
  UpstreamRequest,
  UpstreamResponse,
} from './transport.ts';

/**
 * The engine's clocks bound an attempt; undici's own body and headers timers would undercut a longer
 * configured value, so they are off.
 */
export const poolOptions = { headersTimeout: 0, bodyTimeout: 0, pipelining: 1, connections: null };

/** What a connection had lived through when the request under way was written to it. */
type SentOn = { readonly requests: number; readonly bytesRead: number };

const sentOn = new WeakMap<Socket, SentOn>();
/** Of connections that had served before, and on which nothing came for the request under way. */
const staleErrors = new WeakSet<Error>();
/** Of connections that never stood: nothing was sent, so nothing can have happened at the provider. */
const connectErrors = new WeakSet<Error>();
/** undici tells here, and nowhere else, on which connection it writes a request. */
const sendChannel = 'undici:client:sendHeaders';

function noteSend(message: unknown): void {
  const { socket } = message as { readonly socket: Socket };
  const requests = (sentOn.get(socket)?.requests ?? 0) + 1;
  sentOn.set(socket, { requests, bytesRead: socket.bytesRead });
}

function noteStaleErrors(socket: Socket): void {
  socket.prependListener('error', (error) => {
    const sent = sentOn.get(socket);
    const isStale = sent !== undefined && sent.requests > 1 && socket.bytesRead === sent.bytesRead;
    if (isStale) staleErrors.add(error);
  });
}

export function createUndiciTransport(): Transport {
  subscribe(sendChannel, noteSend);
  const pools = new Map<string, Pool>();
  const poolFor = (origin: string, connectTimeoutMs: number): Pool => {
    const key = `${connectTimeoutMs} ${origin}`;
    const known = pools.get(key);
    if (known !== undefined) return known;
    const made = new Pool(origin, { ...poolOptions, connect: connectorFor(connectTimeoutMs) });
    pools.set(key, made);
    return made;
  };
  return {
    send: (request, options) => {
      const { origin, path } = splitUrl(request.url);
      return send(poolFor(origin, options.connectTimeoutMs), path, request, options);
    },
    close: async () => {
      unsubscribe(sendChannel, noteSend);
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}

/** undici reads 0 as "no timeout"; here 0 means 0, so the shortest timer stands in for it. */
function connectorFor(connectTimeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: Math.max(1, connectTimeoutMs) });
  return (options, callback) =>
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error === null) noteStaleErrors(socket);
      else connectErrors.add(error);
      callback(...result);
    });
}

/** Much cheaper than `new URL` on the hot path; the URL was checked when the config was. */
function splitUrl(url: string): { readonly origin: string; readonly path: string } {
  const slash = url.indexOf('/', url.indexOf('://') + 3);
  if (slash === -1) return { origin: url, path: '/' };
  return { origin: url.slice(0, slash), path: url.slice(slash) };
}

function send(
  pool: Pool,
  path: string,
  request: UpstreamRequest,
  options: SendOptions,
): Promise<Result<UpstreamResponse, TransportFailure>> {
  return new Promise((resolve) => {
    const exchange = new Exchange(options.signal, resolve);
    if (exchange.isAborted) return;
    const { method = 'POST', headers } = request;
    const body = method === 'GET' ? null : request.body;
    pool.dispatch({ path, method, headers, body }, exchange);
  });
}

/** One request and its answer: turns undici's callbacks into a value and a body that is pulled. */
class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | null = null;
  #settle: ((result: Result<UpstreamResponse, TransportFailure>) => void) | null;
  readonly #signal: AbortSignal;
  readonly #body: BodyQueue;
  #decoder: ContentDecoder | null = null;
  readonly #socket: BodySource = {
    pause: () => this.#controller?.pause(),
    resume: () => this.#controller?.resume(),
  };

  constructor(
    signal: AbortSignal,
    settle: (result: Result<UpstreamResponse, TransportFailure>) => void,
  ) {
    this.#signal = signal;
    this.#settle = settle;
    this.#body = new BodyQueue({
      pause: () => (this.#decoder ?? this.#socket).pause(),
      resume: () => (this.#decoder ?? this.#socket).resume(),
    });
    if (signal.aborted) this.#abort();
    else signal.addEventListener('abort', this.#abort, { once: true });
  }

  get isAborted(): boolean {
    return this.#settle === null;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.isAborted) controller.abort(new Error('aborted'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    const flat = flatten(headers);
    this.#decoder = decoderFor(flat['content-encoding'], this.#body, this.#socket, () => {
      this.#detach();
      controller.abort(new Error('undecodable'));
    });
    if (this.#decoder !== null) {
      delete flat['content-encoding'];
      delete flat['content-length'];
    }
    this.#finish(
      success({
        status,
        headers: flat,
        read: () => this.#body.read(),
        cancel: () => {
          this.#detach();
          this.#body.fail(abortedFailure);
          this.#decoder?.close();
          controller.abort(new Error('cancelled'));
        },
      }),
    );
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#decoder === null) this.#body.push(chunk);
    else this.#decoder.write(chunk);
  }

  onResponseEnd(): void {
    this.#detach();
    if (this.#decoder === null) this.#body.end();
    else this.#decoder.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const isStarted = this.isAborted;
    this.#detach();
    const failure = failureOf(error, isStarted);
    this.#body.fail(failure);
    this.#decoder?.close();
    this.#finish(fail(failure));
  }

  readonly #abort = (): void => {
    this.#detach();
    this.#body.fail(abortedFailure);
    this.#decoder?.close();
    this.#finish(fail(abortedFailure));
    this.#controller?.abort(new Error('aborted'));
  };

  #finish(result: Result<UpstreamResponse, TransportFailure>): void {
    const settle = this.#settle;
    this.#settle = null;
    settle?.(result);
  }

  #detach(): void {
    this.#signal.removeEventListener('abort', this.#abort);
  }
}

const abortedFailure: TransportFailure = {
  kind: 'aborted',
  isConnectTimeout: false,
  isStaleSocket: false,
  code: 'ABORTED',
};

function flatten(headers: IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return flat;
}

function failureOf(error: Error, isStarted: boolean): TransportFailure {
  const code = codeOf(error);
  if (connectErrors.has(error)) {
    return {
      kind: 'refused',
      isConnectTimeout: code === 'UND_ERR_CONNECT_TIMEOUT',
      isStaleSocket: false,
      code,
    };
  }
  const isStaleSocket = !isStarted && staleErrors.has(error);
  return { kind: 'reset', isConnectTimeout: false, isStaleSocket, code };
}

function codeOf(error: Error): string {
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code)) return code;
  if (error instanceof AggregateError && error.errors[0] instanceof Error)
    return codeOf(error.errors[0]);
  return 'UNKNOWN';
}
