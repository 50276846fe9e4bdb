/** Where a provider's entry of the document names secrets that prove who asks. */
import { arrayAt, isJsonObject, property, stringAt } from '../base/json.ts';
import { providerKind } from './registry.ts';
import { parseSecretReference } from './secrets.ts';

export type CredentialReference = {
  /** Within the entry. */
  readonly path: readonly PropertyKey[];
  readonly reference: string;
};

/** Its `api_keys`, then whatever its kind's own fields name, at any depth. Reads a raw entry too. */
export function credentialReferences(entry: unknown): readonly CredentialReference[] {
  const kind = providerKind(stringAt(entry, 'kind') ?? '');
  const own = Object.keys(kind?.configShape ?? {}).map((name) => [name, property(entry, name)]);
  const found: CredentialReference[] = [];
  collect(arrayAt(entry, 'api_keys'), ['api_keys'], found);
  collect(Object.fromEntries(own), [], found);
  return found;
}

function collect(value: unknown, path: readonly PropertyKey[], found: CredentialReference[]): void {
  if (typeof value === 'string') {
    if (parseSecretReference(value) !== null) found.push({ path, reference: value });
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, [...path, index], found);
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) collect(member, [...path, name], found);
  }
}
