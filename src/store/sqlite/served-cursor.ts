/** Where a page ended, as an opaque text. */

/** Rows are ordered by start, those of one millisecond by insertion. */
export type Position = { readonly startedAtMs: number; readonly seq: number };

const form = /^1\.(\d{1,16})\.(\d{1,16})$/;

export function encodeCursor({ startedAtMs, seq }: Position): string {
  return Buffer.from(`1.${startedAtMs}.${seq}`).toString('base64url');
}

/** Null for a text that `encodeCursor` did not make. */
export function decodeCursor(text: string): Position | null {
  if (text.length > 100) return null;
  const read = form.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (read === null) return null;
  return { startedAtMs: Number(read[1]), seq: Number(read[2]) };
}
