/** The doctor on the config: which document would serve, and whether it and its prompts are sound. */
import { type ConfigSource, faultLine, readDocumentFile } from '../admin/config-seed.ts';
import { type JsonObject, objectAt } from '../base/json.ts';
import { type PromptSources, readPromptDirectory } from '../prompts/load-variants.ts';
import { credentialReferences } from '../providers/credential-references.ts';
import { defaultDocument } from '../providers/default-tiers.ts';
import { providerKind } from '../providers/registry.ts';
import type { SecretResolver } from '../providers/secrets.ts';
import { formatPath } from '../routing/document/config-fault.ts';
import { judgeConfig } from '../routing/judge-config.ts';
import { type Finding, ok, warning, wrong } from './doctor-report.ts';

export type ChosenDocument = {
  /** Null when there is none to judge. */
  readonly document: unknown;
  readonly isStored: boolean;
  readonly findings: readonly Finding[];
};

export function documentFor(input: {
  readonly source: ConfigSource;
  readonly stored: JsonObject | null;
  readonly mode: 'database' | 'file';
  readonly environment: Readonly<Record<string, string | undefined>>;
}): ChosenDocument {
  const { source, stored, mode } = input;
  if (source.kind === 'simulated') {
    const message = 'no document and no provider key: it would start on simulated providers';
    return { document: null, isStored: false, findings: [ok('config', message)] };
  }
  if (stored !== null && mode === 'database') {
    return { document: stored, isStored: true, findings: [] };
  }
  if (source.kind === 'environment') {
    const document = defaultDocument(input.environment);
    return { document, isStored: false, findings: [] };
  }
  const read = readDocumentFile(source.file);
  if (read.ok) return { document: read.value, isStored: false, findings: [] };
  const { message, details } = read.fault;
  const findings = [wrong('config', [message, ...details].join('; '), 'correct the file')];
  return { document: null, isStored: false, findings };
}

/** A provider as its check needs it. */
export type ProviderEntry = {
  readonly name: string;
  readonly baseUrl: string;
  readonly keys: readonly string[];
  readonly isKeyRequired: boolean;
  /** Why the text of a key cannot be one; null = it may be. */
  readonly keyFault: (secret: string) => string | null;
};

export async function checkConfig(input: {
  readonly document: unknown;
  /** The prompts that the stored version names, or null: those on disk. */
  readonly storedPrompts: PromptSources | null;
  readonly promptDirectories: readonly string[];
  readonly resolveSecret: SecretResolver;
  readonly name: string;
}): Promise<{
  readonly providers: readonly ProviderEntry[];
  readonly findings: readonly Finding[];
}> {
  const findings: Finding[] = [];
  let prompts: PromptSources = input.storedPrompts ?? {};
  for (const directory of input.storedPrompts === null ? input.promptDirectories : []) {
    const read = readPromptDirectory(directory);
    if (read.ok) prompts = { ...prompts, ...read.value };
    else {
      const told = read.fault.map(({ name, message }) => `${name}: ${message}`);
      findings.push(wrong('prompts', `${directory}: ${told.join('; ')}`, 'correct the files'));
    }
  }
  const { document, resolveSecret, name } = input;
  const judged = await judgeConfig({ document, prompts, resolveSecret });
  const { faults, warnings } = judged.ok
    ? { faults: [], warnings: judged.value.valid.warnings }
    : judged.fault;
  for (const fault of faults) {
    const subject = fault.path.startsWith('prompts') ? 'prompts' : 'config';
    findings.push(wrong(subject, faultLine(fault), null));
  }
  const provided = objectAt(document, 'providers') ?? {};
  for (const notice of warnings.filter(({ path }) => !isOfCredential(path, provided))) {
    findings.push(warning('config', faultLine(notice), null));
  }
  if (!judged.ok) return { providers: [], findings };
  const { values } = judged.value.valid;
  const tiers = Object.keys(values.tiers).length;
  findings.unshift(
    ok('config', `${name} is valid: ${tiers} tier(s)`),
    ok('prompts', `${judged.value.prompts.variants.size} compile`),
  );
  const providers = Object.entries(values.providers).map(([provider, entry]) => {
    const kind = providerKind(entry.kind);
    return {
      name: provider,
      baseUrl: entry.base_url ?? kind?.baseUrlOf?.(entry) ?? kind?.baseUrl ?? '',
      keys: credentialReferences(entry).map(({ reference }) => reference),
      isKeyRequired: kind?.isKeyRequired === true && kind.isKeyless?.(entry) !== true,
      keyFault: (secret: string) => kind?.keyFault?.(secret) ?? null,
    };
  });
  return { providers, findings };
}

/** Credentials that are missing or do not resolve are told with their provider. */
function isOfCredential(path: string, providers: JsonObject): boolean {
  return Object.entries(providers).some(
    ([name, entry]) =>
      path === formatPath(['providers', name, 'api_keys']) ||
      credentialReferences(entry).some(
        (credential) => path === formatPath(['providers', name, ...credential.path]),
      ),
  );
}
