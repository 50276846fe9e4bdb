/** File mode: a changed file is validated whole and swapped in; a bad one changes nothing and is told. */
import { unwatchFile, watchFile } from 'node:fs';
import type { Log } from '../base/log-port.ts';
import type { LiveConfig } from '../routing/live-config.ts';
import { faultLine, readDocumentFile } from './config-seed.ts';

const lookEveryMs = 500;

/** Returns the way to stop watching. A burst of writes is one look; the last state counts. */
export function watchDocument(file: string, config: LiveConfig, log: Log): () => void {
  const look = (): void => void applyFile(file, config, log);
  watchFile(file, { interval: lookEveryMs, persistent: false }, look);
  return () => unwatchFile(file, look);
}

async function applyFile(file: string, config: LiveConfig, log: Log): Promise<void> {
  const read = readDocumentFile(file);
  if (!read.ok) return rejected(log, read.fault.message, read.fault.details);
  const result = await config.apply({ document: read.value, author: 'file', note: null });
  if (result.kind === 'invalid') {
    rejected(log, 'the changed config file is not valid', result.faults.map(faultLine));
  } else if (result.kind === 'applied') {
    log.info('the changed config file is in force', { config_version: result.version });
  }
}

function rejected(log: Log, message: string, details: readonly string[]): void {
  log.error(`${message}; the old config runs on`, {
    alert: 'config_rejected',
    details: details.join('; '),
  });
}
