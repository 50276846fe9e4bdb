import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openLoadConnection, requestBytes } from '../../../bench/load-connection.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Answers each request with these pieces, one write each in a turn of its own; null closes. */
function answering(pieces: readonly (string | null)[]): Promise<number> {
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('data', async () => {
      for (const piece of pieces) {
        await new Promise((resolve) => setImmediate(resolve));
        if (piece === null) socket.destroy();
        else socket.write(piece);
      }
    });
  });
  servers.push(server);
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

const request = requestBytes({ host: 'localhost', path: '/x', headers: { a: 'b' }, body: 'äö' });

async function exchangeTwice(pieces: readonly (string | null)[]) {
  const connection = openLoadConnection(await answering(pieces), request);
  const exchanges = [await connection.exchange(), await connection.exchange()];
  connection.close();
  return exchanges;
}

describe('a load connection', () => {
  it('sends a request whose length counts bytes', () => {
    expect(request.toString()).toBe(
      'POST /x HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 4\r\na: b\r\n\r\näö',
    );
  });

  it('reads an answer of a known length, however it is cut', async () => {
    const pieces = ['HTTP/1.1 200 OK\r\nContent-', 'Length: 5\r\n\r', '\nab', 'cde'];
    const exchange = { bytes: 5, failure: null };
    expect(await exchangeTwice(pieces)).toEqual([exchange, exchange]);
  });

  it('reads a chunked answer to its last chunk, however that is cut', async () => {
    const pieces = [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0',
      '\r\n',
      '\r\n',
    ];
    const exchange = { bytes: 13, failure: null };
    expect(await exchangeTwice(pieces)).toEqual([exchange, exchange]);
  });

  it('says the status when it is no 200', async () => {
    const pieces = ['HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n'];
    const [first, second] = await exchangeTwice(pieces);
    expect(first?.failure).toBe('status 503');
    expect(second?.failure).toBe('status 503');
  });

  it('says when the answer broke off, and connects again', async () => {
    const [first, second] = await exchangeTwice([
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab',
      null,
    ]);
    expect(first?.failure).toMatch(/closed before the end/);
    expect(second?.failure).toMatch(/closed before the end/);
  });
});
