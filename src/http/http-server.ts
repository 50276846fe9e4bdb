/** The HTTP edge: one node server, Hono for routing, a fast lane for model calls, and an orderly end. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { sleep } from '../base/clock.ts';
import { fail, type Result, success } from '../base/result.ts';
import { problemResponse } from './control/problem.ts';
import { DataPlane, type ServingMode } from './data/data-plane.ts';
import { LiveCalls } from './data/live-call.ts';
import { answerOnFastLane, createEdgeApp, fastLane } from './edge-app.ts';
import type {
  ArrivalLimits,
  DrainReport,
  HttpServer,
  HttpServerOptions,
  ListenFault,
} from './http-server-ports.ts';
import { createRequestGuard, isLoopbackName } from './request-guard.ts';

const stallMsDefault = 30_000;
/** After the last answer was handed over: how long it may take to reach the client. */
const lastBytesMs = 1000;
/** How often a drain looks whether work is left. */
const drainLookMs = 20;

const arrivalDefault: ArrivalLimits = { headMs: 20_000, wholeMs: 120_000, lookMs: 5_000 };

/** Idle connections outlive those of common clients and balancers (60 s), so that the client closes first. */
const keepAliveMs = 75_000;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  return new Edge(options);
}

class Edge implements HttpServer {
  readonly #options: HttpServerOptions;
  readonly #calls = new LiveCalls();
  readonly #dataPlane: DataPlane;
  readonly #server: Server;
  #mode: ServingMode = 'serving';
  /** Requests under way that went to Hono: a drain waits for them too. */
  #onHono = 0;
  #isLoopback = true;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    const guard = createRequestGuard({
      isLoopback: () => this.#isLoopback,
      origins: () => options.snapshot().server.cors,
    });
    const mode = (): ServingMode => this.#mode;
    this.#dataPlane = new DataPlane({
      pipeline: options.pipeline,
      access: options.access,
      guard,
      calls: this.#calls,
      clock: options.clock,
      log: options.log,
      stallMs: options.clientStallMs ?? stallMsDefault,
      bodyBytesMax: () => options.snapshot().server.bodyBytesMax,
      isOpen: () => this.#isLoopback && !options.access.hasCallKey(),
      mode,
    });
    const app = createEdgeApp({ ...options, dataPlane: this.#dataPlane, guard, mode });
    const { headMs, wholeMs, lookMs } = options.arrival ?? arrivalDefault;
    this.#server = createServer(
      {
        headersTimeout: headMs,
        requestTimeout: wholeMs,
        connectionsCheckingInterval: lookMs,
        keepAliveTimeout: keepAliveMs,
        maxHeaderSize: options.snapshot().server.headerBytesMax,
      },
      this.#listener(app.fetch),
    );
    this.#prepareServer();
  }

  #listener(fetchCallback: Parameters<typeof getRequestListener>[0]) {
    const lane = fastLane(this.#options.dialects);
    const onHono = getRequestListener(fetchCallback, {
      overrideGlobalObjects: false,
      autoCleanupIncoming: false,
      errorHandler: () => problemResponse({ status: 400, detail: 'The request cannot be read.' }),
    });
    return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
      // A client that leaves makes these emit; whoever works on the request hears of it by `close`.
      incoming.on('error', ignore);
      outgoing.on('error', ignore);
      if (answerOnFastLane({ incoming, outgoing }, lane, this.#dataPlane)) return;
      this.#onHono += 1;
      outgoing.on('close', () => {
        this.#onHono -= 1;
      });
      void onHono(incoming, outgoing);
    };
  }

  #prepareServer(): void {
    const server = this.#server;
    server.timeout = 0;
    // `100 Continue` is sent when the body is wanted, so a refused one is never sent.
    server.on('checkContinue', (incoming, outgoing) => server.emit('request', incoming, outgoing));
    server.on('clientError', answerUnreadable);
    server.on('connect', (_incoming: IncomingMessage, socket: Socket) => {
      socket.on('error', ignore);
      socket.end(`HTTP/1.1 405 Method Not Allowed\r\n${emptyTail}`);
    });
  }

  listen(address: {
    readonly host: string;
    readonly port: number;
  }): Promise<Result<{ readonly origin: string; readonly port: number }, ListenFault>> {
    this.#isLoopback = isLoopbackName(address.host);
    const server = this.#server;
    return new Promise((resolve) => {
      const onError = (error: NodeJS.ErrnoException): void => {
        server.off('listening', onListening);
        resolve(fail(listenFault(error, address)));
      };
      const onListening = (): void => {
        server.off('error', onError);
        server.on('error', (error) => {
          this.#options.log.error('the listener failed', { error: error.message });
        });
        const bound = server.address();
        const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
        resolve(success({ origin: `http://${localName(address.host)}:${port}`, port }));
      };
      server.once('error', onError);
      server.once('listening', onListening);
      server.listen({ host: address.host, port: address.port, backlog: 1024 });
    });
  }

  async drain(limits: {
    readonly delayMs: number;
    readonly timeoutMs: number;
  }): Promise<DrainReport> {
    const { clock, pipeline } = this.#options;
    const never = new AbortController().signal;
    this.#mode = 'draining';
    if (limits.delayMs > 0) await sleep(clock, limits.delayMs, never);
    this.#mode = 'stopped';
    this.#server.close();
    const isIdle = (): boolean =>
      this.#calls.size === 0 && this.#onHono === 0 && pipeline.inFlight() === 0;
    await this.#until(isIdle, limits.timeoutMs);
    const late = this.#calls.list().filter(({ outgoing }) => !outgoing.writableEnded);
    for (const call of late) this.#dataPlane.cut(call);
    // What was cut still writes its row and its last bytes.
    await this.#until(isIdle, lastBytesMs);
    this.#server.closeAllConnections();
    return { cut: late.length };
  }

  close(): Promise<void> {
    this.#mode = 'stopped';
    for (const call of this.#calls.list()) call.abort('shutdown');
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  /** Looks again and again until `isReached`, at most `forMs`; connections that idle are let go meanwhile. */
  async #until(isReached: () => boolean, forMs: number): Promise<void> {
    const { clock } = this.#options;
    const never = new AbortController().signal;
    const endMs = clock.monotonicMs() + forMs;
    this.#server.closeIdleConnections();
    while (!isReached() && clock.monotonicMs() < endMs) {
      await sleep(clock, Math.min(drainLookMs, endMs - clock.monotonicMs()), never);
      this.#server.closeIdleConnections();
    }
  }
}

