/** Which alerts are open and which are to be told now: at most once per interval, kind and subject. Time comes in. */

export const alertKinds = [
  'auth_rejected',
  'permission_denied',
  'quota_exhausted',
  'model_not_found',
  'secret_unresolved',
  'tier_on_fallback',
  'tier_without_target',
  'stacked_retries',
  'log_degraded',
  'row_lost',
  'redis_lost',
  'config_rejected',
  'internal_error',
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** These have no end of their own: they are over after an hour without another. */
const endsByQuiet: ReadonlySet<AlertKind> = new Set([
  'row_lost',
  'config_rejected',
  'internal_error',
]);
const quietMs = 60 * 60_000;

/** A cause that raised an alert. */
export type AlertCause = {
  readonly kind: AlertKind;
  /** A target's id, a key's name, a tier: with `kind` it names the alert. */
  readonly subject: string;
  readonly lastError: string;
  readonly requestId: string | null;
  /** The target on which it showed; null where that says nothing. */
  readonly target: string | null;
};

export type OpenAlert = AlertCause & {
  /** Wall-clock ms. */
  readonly sinceMs: number;
  /** How often it was raised since. */
  readonly count: number;
};

/** What is to be told: that an alert is open, or that one which was told is over. */
export type AlertNotice = OpenAlert & { readonly isResolved: boolean };

export type Instant = { readonly monotonicMs: number; readonly wallMs: number };

/** `toldAtMs` outlives the alert, so that one that comes and goes is told once an interval. */
type Entry = { toldAtMs: number | null; open: Opened | null };
type Opened = { alert: OpenAlert; raisedAtMs: number; isTold: boolean };

/** Beyond these the longest unseen is forgotten, one that is over first. */
const entriesMax = 1000;

export class AlertBoard {
  /** In the order of their last raise. */
  readonly #entries = new Map<string, Entry>();

  /** Null: it was told less than `intervalMs` ago, and is counted. */
  raise(cause: AlertCause, now: Instant, intervalMs: number): AlertNotice | null {
    const key = keyOf(cause);
    const entry = this.#entries.get(key) ?? this.#made();
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const sinceMs = entry.open?.alert.sinceMs ?? now.wallMs;
    const count = (entry.open?.alert.count ?? 0) + 1;
    entry.open = {
      alert: { ...cause, sinceMs, count },
      raisedAtMs: now.monotonicMs,
      isTold: entry.open?.isTold ?? false,
    };
    return tell(entry, now, intervalMs);
  }

  /** Null: there was none, or nobody was told of it. */
  resolve(alert: Pick<AlertCause, 'kind' | 'subject'>): AlertNotice | null {
    const entry = this.#entries.get(keyOf(alert));
    const open = entry?.open ?? null;
    if (entry === undefined || open === null) return null;
    entry.open = null;
    return open.isTold ? { ...open.alert, isResolved: true } : null;
  }

  /** Open alerts that could not be told when they were raised, and now can; they count as told. */
  due(now: Instant, intervalMs: number): readonly AlertNotice[] {
    const notices: AlertNotice[] = [];
    for (const [key, entry] of this.#entries) {
      const isOver = entry.open === null && !isRecent(entry, now, intervalMs);
      if (isOver) this.#entries.delete(key);
      if (entry.open === null || entry.open.isTold) continue;
      const notice = tell(entry, now, intervalMs);
      if (notice !== null) notices.push(notice);
    }
    return notices;
  }

  /** Open alerts of the kinds that end by themselves, an hour after they were last raised. */
  quiet(now: Instant): readonly OpenAlert[] {
    return [...this.#entries.values()].flatMap(({ open }) => {
      if (open === null || !endsByQuiet.has(open.alert.kind)) return [];
      return now.monotonicMs - open.raisedAtMs >= quietMs ? [open.alert] : [];
    });
  }

  /** The longest unseen first. */
  open(): readonly OpenAlert[] {
    return [...this.#entries.values()].flatMap(({ open }) => (open === null ? [] : [open.alert]));
  }

  #made(): Entry {
    if (this.#entries.size >= entriesMax) {
      const keys = [...this.#entries.keys()];
      const over = keys.find((key) => this.#entries.get(key)?.open === null);
      this.#entries.delete(over ?? keys[0] ?? '');
    }
    return { toldAtMs: null, open: null };
  }
}

function tell(entry: Entry, now: Instant, intervalMs: number): AlertNotice | null {
  if (entry.open === null || isRecent(entry, now, intervalMs)) return null;
  entry.toldAtMs = now.monotonicMs;
  entry.open.isTold = true;
  return { ...entry.open.alert, isResolved: false };
}

function isRecent(entry: Entry, now: Instant, intervalMs: number): boolean {
  return entry.toldAtMs !== null && now.monotonicMs - entry.toldAtMs < intervalMs;
}

function keyOf({ kind, subject }: Pick<AlertCause, 'kind' | 'subject'>): string {
  return `${kind} ${subject}`;
}
