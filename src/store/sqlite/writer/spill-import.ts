/** Reads a sealed spill file in portions and commits each. Runs in the writer thread. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { ServedColumns } from './row-codec.ts';
import type { RowWriter } from './row-writer.ts';
import { readSpillLine } from './spill-format.ts';
import type { ImportStep, Marker } from './writer-protocol.ts';

/** Bytes read at a time: a few hundred rows, so that batches of live rows get their turn between. */
const defaultPortionBytes = 256 * 1024;
const lineBreak = 0x0a;

/** Imports the whole lines of one portion from `offset` on. Rows already there are left as they are. */
export function importPortion(input: {
  readonly writer: RowWriter;
  readonly columns: ServedColumns;
  readonly path: string;
  readonly offset: number;
  /** Default 256 kB; longer than any line. */
  readonly portionBytes?: number;
}): ImportStep {
  const { bytes, isLast } = readPortion(input);
  const cut = bytes.lastIndexOf(lineBreak) + 1;
  /** No line is as long as a portion: what has no break in it is the torn rest of a failed write. */
  const isTorn = cut === 0 && bytes.length > 0;
  const whole = isTorn ? bytes.subarray(0, 0) : bytes.subarray(0, cut);
  const rest = isLast || isTorn ? bytes.length : cut;
  const rows: string[] = [];
  const left: Marker[] = [];
  let unreadable = isTorn || (isLast && cut < bytes.length) ? 1 : 0;
  for (const text of whole.toString('utf8').split('\n')) {
    if (text === '') continue;
    const read = readSpillLine(input.columns, text);
    if (read.kind === 'rows') rows.push(read.line);
    else if (read.kind === 'marker') left.push(read.marker);
    else unreadable += 1;
  }
  unreadable += input.writer.restore(rows, left).length;
  return { offset: input.offset + rest, isDone: isLast, unreadable };
}

function readPortion({
  path,
  offset,
  portionBytes = defaultPortionBytes,
}: {
  readonly path: string;
  readonly offset: number;
  readonly portionBytes?: number;
}): { readonly bytes: Buffer; readonly isLast: boolean } {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const wanted = Math.max(0, Math.min(portionBytes, size - offset));
    const bytes = Buffer.allocUnsafe(wanted);
    const read = readSync(file, bytes, 0, wanted, offset);
    return { bytes: bytes.subarray(0, read), isLast: offset + read >= size };
  } finally {
    closeSync(file);
  }
}
