/** Raises and ends the alerts that no attempt raises by itself: it reads request ends and looks around every second. */
import type { CancelTimer } from '../base/clock.ts';
import type { ProviderKey } from '../providers/provider.ts';
import { StackedRetries } from '../resilience/stacked-retries.ts';
import type { Snapshot } from '../routing/snapshot.ts';
import type { AlertKind, OpenAlert } from './alert-board.ts';
import { TierWatch, type TierWatchPorts } from './alert-tier-watch.ts';
import type { AlertCenter } from './alerts.ts';
import type { AttemptTrace, RequestTrace } from './trace.ts';

export type AlertWatchPorts = Omit<TierWatchPorts, 'alerts'> & {
  readonly alerts: AlertCenter;
  readonly snapshot: () => Snapshot;
  /** Why the served-by log is degraded; null = it is not. */
  readonly logFault: () => string | null;
  /** Rows lost since the start of the process. */
  readonly rowsLost: () => number;
  /** Why breakers cannot be shared with the other instances; null = they are, or are not meant to be. */
  readonly fleetFault: () => string | null;
  /** Secrets that are named outside `providers`. */
  readonly otherSecrets: () => readonly ProviderKey[];
};

const lookEveryMs = 1000;
const logSubject = 'served-by log';

export class AlertWatch {
  readonly #ports: AlertWatchPorts;
  readonly #tiers: TierWatch;
  readonly #stacked = new StackedRetries();
  readonly #stops: (() => void)[] = [];
  #cancelLook: CancelTimer = () => undefined;
  #rowsLost: number;

  constructor(ports: AlertWatchPorts) {
    this.#ports = ports;
    this.#tiers = new TierWatch(ports);
    this.#rowsLost = ports.rowsLost();
  }

  start(): void {
    this.#stops.push(this.#ports.overrides.onChange(() => this.#lookAtTiers()));
    this.#lookAgain();
  }

