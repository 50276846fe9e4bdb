/** What wakes someone: at most once per interval, kind and subject. */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log-port.ts';
import type { AlertKind as FailureAlertKind } from '../failure/effects.ts';

export type AlertKind = FailureAlertKind | 'secret_unresolved';

export type Alert = {
  readonly kind: AlertKind;
  readonly subject: string;
  readonly message: string;
  readonly requestId: string;
};

const intervalMs = 60 * 60 * 1000;
const rememberedMax = 1000;

export type Alerts = { readonly raise: (alert: Alert) => void };

/** The first of its kind and subject is logged at once; repeats within the hour are counted and told with the next. */
export function createAlerts(log: Log, clock: Clock): Alerts {
  const raised = new Map<string, { atMs: number; repeats: number }>();
  return {
    raise: (alert) => {
      const key = `${alert.kind} ${alert.subject}`;
      const nowMs = clock.monotonicMs();
      const known = raised.get(key);
      if (known !== undefined && nowMs - known.atMs < intervalMs) {
        known.repeats += 1;
        return;
      }
      if (raised.size >= rememberedMax) raised.delete(raised.keys().next().value ?? key);
      raised.set(key, { atMs: nowMs, repeats: 0 });
      log.error(alert.message, {
        alert: alert.kind,
        subject: alert.subject,
        request_id: alert.requestId,
        repeats: known?.repeats ?? 0,
      });
    },
  };
}
