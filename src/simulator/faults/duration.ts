/** Durations as people write them: a number and a unit. */

const unitsMs: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const durationMsMax = 7 * 24 * 3_600_000;

/** Milliseconds of `250ms`, `1.5s`, `5m`, `1h`; null for anything else and beyond a week. */
export function parseDuration(text: unknown): number | null {
  if (typeof text !== 'string') return null;
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(text.trim());
  const ms = Number(match?.[1]) * (unitsMs[match?.[2] ?? ''] ?? Number.NaN);
  return Number.isFinite(ms) && ms <= durationMsMax ? ms : null;
}
