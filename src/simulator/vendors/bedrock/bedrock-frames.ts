/**
 * Messages of Bedrock's binary event stream, as text of one character a byte (latin1), which is how the
 * rest of the simulator carries them.
 */
import { crc32 } from 'node:zlib';

type Header = readonly [name: string, value: string];

export function eventFrame(type: string, payload: object): string {
  const headers: readonly Header[] = [
    [':event-type', type],
    [':content-type', 'application/json'],
    [':message-type', 'event'],
  ];
  return frame(headers, JSON.stringify(payload));
}

export function exceptionFrame(type: string, payload: object): string {
  const headers: readonly Header[] = [
    [':exception-type', type],
    [':content-type', 'application/json'],
    [':message-type', 'exception'],
  ];
  return frame(headers, JSON.stringify(payload));
}

function frame(headers: readonly Header[], payload: string): string {
  const head = Buffer.concat(headers.map(headerBytes));
  const body = Buffer.from(payload, 'utf8');
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(12 + head.length + body.length + 4, 0);
  prelude.writeUInt32BE(head.length, 4);
  const start = Buffer.concat([prelude, checksum(prelude), head, body]);
  return Buffer.concat([start, checksum(start)]).toString('latin1');
}

/** Type 7: a text with its length before it. */
function headerBytes([name, value]: Header): Buffer {
  const size = Buffer.alloc(3);
  size.writeUInt8(7, 0);
  size.writeUInt16BE(Buffer.byteLength(value), 1);
  return Buffer.concat([
    Buffer.from([Buffer.byteLength(name)]),
    Buffer.from(name),
    size,
    Buffer.from(value),
  ]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}

/** The same frame with its payload spoilt: its checksum tells. */
export function garbledFrame(framed: string): string {
  const at = framed.length - 6;
  return at < 12 ? framed : `${framed.slice(0, at)}#${framed.slice(at + 1)}`;
}
