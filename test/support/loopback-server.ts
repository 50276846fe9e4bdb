/** A raw TCP or HTTP server on loopback for one test; closes with everything that hangs on it. */
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createNetServer, type Server, type Socket } from 'node:net';

export type LoopbackServer = {
  readonly origin: string;
  readonly sockets: ReadonlySet<Socket>;
  readonly close: () => Promise<void>;
};

export function startHttp(listener: RequestListener): Promise<LoopbackServer> {
  return started(createHttpServer(listener));
}

export function startTcp(onSocket: (socket: Socket) => void): Promise<LoopbackServer> {
  return started(createNetServer(onSocket));
}

async function started(server: Server): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    origin: `http://127.0.0.1:${port}`,
    sockets,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
