/** A client of bare sockets: what arrives is what was sent, byte for byte, with how it ended. */
import { connect } from 'node:net';

export type RawReply = {
  /** Everything after the connection stood. */
  readonly bytes: Buffer;
  /** One entry per read. */
  readonly reads: readonly Buffer[];
  /** `end`: closed cleanly; `reset`: an error such as ECONNRESET; `refused`; `left`: we stopped waiting. */
  readonly end: 'end' | 'reset' | 'refused' | 'left';
};

export type RawOptions = {
  readonly headers?: { readonly [name: string]: string };
  readonly method?: string;
  /** Leave once what arrived makes this true. */
  readonly leaveWhen?: (text: string) => boolean;
  /** Leave when it aborts. */
  readonly signal?: AbortSignal;
  /** Close with RST instead of FIN when leaving. */
  readonly leavesWithReset?: boolean;
  /** Ask the server to keep the connection. */
  readonly keepsAlive?: boolean;
};

export function rawRequest(
  url: string,
  body: unknown,
  options: RawOptions = {},
): Promise<RawReply> {
  const { hostname, port, pathname, search } = new URL(url);
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const headers = {
    host: `${hostname}:${port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    connection: options.keepsAlive === true ? 'keep-alive' : 'close',
    ...options.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${options.method ?? 'POST'} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`;
  return new Promise((resolve) => {
    const reads: Buffer[] = [];
    const finish = (end: RawReply['end']): void =>
      resolve({ bytes: Buffer.concat(reads), reads, end });
    const socket = connect(Number(port), hostname, () => socket.write(head + text));
    const look = (): void => {
      if (options.leaveWhen?.(Buffer.concat(reads).toString('utf8')) === true) leave();
    };
    const leave = (): void => {
      finish('left');
      if (options.leavesWithReset === true) socket.resetAndDestroy();
      else socket.destroy();
    };
    options.signal?.addEventListener('abort', leave, { once: true });
    socket.on('connect', look);
    socket.on('data', (bytes) => {
      reads.push(bytes);
      look();
    });
    socket.on('end', () => finish('end'));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      finish(error.code === 'ECONNREFUSED' ? 'refused' : 'reset'),
    );
    socket.on('close', () => finish('end'));
  });
}

export type ParsedReply = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
  /** Whether the body came whole: its length, its final chunk, or a clean close without either. */
  readonly isComplete: boolean;
};

export function parseReply(bytes: Buffer): ParsedReply {
  const text = bytes.toString('latin1');
  const split = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, split).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const rest = bytes.subarray(split + 4);
  const status = Number(statusLine.split(' ')[1]);
  if (headers['transfer-encoding'] === 'chunked') return { status, headers, ...dechunk(rest) };
  const length = headers['content-length'];
  const isComplete = length === undefined || rest.length === Number(length);
  return { status, headers, body: rest, isComplete };
}

function dechunk(bytes: Buffer): { readonly body: Buffer; readonly isComplete: boolean } {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const line = bytes.indexOf('\r\n', at);
    const size =
      line < 0 ? Number.NaN : Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16);
    if (Number.isNaN(size)) return { body: Buffer.concat(parts), isComplete: false };
    if (size === 0) return { body: Buffer.concat(parts), isComplete: true };
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

/** The text of a reply's body. */
export function bodyText(reply: RawReply): string {
  return parseReply(reply.bytes).body.toString('utf8');
}

/** The JSON of each `data:` line that holds some. */
export function dataEvents(text: string): readonly unknown[] {
  return text
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}
