/** A client that writes bytes on a socket and leaves as it likes: what no HTTP library lets a test do. */
import { connect, type Socket } from 'node:net';

export class RawClient {
  readonly socket: Socket;
  readonly #chunks: Buffer[] = [];
  #isClosed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#isClosed = true;
    });
  }

  static open(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      const client = new RawClient(socket);
      socket.once('connect', () => resolve(client));
      socket.once('error', reject);
    });
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('latin1');
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  write(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  /** A POST with `body`, headers given as lines. */
  post(body: string, headers: readonly string[] = [], path = '/v1/chat/completions'): void {
    this.write(
      [
        `POST ${path} HTTP/1.1`,
        'host: 127.0.0.1',
        'content-type: application/json',
        `content-length: ${Buffer.byteLength(body)}`,
        ...headers,
        '',
        body,
      ].join('\r\n'),
    );
  }

  /** Until the bytes received hold `part`. */
  async receives(part: string, withinMs = 5000): Promise<void> {
    await until(
      () => this.text.includes(part),
      withinMs,
      () => `no "${part}" in: ${this.text}`,
    );
  }

  async closes(withinMs = 5000): Promise<void> {
    await until(
      () => this.#isClosed,
      withinMs,
      () => 'the socket stayed open',
    );
  }
}

/** Looks until `isTrue`; fails with `otherwise` after `withinMs`. */
export async function until(
  isTrue: () => boolean,
  withinMs = 5000,
  otherwise: () => string = () => 'it did not happen in time',
): Promise<void> {
  const end = performance.now() + withinMs;
  while (!isTrue()) {
    if (performance.now() > end) throw new Error(otherwise());
    await pause(3);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
