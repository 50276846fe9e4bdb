/** Durations and sizes of the document: text with a unit, never a bare number. */

const millisecondsOf = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
} as const;

const bytesOf = {
  b: 1,
  kb: 1024,
  mb: 1024 ** 2,
  gb: 1024 ** 3,
  tb: 1024 ** 4,
} as const;

/** Forms that `durationMs` reads, for the document's JSON Schema. */
export const durationPattern = /^\d{1,9}(\.\d{1,3})?(ms|s|m|h|d)$/;
/** Forms that `sizeBytes` reads, for the document's JSON Schema. */
export const sizePattern = /^\d{1,12}(\.\d{1,3})?(b|kb|mb|gb|tb)$/;

/** `250ms`, `1.5s`, `5m`, `24h`, `90d` in whole milliseconds; null when it is none of these forms. */
export function durationMs(text: string): number | null {
  if (!durationPattern.test(text)) return null;
  const unit = /[a-z]+$/.exec(text)?.[0] as keyof typeof millisecondsOf;
  return Math.round(Number.parseFloat(text) * millisecondsOf[unit]);
}

/** `512b`, `32kb`, `10mb`, `1gb` in whole bytes (1 kb = 1024 b); null when it is none of these forms. */
export function sizeBytes(text: string): number | null {
  if (!sizePattern.test(text)) return null;
  const unit = /[a-z]+$/.exec(text)?.[0] as keyof typeof bytesOf;
  return Math.round(Number.parseFloat(text) * bytesOf[unit]);
}
