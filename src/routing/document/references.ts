/** Names in a raw document that must lead somewhere. Reads defensively, so that it runs beside other faults. */
import {
  arrayAt,
  isJsonObject,
  type JsonObject,
  objectAt,
  property,
  stringAt,
} from '../../base/json.ts';
import { nearest } from '../../base/nearest.ts';
import { providerKind } from '../../providers/registry.ts';
import { looksLikeCredential } from '../../providers/secret-forms.ts';
import { type ConfigFault, formatPath, safeName, suggestion } from './config-fault.ts';

export type References = {
  readonly faults: readonly ConfigFault[];
  /** Paths whose one fault is told here: what the schema says about them and beneath is noise. */
  readonly explained: readonly string[];
};

/** `promptNames`: every variant that exists. */
export function checkReferences(
  document: JsonObject,
  promptNames: ReadonlySet<string>,
): References {
  const check = new ReferenceCheck(document, promptNames);
  check.providers();
  check.tiers();
  check.tierName(stringAt(document, 'default_tier'), ['default_tier']);
  return { faults: check.faults, explained: check.explained };
}

class ReferenceCheck {
  readonly faults: ConfigFault[] = [];
  readonly explained: string[] = [];
  readonly #providers: JsonObject;
  readonly #tiers: JsonObject;
  readonly #promptNames: ReadonlySet<string>;

  constructor(document: JsonObject, promptNames: ReadonlySet<string>) {
    this.#providers = objectAt(document, 'providers') ?? {};
    this.#tiers = objectAt(document, 'tiers') ?? {};
    this.#promptNames = promptNames;
  }

  providers(): void {
    for (const [name, entry] of Object.entries(this.#providers)) {
      const kind = providerKind(stringAt(entry, 'kind') ?? '');
      const isGiven = (property(entry, 'base_url') ?? null) !== null;
      if (kind?.baseUrl === null && kind.baseUrlOf === undefined && !isGiven) {
        this.#add(['providers', name, 'base_url'], `is required for kind ${kind.name}`);
      }
      for (const [index, key] of arrayAt(entry, 'api_keys').entries()) {
        if (typeof key === 'string' && !/^(env|file):/.test(key) && looksLikeCredential(key)) {
          this.#explain(
            ['providers', name, 'api_keys', index],
            'looks like a key: keep it in the environment and write env:NAME, or file:/path',
          );
        }
      }
      this.#headers(name, objectAt(entry, 'headers') ?? {});
    }
  }

  #headers(provider: string, headers: JsonObject): void {
    for (const [header, value] of Object.entries(headers)) {
      const isCredential = /auth|key|token|secret|password|cookie/i.test(header);
      if (isCredential && typeof value === 'string' && !/^(env|file):/.test(value)) {
        this.#explain(
          ['providers', provider, 'headers', header],
          'is a credential: keep it in the environment and write env:NAME, or file:/path',
        );
      }
    }
  }

  tiers(): void {
    for (const [name, tier] of Object.entries(this.#tiers)) {
      const ids = new Map<string, number>();
      for (const [index, target] of arrayAt(tier, 'targets').entries()) {
        const path = ['tiers', name, 'targets', index];
        if (typeof target === 'string') {
          this.#explain(
            path,
            'target must be provider/model: write { provider: NAME, model: NAME }',
          );
        } else if (Object.hasOwn(isJsonObject(target) ? target : {}, 'tier')) {
          this.#explain(
            path,
            "a target is never a tier: put that tier's own targets here, or send requests to it by name",
          );
        } else this.#target(target, path, ids);
      }
      const escalateTo = stringAt(objectAt(tier, 'output'), 'escalate_to');
      this.tierName(escalateTo, ['tiers', name, 'output', 'escalate_to']);
    }
  }

  #target(target: unknown, path: readonly PropertyKey[], ids: Map<string, number>): void {
    const provider = stringAt(target, 'provider');
    const model = stringAt(target, 'model');
    if (provider !== null && !Object.hasOwn(this.#providers, provider)) {
      this.#explain([...path, 'provider'], this.#unknown('provider', provider, this.#providers));
    }
    const prompt = stringAt(target, 'prompt');
    if (prompt !== null && !this.#promptNames.has(prompt)) {
      const meant = suggestion(nearest(prompt, this.#promptNames));
      this.#explain([...path, 'prompt'], `unknown prompt ${safeName(prompt)}${meant}`);
    }
    const id = stringAt(target, 'id') ?? (provider && model ? `${provider}/${model}` : null);
    if (id === null) return;
    const first = ids.get(id);
    if (first === undefined) ids.set(id, Number(path.at(-1)));
    else this.#add(path, `has the same id as targets[${first}]: set id on one of them`);
  }

  tierName(name: string | null, path: readonly PropertyKey[]): void {
    if (name === null || Object.hasOwn(this.#tiers, name)) return;
    this.#explain(path, this.#unknown('tier', name, this.#tiers));
  }

  #unknown(what: string, name: string, known: JsonObject): string {
    const names = Object.keys(known);
    const list = names.slice(0, 20).map(safeName).join(', ');
    const meant = suggestion(nearest(name, names));
    return `unknown ${what} ${safeName(name)}${meant} (known: ${list || 'none'})`;
  }

  #explain(path: readonly PropertyKey[], message: string): void {
    this.explained.push(formatPath(path));
    this.#add(path, message);
  }

  #add(path: readonly PropertyKey[], message: string): void {
    this.faults.push({ path: formatPath(path), message });
  }
}
