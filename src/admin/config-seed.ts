/** Which document a start brings along, and whether it beats the one that the database holds. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isJsonObject, type JsonObject, objectAt } from '../base/json.ts';
import { fail, type Result, success } from '../base/result.ts';
import { defaultDocument, simulatedDocument } from '../providers/default-tiers.ts';
import type { ConfigFault } from '../routing/document/config-fault.ts';
import { parseDocument } from '../routing/parse-document.ts';

export type ConfigSource =
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'environment' }
  | { readonly kind: 'simulated' };

export type Seed = {
  readonly document: unknown;
  readonly source: ConfigSource;
  /** `report`: what the database holds stays, a difference is told. */
  readonly whenSeedDiffers: 'report' | 'apply';
};

export type SeedFault = { readonly message: string; readonly details: readonly string[] };

/** Where the config comes from, before the providers of a simulation are started. */
export function configSource(
  configFile: string | null,
  environment: Readonly<Record<string, string | undefined>>,
): ConfigSource {
  if (configFile !== null) return { kind: 'file', file: configFile };
  return defaultDocument(environment) === null ? { kind: 'simulated' } : { kind: 'environment' };
}

export function sourceName(source: ConfigSource): string {
  switch (source.kind) {
    case 'file':
      return basename(source.file);
    case 'environment':
      return 'provider keys in the environment';
    case 'simulated':
      return 'simulated providers';
  }
}

export function readDocumentFile(file: string): Result<unknown, SeedFault> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return fail({ message: `the config file ${file} cannot be read: ${reason}`, details: [] });
  }
  const parsed = parseDocument(bytes);
  if (parsed.faults.length === 0) return success(parsed.value);
  return fail({
    message: `the config file ${file} is not a valid document`,
    details: parsed.faults.map(
      ({ path, message }) => `${path === '' ? 'document' : path}: ${message}`,
    ),
  });
}

/** One line a fault, for a terminal or a log. */
export function faultLine({ path, message }: ConfigFault): string {
  return `${path === '' ? 'document' : path}: ${message}`;
}

export type SeedInput = {
  readonly source: ConfigSource;
  readonly configMode: 'database' | 'file';
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** By provider kind; empty unless simulated. */
  readonly simulatedBaseUrls: Readonly<Record<string, string>>;
  /** The document that the database holds, with whether a simulation seeded it; null = none. */
  readonly stored: { readonly document: JsonObject; readonly isSimulated: boolean } | null;
};

/**
 * A simulation is no config that anyone meant to keep: real keys or a file replace it, and a new one only
 * moves the addresses of the old, so that an edited tier survives a restart.
 */
export function seedOf(input: SeedInput): Result<Seed, SeedFault> {
  const { source, stored } = input;
  const isReplaceable = stored?.isSimulated ?? false;
  switch (source.kind) {
    case 'file': {
      const read = readDocumentFile(source.file);
      if (!read.ok) return read;
      const isTruth = input.configMode === 'file' || isReplaceable;
      return success({
        document: read.value,
        source,
        whenSeedDiffers: isTruth ? 'apply' : 'report',
      });
    }
    case 'environment':
      return success({
        document: defaultDocument(input.environment),
        source,
        whenSeedDiffers: isReplaceable ? 'apply' : 'report',
      });
    case 'simulated': {
      const fresh = simulatedDocument(input.simulatedBaseUrls) ?? {};
      const document = isReplaceable && stored !== null ? moved(stored.document, fresh) : fresh;
      return success({ document, source, whenSeedDiffers: isReplaceable ? 'apply' : 'report' });
    }
  }
}

/** The stored document with the addresses of the simulated providers as they are now. */
function moved(stored: JsonObject, fresh: JsonObject): JsonObject {
  const providers = objectAt(stored, 'providers') ?? {};
  const addresses = objectAt(fresh, 'providers') ?? {};
  return {
    ...stored,
    providers: Object.fromEntries(
      Object.entries(providers).map(([name, entry]) => {
        const address = objectAt(addresses, name)?.['base_url'];
        const isMoved = isJsonObject(entry) && address !== undefined && 'base_url' in entry;
        return [name, isMoved ? { ...entry, base_url: address } : entry];
      }),
    ),
  };
}
