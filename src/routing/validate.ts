/** Judges a whole document: every fault with its path, or the values with their warnings. */
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { fail, type Result, success } from '../base/result.ts';
import type { Variant } from '../prompts/variant.ts';
import type { SecretResolver } from '../providers/secrets.ts';
import { type ConfigFault, formatPath, type InvalidDocument } from './document/config-fault.ts';
import { inspectDocument } from './document/hygiene.ts';
import { checkReferences } from './document/references.ts';
import { issueFaults } from './document/schema-issues.ts';
import { documentWarnings, unresolvedSecrets } from './document/warnings.ts';
import { type DocumentValues, documentSchema } from './document.ts';
import { durationMs } from './duration.ts';

export type ValidationContext = {
  /** The prompt variants that exist. */
  readonly variants: ReadonlyMap<string, Variant>;
  /** Names of prompts that exist but do not compile; their faults are told elsewhere. */
  readonly brokenPrompts?: ReadonlySet<string>;
  readonly resolveSecret: SecretResolver;
};

export type ValidDocument = {
  /** As it was written; a copy. */
  readonly document: JsonObject;
  /** With every default, in written units. */
  readonly values: DocumentValues;
  readonly warnings: readonly ConfigFault[];
};

/** Never throws, whatever `document` is; no message holds a value that could be a secret. */
export function validateDocument(
  document: unknown,
  context: ValidationContext,
): Result<ValidDocument, InvalidDocument> {
  const hygiene = inspectDocument(document);
  if (!hygiene.isWalkable) return fail({ faults: hygiene.faults, warnings: [] });
  if (!isJsonObject(document)) {
    const message = document === null ? 'the document is empty' : 'the document must be a mapping';
    return fail({ faults: [{ path: '', message }], warnings: [] });
  }
  const own = hygiene.faults.length === 0 ? copyOf(document) : document;
  const secretWarnings = unresolvedSecrets(own, context.resolveSecret);
  const promptNames = new Set([...context.variants.keys(), ...(context.brokenPrompts ?? [])]);
  const references = checkReferences(own, promptNames);
  const told = new Set([...references.explained, ...hygiene.faults.map((fault) => fault.path)]);
  told.delete('');
  const parsed = documentSchema.safeParse(own);
  const faults = unrepeated([
    ...hygiene.faults,
    ...references.faults.filter((fault) => !isWithin(fault.path, hygiene.faults)),
    ...(parsed.success
      ? relationFaults(parsed.data)
      : issueFaults({ document: own, issues: parsed.error.issues, told })),
  ]);
  if (!parsed.success || faults.length > 0) return fail({ faults, warnings: secretWarnings });
  const warnings = [...secretWarnings, ...documentWarnings(parsed.data, context.variants)];
  return success({ document: own, values: parsed.data, warnings });
}

/** Plain JSON, as the inspection has shown; whoever gave it may change theirs later. */
function copyOf(document: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(document)) as JsonObject;
}

function isWithin(path: string, faults: readonly ConfigFault[]): boolean {
  return faults.some((fault) => fault.path !== '' && fault.path === path);
}

function unrepeated(faults: readonly ConfigFault[]): readonly ConfigFault[] {
  const byText = new Map(faults.map((fault) => [`${fault.path}\n${fault.message}`, fault]));
  return [...byText.values()];
}

/** Values that are right each for itself and wrong together. */
function relationFaults(values: DocumentValues): readonly ConfigFault[] {
  const faults: ConfigFault[] = [];
  for (const [name, tier] of Object.entries(values.tiers)) {
    const { open_for: base, open_for_max: most } = tier.breaker;
    if ((durationMs(most) ?? 0) < (durationMs(base) ?? 0)) {
      faults.push({
        path: formatPath(['tiers', name, 'breaker', 'open_for_max']),
        message: `must not be below open_for (${base})`,
      });
    }
    for (const [index, target] of tier.targets.entries()) {
      if (target.min_concurrent > target.max_concurrent) {
        faults.push({
          path: formatPath(['tiers', name, 'targets', index, 'min_concurrent']),
          message: `must not be above max_concurrent (${target.max_concurrent})`,
        });
      }
    }
  }
  return faults;
}
