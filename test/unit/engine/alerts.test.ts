import { expect, it } from 'vitest';
import type { LogFields } from '../../../src/base/log-port.ts';
import { silentLog } from '../../../src/base/log-port.ts';
import type { AlertNotice } from '../../../src/engine/alert-board.ts';
import { type Alert, createAlerts } from '../../../src/engine/alerts.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const refused: Alert = {
  kind: 'auth_rejected',
  subject: 'P1_KEY',
  message: 'p1/m: the key sk-proj-abcdefghijklmnopqrstuvwx is not accepted',
  requestId: 'r1',
  target: 'p1/m',
};

function center(minIntervalMs = 3_600_000) {
  const clock = new VirtualClock();
  const lines: { level: string; message: string; fields: LogFields | undefined }[] = [];
  const notices: AlertNotice[] = [];
  const alerts = createAlerts(
    {
      ...silentLog,
      error: (message, fields) => lines.push({ level: 'error', message, fields }),
      info: (message, fields) => lines.push({ level: 'info', message, fields }),
    },
    clock,
    { minIntervalMs: () => minIntervalMs, notify: (notice) => notices.push(notice) },
  );
  return { clock, lines, notices, alerts };
}

it('an alert is one error line with its kind, subject and request, and one notice', () => {
  const { lines, notices, alerts } = center();
  alerts.raise(refused);
  alerts.raise({ ...refused, requestId: 'r2' });
  expect(lines).toEqual([
    {
      level: 'error',
      message: expect.stringContaining('p1/m: the key'),
      fields: { alert: 'auth_rejected', subject: 'P1_KEY', request_id: 'r1', count: 1 },
    },
  ]);
  expect(notices).toHaveLength(1);
  expect(alerts.open()).toMatchObject([{ kind: 'auth_rejected', count: 2, requestId: 'r2' }]);
});

it('its end is a line of its own and a second notice', () => {
  const { lines, notices, alerts } = center();
  alerts.raise(refused);
  alerts.resolve('auth_rejected', 'P1_KEY');
  alerts.resolve('auth_rejected', 'P1_KEY');
  expect(lines[1]).toMatchObject({
    level: 'info',
    fields: { alert: 'auth_rejected', resolved: true },
  });
  expect(notices.map(({ isResolved }) => isResolved)).toEqual([false, true]);
});

it('no secret that a provider repeats gets into a line, an entry or a notice', () => {
  const { lines, notices, alerts } = center();
  alerts.raise(refused);
  expect(JSON.stringify([lines, notices, alerts.open()])).not.toContain('abcdefghijklmnop');
});

it('one that was logged by whoever found out has its notice and no second line', () => {
  const { lines, notices, alerts } = center();
  alerts.raise({ ...refused, kind: 'log_degraded', isLogged: true });
  expect(lines).toEqual([]);
  expect(notices).toHaveLength(1);
});

it('a tick ends what has been quiet for an hour, and tells what came back within the interval', async () => {
  const { clock, notices, alerts } = center(2 * 3_600_000);
  alerts.raise({ ...refused, kind: 'internal_error', subject: 'gateway' });
  alerts.raise(refused);
  alerts.resolve('auth_rejected', 'P1_KEY');
  alerts.raise(refused);
  await clock.advance(3_600_000);
  alerts.tick();
  expect(notices.map(({ kind, isResolved }) => [kind, isResolved])).toEqual([
    ['internal_error', false],
    ['auth_rejected', false],
    ['auth_rejected', true],
    ['internal_error', true],
  ]);
  await clock.advance(3_600_000);
  alerts.tick();
  expect(notices.at(-1)).toMatchObject({ kind: 'auth_rejected', isResolved: false });
  expect(notices).toHaveLength(5);
});
