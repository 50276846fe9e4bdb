/** File mode: a changed file is validated whole and swapped in; a bad one changes nothing and is told. */
import { unwatchFile, watchFile } from 'node:fs';
import { basename } from 'node:path';
import type { Log } from '../base/log-port.ts';
import type { Alerts } from '../engine/alerts.ts';
import type { LiveConfig } from '../routing/live-config.ts';
import { faultLine, readDocumentFile, type SeedFault } from './config-seed.ts';

const lookEveryMs = 500;

export type DocumentListeners = { readonly log: Log; readonly alerts: Alerts };

/** Returns the way to stop watching. A burst of writes is one look; the last state counts. */
export function watchDocument(
  file: string,
  config: LiveConfig,
  listeners: DocumentListeners,
): () => void {
  const look = (): void => void applyFile(file, config, listeners);
  watchFile(file, { interval: lookEveryMs, persistent: false }, look);
  return () => unwatchFile(file, look);
}

async function applyFile(
  file: string,
  config: LiveConfig,
  listeners: DocumentListeners,
): Promise<void> {
  const subject = basename(file);
  const read = readDocumentFile(file);
  if (!read.ok) return rejected(subject, read.fault, listeners);
  const result = await config.apply({ document: read.value, author: 'file', note: null });
  if (result.kind === 'invalid') {
    const message = 'the changed config file is not valid';
    rejected(subject, { message, details: result.faults.map(faultLine) }, listeners);
  } else if (result.kind === 'applied') {
    listeners.alerts.resolve('config_rejected', subject);
    listeners.log.info('the changed config file is in force', { config_version: result.version });
  }
}

/** Each change has its line, whoever was told before. */
function rejected(subject: string, fault: SeedFault, { log, alerts }: DocumentListeners): void {
  const details = fault.details.join('; ');
  log.error(`${fault.message}; the old config runs on`, {
    alert: 'config_rejected',
    subject,
    details,
  });
  const message = details === '' ? fault.message : `${fault.message}: ${details}`;
  alerts.raise({ kind: 'config_rejected', subject, message, requestId: null, isLogged: true });
}
