/** The config in force, kept beside the database: a gateway whose database is sick at start serves on it. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject, numberAt, objectAt, parseJson, stringAt } from '../base/json.ts';
import type { Log } from '../base/log-port.ts';
import type { Revision, RevisionStore } from '../routing/revision-store.ts';
import { StoreUnavailableError } from './sqlite/database-access.ts';
import type { StoreFault } from './sqlite/store-fault.ts';

const fileName = 'last-good-config.json';

export type LastGoodConfig = {
  /** Null when there is none, or none that can be read. */
  readonly read: () => Revision | null;
  /** Replaces the file as a whole; a failure is logged, since the database still has the config. */
  readonly write: (revision: Revision) => void;
};

export function lastGoodConfig(dataDirectory: string, log: Log): LastGoodConfig {
  const file = join(dataDirectory, fileName);
  return {
    read: () => readRevision(file),
    write: (revision) => {
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        writeFileSync(`${file}.new`, JSON.stringify(revision), { mode: 0o600 });
        renameSync(`${file}.new`, file);
      } catch (error) {
        log.warn('the last good config could not be kept on disk', {
          reason: error instanceof Error ? error.message : String(error),
        });
      }
    },
  };
}

function readRevision(file: string): Revision | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // Most starts of a new installation: there is none yet.
    return null;
  }
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return null;
  const version = numberAt(parsed.value, 'version');
  const document = objectAt(parsed.value, 'document');
  const prompts = objectAt(parsed.value, 'prompts');
  if (version === null || document === null || prompts === null) return null;
  return {
    version,
    hash: stringAt(parsed.value, 'hash') ?? '',
    document,
    prompts: Object.fromEntries(
      Object.entries(prompts).flatMap(([name, source]) =>
        typeof source === 'string' ? [[name, source]] : [],
      ),
    ),
    author: stringAt(parsed.value, 'author') ?? '',
    note: stringAt(parsed.value, 'note'),
    createdAtMs: numberAt(parsed.value, 'createdAtMs') ?? 0,
  };
}

/** What stands in for the revisions while the database cannot be used: one version, and no writes. */
export function standInRevisions(revision: Revision, fault: StoreFault): RevisionStore {
  return {
    latest: () => revision,
    get: (version) => (version === revision.version ? revision : null),
    append: () => {
      throw new StoreUnavailableError(fault);
    },
  };
}