const emptyTail = 'content-length: 0\r\nconnection: close\r\n\r\n';

function ignore(): void {}

/** Bytes that are no request, or one whose head is too large or too slow. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] = unreadable(error.code);
  const body = JSON.stringify({ error: { message, type: 'invalid_request', code: null } });
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  socket.on('error', ignore);
  socket.end(head + body, () => socket.destroy());
}

function unreadable(code: string | undefined): readonly [status: string, message: string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [
        '431 Request Header Fields Too Large',
        'The headers are larger than server.max_header.',
      ];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['408 Request Timeout', 'The request did not arrive in time.'];
    default:
      return ['400 Bad Request', 'This is no HTTP/1.1 request that the gateway can read.'];
  }
}

function listenFault(
  error: NodeJS.ErrnoException,
  { host, port }: { readonly host: string; readonly port: number },
): ListenFault {
  switch (error.code) {
    case 'EADDRINUSE':
      return { code: 'in_use', message: `port ${port} on ${host} is in use` };
    case 'EACCES':
      return { code: 'not_allowed', message: `this user may not listen on port ${port}` };
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return { code: 'no_such_address', message: `${host} is no address of this machine` };
    default:
      return {
        code: 'other',
        message: `cannot listen on ${host}:${port} (${error.code ?? 'error'})`,
      };
  }
}

/** How a client on this machine names the listener. */
function localName(host: string): string {
  if (host === '0.0.0.0' || host === '::' || host === '') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
