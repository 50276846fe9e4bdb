/** The document that serves when there is none: `fast`, `smart` and `reasoning` over the providers found. */
import type { JsonObject } from '../base/json.ts';
import type { DefaultTier, ProviderKind } from './provider-kind.ts';
import { providerKinds } from './registry.ts';

const tiers: { readonly [tier in DefaultTier]: JsonObject } = {
  fast: { description: 'Short answers, classification, extraction: low latency first' },
  smart: { description: 'Everyday work: writing, code, tools, images' },
  reasoning: { description: 'Multi-step problems, tools, long context', deadline: '300s' },
};

/**
 * From the key variables that are set, in the registry's order; null when none is. Only names of
 * variables go into the document, never values.
 */
export function defaultDocument(
  environment: Readonly<Record<string, string | undefined>>,
): JsonObject | null {
  const found = providerKinds.filter(
    (kind) => kind.keyVariable !== null && (environment[kind.keyVariable] ?? '').trim() !== '',
  );
  const entry = (kind: ProviderKind): JsonObject => ({
    kind: kind.name,
    api_keys: [`env:${kind.keyVariable}`],
  });
  return documentOf(found, entry);
}

/** From base URLs by kind (simulated providers on loopback, which want no key); null when none is known. */
export function simulatedDocument(baseUrls: Readonly<Record<string, string>>): JsonObject | null {
  const found = providerKinds.filter((kind) => Object.hasOwn(baseUrls, kind.name));
  return documentOf(found, (kind) => ({ kind: kind.name, base_url: baseUrls[kind.name] }));
}

function documentOf(
  kinds: readonly ProviderKind[],
  entryOf: (kind: ProviderKind) => JsonObject,
): JsonObject | null {
  const used = kinds.filter((kind) => kind.defaultTargets !== null);
  if (used.length === 0) return null;
  return {
    providers: Object.fromEntries(used.map((kind) => [kind.name, entryOf(kind)])),
    tiers: Object.fromEntries(
      Object.entries(tiers).map(([name, settings]) => [
        name,
        { ...settings, targets: used.map((kind) => targetOf(kind, name as DefaultTier)) },
      ]),
    ),
  };
}

function targetOf(kind: ProviderKind, tier: DefaultTier): JsonObject {
  const target = kind.defaultTargets?.[tier];
  const params = target?.params ?? {};
  return {
    provider: kind.name,
    model: target?.model,
    ...(Object.keys(params).length > 0 ? { params } : {}),
  };
}
