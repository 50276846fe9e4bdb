/** A listening HTTP server that counts its sockets, can go down and come back, and closes completely. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { CancelTimer, Clock } from '../base/clock.ts';
import type { Log } from '../base/log-port.ts';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

export type ProviderServerOptions = {
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly handle: RequestHandler;
  /** How long a connection stays after an answer; null = as long as the client wants. */
  readonly idleCloseMs: () => number | null;
};

export type ProviderServer = {
  readonly port: number;
  readonly origin: string;
  readonly openSockets: () => number;
  /** Refuses connections and drops those that stand; false opens the same port again. */
  readonly setDown: (isDown: boolean) => void;
  /** Resolves when every socket is gone. */
  readonly close: () => Promise<void>;
};

const listenAgainMs = 200;

/** Rejects when the port cannot be had. */
export async function openProviderServer(options: ProviderServerOptions): Promise<ProviderServer> {
  const { host, clock, log } = options;
  const sockets = new Set<Socket>();
  const idle = idleCloser(options);
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    idle.watch(request.socket, response);
    options.handle(request, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  server.on('clientError', (_, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  let isDown = false;
  let isClosed = false;
  let cancelListen: CancelTimer = () => undefined;
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const listenAgain = (): void => {
    if (!isClosed && !isDown) server.listen(port, host);
  };
  server.on('error', (error) => {
    log.error('a simulated provider cannot open its port again', { port, error: error.message });
    cancelListen = clock.schedule(listenAgainMs, listenAgain);
  });
  return {
    port,
    origin: `http://${shownHost(host)}:${port}`,
    openSockets: () => sockets.size,
    setDown: (wanted) => {
      if (wanted === isDown || isClosed) return;
      isDown = wanted;
      cancelListen();
      if (!wanted) listenAgain();
      else {
        server.close();
        destroyAll();
      }
    },
    close: async () => {
      isClosed = true;
      cancelListen();
      idle.stop();
      const gone = [...sockets].map(
        (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
      );
      const closed = new Promise<void>((resolve) => {
        if (server.listening) server.close(() => resolve());
        else resolve();
      });
      destroyAll();
      await Promise.all([closed, ...gone]);
    },
  };
}

function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

type IdleCloser = {
  readonly watch: (socket: Socket, response: ServerResponse) => void;
  readonly stop: () => void;
};

/** Closes a connection some time after its last answer, as servers with a short keep-alive do. */
function idleCloser({ clock, idleCloseMs }: ProviderServerOptions): IdleCloser {
  const timers = new Map<Socket, CancelTimer>();
  const cancel = (socket: Socket): void => {
    timers.get(socket)?.();
    timers.delete(socket);
  };
  return {
    stop: () => {
      for (const socket of timers.keys()) cancel(socket);
    },
    watch: (socket, response) => {
      cancel(socket);
      const afterMs = idleCloseMs();
      if (afterMs === null) return;
      response.once('finish', () => {
        timers.set(
          socket,
          clock.schedule(afterMs, () => {
            timers.delete(socket);
            socket.destroy();
          }),
        );
      });
      response.once('close', () => {
        if (socket.destroyed) cancel(socket);
      });
    },
  };
}