  close(): void {
    this.#cancelLook();
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** A request has ended, however it did. */
  noteEnd(trace: RequestTrace): void {
    const open = this.#ports.alerts.open();
    if (open.length > 0) this.#endServed(trace, open);
    const tier = this.#ports.snapshot().tiers.get(trace.tier);
    if (tier !== undefined) this.#tiers.noteEnd(tier, trace);
    this.#noteRepeat(trace);
    this.#noteFault(trace);
  }

  /** Another config is in force: a good one, and what it no longer names cannot be wrong. */
  noteConfig(): void {
    const { alerts, snapshot } = this.#ports;
    const named = namedIn(snapshot());
    for (const { kind, subject } of alerts.open()) {
      const names = named[kind];
      const isGone = names !== undefined && !names.has(subject);
      if (kind === 'config_rejected' || isGone) alerts.resolve(kind, subject);
    }
    this.look();
  }

  look(): void {
    const { alerts } = this.#ports;
    this.#lookAtTiers();
    this.#lookAtLog();
    this.#lookAtFleet();
    const open = alerts.open();
    this.#lookAtSecrets(open);
    this.#lookAtRepeats(open);
    alerts.tick();
  }

  #lookAgain(): void {
    this.#cancelLook = this.#ports.clock.schedule(lookEveryMs, () => {
      this.look();
      this.#lookAgain();
    });
  }

  #lookAtTiers(): void {
    this.#tiers.look(this.#ports.snapshot().tiers);
  }

  #endServed(trace: RequestTrace, open: readonly OpenAlert[]): void {
    const served = trace.attempts.filter(({ outcome }) => outcome === 'served');
    if (served.length === 0) return;
    for (const alert of open) {
      if (served.some((attempt) => isCuredBy(alert, attempt))) {
        this.#ports.alerts.resolve(alert.kind, alert.subject);
      }
    }
  }

  #noteRepeat(trace: RequestTrace): void {
    const { keyId } = trace;
    const isRepeat = trace.clientRetryCount > 0;
    const nowMs = this.#ports.clock.monotonicMs();
    const share = this.#stacked.record({ keyId, isRepeat, nowMs });
    if (!isRepeat || !share.isStacked) return;
    this.#ports.alerts.raise({
      kind: 'stacked_retries',
      subject: keySubject(keyId),
      message: `${share.repeats} of ${share.requests} requests of the last 5 minutes repeat an earlier one: turn the retries of the client's SDK off`,
      requestId: trace.id,
    });
  }

  /** What the engine finds wrong with itself it raises; here comes what failed around it, logged with its stack. */
  #noteFault(trace: RequestTrace): void {
    const { failure } = trace;
    if (failure?.failureClass !== 'internal') return;
    if (trace.attempts.length > 0 || trace.skipped.length > 0) return;
    this.#ports.alerts.raise({
      kind: 'internal_error',
      subject: 'gateway',
      message: failure.message,
      requestId: trace.id,
      isLogged: true,
    });
  }

  /** The recorder writes the log lines of both. */
  #lookAtLog(): void {
    const { alerts, logFault, rowsLost } = this.#ports;
    const fault = logFault();
    const isOpen = alerts.open().some(({ kind }) => kind === 'log_degraded');
    const shared = { subject: logSubject, requestId: null, isLogged: true };
    if (fault === null) alerts.resolve('log_degraded', logSubject);
    else if (!isOpen) alerts.raise({ ...shared, kind: 'log_degraded', message: fault });
    const lost = rowsLost();
    if (lost > this.#rowsLost) {
      const message = `${lost - this.#rowsLost} rows of the served-by log are lost`;
      alerts.raise({ ...shared, kind: 'row_lost', message });
    }
    this.#rowsLost = lost;
  }

  #lookAtFleet(): void {
    const { alerts, fleetFault } = this.#ports;
    const subject = 'shared breakers';
    const message = fleetFault();
    const isOpen = alerts.open().some(({ kind }) => kind === 'redis_lost');
    if (message === null) alerts.resolve('redis_lost', subject);
    else if (!isOpen) alerts.raise({ kind: 'redis_lost', subject, message, requestId: null });
  }

  #lookAtSecrets(open: readonly OpenAlert[]): void {
    const missing = open.filter(({ kind }) => kind === 'secret_unresolved');
    if (missing.length === 0) return;
    const providers = [...this.#ports.snapshot().providers.values()];
    const keys = [...providers.flatMap((provider) => provider.keys), ...this.#ports.otherSecrets()];
    for (const { kind, subject } of missing) {
      const key = keys.find(({ alias }) => alias === subject);
      if (key === undefined || key.resolve() !== null) this.#ports.alerts.resolve(kind, subject);
    }
  }

  #lookAtRepeats(open: readonly OpenAlert[]): void {
    const raised = open.filter(({ kind }) => kind === 'stacked_retries');
    if (raised.length === 0) return;
    const nowMs = this.#ports.clock.monotonicMs();
    const stacked = this.#stacked.stacked(nowMs).map(({ keyId }) => keySubject(keyId));
    for (const { kind, subject } of raised) {
      if (!stacked.includes(subject)) this.#ports.alerts.resolve(kind, subject);
    }
  }
}

function keySubject(keyId: string | null): string {
  return keyId === null ? 'no key' : `key ${keyId}`;
}

/** Whether an attempt that was served shows that `alert` is over; one begun before it says nothing. */
function isCuredBy(alert: OpenAlert, attempt: AttemptTrace): boolean {
  if (attempt.startedAtMs < alert.sinceMs) return false;
  const isKey = alert.subject === (attempt.keyAlias ?? attempt.provider);
  switch (alert.kind) {
    case 'model_not_found':
      return alert.subject === attempt.target;
    case 'auth_rejected':
    case 'secret_unresolved':
      return isKey;
    // Money, quotas and permissions may be a model's own.
    case 'quota_exhausted':
    case 'permission_denied':
      return isKey && (alert.target === null || alert.target === attempt.target);
    default:
      return false;
  }
}

/** What a config names, by the kinds whose subject is one of these names. */
function namedIn(snapshot: Snapshot): { readonly [kind in AlertKind]?: ReadonlySet<string> } {
  const targets = new Set<string>();
  for (const tier of snapshot.tiers.values()) for (const { id } of tier.targets) targets.add(id);
  const keys = new Set(snapshot.providers.keys());
  for (const provider of snapshot.providers.values()) {
    for (const { alias } of provider.keys) keys.add(alias);
  }
  return {
    model_not_found: targets,
    auth_rejected: keys,
    permission_denied: keys,
    quota_exhausted: keys,
  };
}
