import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hintMsMax, parseRetryAfter, readHint } from '../../src/failure/hints.ts';
import { parseHttpDate } from '../../src/failure/http-date.ts';
import { parseGoDuration } from '../../src/failure/wait-text.ts';

const nowWallMs = Date.UTC(2026, 0, 1);
const anyText = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.stringMatching(/^[0-9a-z., :+-]{0,40}$/),
  fc.constantFrom('', '-0', '1e400', 'NaN', 'GMT', '0s'),
);

const dayMs = 86_400_000;
/** The preferred form, that of RFC 850, and that of asctime (RFC 9110, 5.6.7). */
const dateForms: readonly ((atMs: number) => string)[] = [
  (atMs) => new Date(atMs).toUTCString(),
  (atMs) => {
    const [, day, month, year, time] = new Date(atMs).toUTCString().split(' ');
    const weekday = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(
      atMs,
    );
    return `${weekday}, ${day}-${month}-${year?.slice(2)} ${time} GMT`;
  },
  (atMs) => {
    const [weekday, , month, year, time] = new Date(atMs).toUTCString().split(' ');
    const day = String(new Date(atMs).getUTCDate()).padStart(2);
    return `${weekday?.slice(0, 3)} ${month} ${day} ${time} ${year}`;
  },
];

describe('hints, for any header', () => {
  it('R07 a wait is null or a finite number of ms from 0 to a day, and nothing throws', () => {
    fc.assert(
      fc.property(
        fc.record({
          'retry-after': anyText,
          'retry-after-ms': anyText,
          'x-remaining': fc.constantFrom('0', '1', ''),
          'x-reset': anyText,
          date: anyText,
        }),
        anyText,
        anyText,
        (headers, message, delay) => {
          const { hint, odd } = readHint({
            headers,
            body: delay,
            message,
            table: {
              limits: [{ remaining: 'x-remaining', reset: 'x-reset', format: 'duration' }],
              bodyDelay: () => delay,
            },
            status: 429,
            nowWallMs,
          });
          expect(odd).toBeGreaterThanOrEqual(0);
          if (hint === null) return;
          expect(Number.isFinite(hint.waitMs)).toBe(true);
          expect(hint.waitMs).toBeGreaterThanOrEqual(0);
          expect(hint.waitMs).toBeLessThanOrEqual(hintMsMax);
        },
      ),
    );
  });

  it('R06 every instant written as an HTTP-date is read back to the second', () => {
    const instant = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) / 1000 });
    fc.assert(
      fc.property(instant, (seconds) => {
        const text = new Date(seconds * 1000).toUTCString();
        expect(parseHttpDate(text, nowWallMs)).toBe(seconds * 1000);
        const waitMs = parseRetryAfter(text, nowWallMs, undefined);
        expect(waitMs).toBe(Math.max(0, seconds * 1000 - nowWallMs));
      }),
    );
  });

  it('R06 each of the three forms of a date names the same instant, whatever our clock says', () => {
    // A two-digit year is read as one of the fifty to come or the fifty past.
    const seconds = fc.integer({
      min: Date.UTC(1990, 0, 1) / 1000,
      max: Date.UTC(2060, 0, 1) / 1000,
    });
    const skewMs = fc.integer({ min: -400 * dayMs, max: 400 * dayMs });
    fc.assert(
      fc.property(seconds, fc.nat(40 * dayMs), skewMs, (answered, wait, skew) => {
        const answeredMs = answered * 1000;
        const dueMs = answeredMs + Math.floor(wait / 1000) * 1000;
        for (const form of dateForms) {
          expect(parseHttpDate(form(dueMs), answeredMs)).toBe(dueMs);
          const date = new Date(answeredMs).toUTCString();
          const waitMs = parseRetryAfter(form(dueMs), answeredMs + skew, date);
          expect(waitMs).toBe(dueMs - answeredMs);
        }
      }),
    );
  });

  it('R07 seconds of any size are a wait that a timer can hold, or none', () => {
    const digits = fc.stringMatching(/^[0-9]{1,40}$/);
    fc.assert(
      fc.property(
        fc.oneof(fc.bigInt({ min: 2n ** 31n, max: 2n ** 80n }).map(String), digits),
        (text) => {
          const table = { limits: [], bodyDelay: () => null };
          const headers = { 'retry-after': text };
          const { hint } = readHint({
            headers,
            body: null,
            message: '',
            table,
            status: 429,
            nowWallMs,
          });
          expect(hint?.waitMs ?? 0).toBeLessThanOrEqual(hintMsMax);
          expect(hint?.waitMs).toBe(Math.min(Number(text) * 1000, hintMsMax));
        },
      ),
    );
  });

  it('R06 every Go duration of whole units is read back', () => {
    fc.assert(
      fc.property(
        fc.nat(99),
        fc.nat(59),
        fc.nat(59),
        fc.nat(999),
        (hours, minutes, seconds, ms) => {
          const text = `${hours}h${minutes}m${seconds}s${ms}ms`;
          const expected = ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
          expect(parseGoDuration(text)).toBe(expected);
        },
      ),
    );
  });

  it('R06 of two values the larger one counts, in either order', () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.nat(100_000), (left, right) => {
        const larger = Math.max(left, right) * 1000;
        expect(parseRetryAfter(`${left}, ${right}`, nowWallMs, undefined)).toBe(larger);
        expect(parseRetryAfter(`${right}, ${left}`, nowWallMs, undefined)).toBe(larger);
      }),
    );
  });
});
