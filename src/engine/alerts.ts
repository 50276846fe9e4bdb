/** What wakes someone: one log line and one notice at most once per interval, kind and subject, and one at its end. */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log-port.ts';
import { redact } from '../failure/redact.ts';
import {
  AlertBoard,
  type AlertKind,
  type AlertNotice,
  type Instant,
  type OpenAlert,
} from './alert-board.ts';

export type Alert = {
  readonly kind: AlertKind;
  readonly subject: string;
  readonly message: string;
  /** Null where no request showed it. */
  readonly requestId: string | null;
  /** The target on which it showed. */
  readonly target?: string;
  /** Whoever raises it has written its log line already. */
  readonly isLogged?: boolean;
};

/** The port of those who find out. Neither method throws. */
export type Alerts = {
  readonly raise: (alert: Alert) => void;
  /** It is over; nothing happens when there was none. */
  readonly resolve: (kind: AlertKind, subject: string) => void;
};

export type AlertCenter = Alerts & {
  /** The longest unseen first. */
  readonly open: () => readonly OpenAlert[];
  /** Ends what has been quiet long enough, tells what could not be told before. Call it every second or so. */
  readonly tick: () => void;
};

export type AlertOptions = {
  /** `alerts.min_interval`; read each time, since the config may change it. */
  readonly minIntervalMs: () => number;
  /** Takes what is told; must not throw. */
  readonly notify: (notice: AlertNotice) => void;
};

const quietOptions: AlertOptions = { minIntervalMs: () => 60 * 60_000, notify: () => undefined };
const subjectCharactersMax = 256;

export function createAlerts(
  log: Log,
  clock: Clock,
  options: AlertOptions = quietOptions,
): AlertCenter {
  const board = new AlertBoard();
  const now = (): Instant => ({ monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() });
  const tell = (notice: AlertNotice | null, isLogged: boolean): void => {
    if (notice === null) return;
    if (!isLogged) writeLine(log, notice);
    options.notify(notice);
  };
  const resolve = (kind: AlertKind, subject: string): void =>
    tell(board.resolve({ kind, subject: subject.slice(0, subjectCharactersMax) }), false);
  return {
    raise: ({ message, isLogged = false, target = null, ...alert }) => {
      const subject = alert.subject.slice(0, subjectCharactersMax);
      const cause = { ...alert, subject, lastError: redact(message), target };
      tell(board.raise(cause, now(), options.minIntervalMs()), isLogged);
    },
    resolve,
    open: () => board.open(),
    tick: () => {
      for (const { kind, subject } of board.quiet(now())) resolve(kind, subject);
      for (const notice of board.due(now(), options.minIntervalMs())) tell(notice, false);
    },
  };
}

function writeLine(log: Log, notice: AlertNotice): void {
  const { kind, subject, requestId, count, isResolved } = notice;
  const fields = { alert: kind, subject, request_id: requestId, count };
  if (isResolved) log.info(`over: ${kind} (${subject})`, { ...fields, resolved: true });
  else log.error(notice.lastError, fields);
}
