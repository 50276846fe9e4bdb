/** One keep-alive connection that sends the same bytes again and again: far cheaper than what it measures. */
import { connect, type Socket } from 'node:net';

/** `failure` null: a 200 whose body came to its end. */
export type Exchange = { readonly bytes: number; readonly failure: string | null };

export type LoadConnection = {
  /** Sends the request and reads its answer; one at a time. */
  readonly exchange: () => Promise<Exchange>;
  readonly close: () => void;
};

/** The bytes of a POST over HTTP/1.1. */
export function requestBytes(input: {
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}): Buffer {
  const fields = Object.entries({
    host: input.host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(input.body)),
    ...input.headers,
  });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`POST ${input.path} HTTP/1.1\r\n${head}\r\n${input.body}`);
}

type Reading = { head: string; body: number; length: number | null; tail: string };

const chunkedEnd = '0\r\n\r\n';

/** Connects at the first exchange and again after the other side has closed. */
export function openLoadConnection(port: number, request: Buffer): LoadConnection {
  let socket: Socket | null = null;
  let reading: Reading = freshReading();
  let settle: ((exchange: Exchange) => void) | null = null;

  const finish = (failure: string | null): void => {
    const done = settle;
    settle = null;
    if (failure !== null) {
      socket?.destroy();
      socket = null;
    }
    done?.({ bytes: reading.body, failure });
  };

  const open = (): Socket => {
    const opened = connect({ port, host: '127.0.0.1', noDelay: true });
    // A socket that was given up may still report its end: that is none of the next exchange.
    const finishIfCurrent = (failure: string): void => {
      if (socket === opened) finish(failure);
    };
    opened.on('data', (bytes: Buffer) => {
      if (socket !== opened || settle === null || !read(reading, bytes)) return;
      const status = reading.head.slice(9, 12);
      finish(status === '200' ? null : `status ${status}`);
    });
    opened.on('error', (error) => finishIfCurrent(error.message));
    opened.on('close', () => finishIfCurrent('closed before the end of the answer'));
    return opened;
  };

  return {
    exchange: () =>
      new Promise((resolve) => {
        settle = resolve;
        reading = freshReading();
        socket ??= open();
        socket.write(request);
      }),
    close: () => {
      settle = null;
      socket?.destroy();
    },
  };
}

function freshReading(): Reading {
  return { head: '', body: 0, length: null, tail: '' };
}

/** Whether the answer is complete: by its length, or by the last chunk of a chunked body. */
function read(reading: Reading, bytes: Buffer): boolean {
  let rest = bytes;
  if (!reading.head.endsWith('\r\n\r\n')) {
    const text = reading.head + bytes.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end === -1) {
      reading.head = text;
      return false;
    }
    rest = bytes.subarray(end + 4 - reading.head.length);
    reading.head = text.slice(0, end + 4);
    const length = /\r\ncontent-length: *(\d+)/i.exec(reading.head)?.[1];
    reading.length = length === undefined ? null : Number(length);
  }
  reading.body += rest.length;
  if (reading.length !== null) return reading.body >= reading.length;
  const last = rest.subarray(Math.max(0, rest.length - chunkedEnd.length)).toString('latin1');
  reading.tail = (reading.tail + last).slice(-chunkedEnd.length);
  return reading.tail === chunkedEnd;
}
