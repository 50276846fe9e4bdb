/** Keeps an outage from flooding the log: the same complaint is written a few times, then counted. */
import type { Clock } from '../base/clock.ts';
import type { Log, LogFields } from '../base/log-port.ts';

export type RepeatLimits = {
  /** Lines of one kind that pass in a window. */
  readonly linesMax: number;
  readonly windowMs: number;
  /** How long a stack trace of one kind is not written again. */
  readonly stackWindowMs: number;
};

export const repeatLimits: RepeatLimits = { linesMax: 10, windowMs: 10_000, stackWindowMs: 60_000 };

/** Kinds remembered at once; beyond them the oldest is forgotten and may be written again. */
const kindsMax = 500;

type Kind = { startedMs: number; lines: number; suppressed: number; stackAtMs: number | null };

export type LimitedLog = Log & {
  /** Writes what was counted and not told. */
  readonly flush: () => void;
};

/**
 * Warnings and errors of one kind (level, message, class of failure) beyond `linesMax` in a window are
 * counted and told in one line when it ends. Alerts have a limit of their own and always pass, as does
 * what is no complaint.
 */
export function limitRepeats(log: Log, clock: Clock, limits: RepeatLimits): LimitedLog {
  const kinds = new Map<string, Kind>();
  let cancelSummary: (() => void) | null = null;

  const tellSuppressed = (): void => {
    cancelSummary = null;
    for (const [key, kind] of kinds) {
      if (kind.suppressed === 0) continue;
      const [level, message] = key.split('\n', 2);
      const repeat = { repeats: kind.suppressed, window_ms: limits.windowMs };
      log[level === 'error' ? 'error' : 'warn'](`${message} (repeated)`, repeat);
      kind.suppressed = 0;
    }
  };

  const kindOf = (key: string): Kind => {
    const nowMs = clock.monotonicMs();
    const known = kinds.get(key);
    if (known !== undefined && nowMs - known.startedMs < limits.windowMs) return known;
    const kind = {
      startedMs: nowMs,
      lines: 0,
      suppressed: known?.suppressed ?? 0,
      stackAtMs: known?.stackAtMs ?? null,
    };
    if (kinds.size >= kindsMax && known === undefined) {
      const oldest = kinds.keys().next().value;
      if (oldest !== undefined) kinds.delete(oldest);
    }
    kinds.set(key, kind);
    return kind;
  };

  const complain =
    (level: 'warn' | 'error') =>
    (message: string, fields?: LogFields): void => {
      if (fields?.['alert'] !== undefined) {
        log[level](message, fields);
        return;
      }
      const kind = kindOf(`${level}\n${message}\n${distinction(fields)}`);
      kind.lines += 1;
      if (kind.lines <= limits.linesMax) {
        log[level](message, withoutRepeatedStack(fields, kind, clock, limits));
        return;
      }
      kind.suppressed += 1;
      cancelSummary ??= clock.schedule(limits.windowMs, tellSuppressed);
    };

  return {
    debug: log.debug,
    info: log.info,
    warn: complain('warn'),
    error: complain('error'),
    flush: () => {
      cancelSummary?.();
      tellSuppressed();
    },
  };
}

/** What makes two lines with one message different kinds: the failure, not the request. */
function distinction(fields: LogFields | undefined): string {
  const named = fields?.['error_class'] ?? fields?.['target'] ?? '';
  const error = fields?.['error'];
  return `${named} ${typeof error === 'string' ? error.split('\n', 1)[0] : ''}`;
}

function withoutRepeatedStack(
  fields: LogFields | undefined,
  kind: Kind,
  clock: Clock,
  limits: RepeatLimits,
): LogFields | undefined {
  const error = fields?.['error'];
  if (typeof error !== 'string' || !error.includes('\n    at ')) return fields;
  const nowMs = clock.monotonicMs();
  if (kind.stackAtMs === null || nowMs - kind.stackAtMs >= limits.stackWindowMs) {
    kind.stackAtMs = nowMs;
    return fields;
  }
  return { ...fields, error: error.split('\n', 1)[0] };
}
