/** The config that requests run on, and the only way to change it: validated whole, stored, then swapped. */
import { type JsonObject, objectAt } from '../base/json.ts';
import type { Result } from '../base/result.ts';
import type { PromptSources } from '../prompts/load-variants.ts';
import { type Change, diffDocuments } from './diff.ts';
import type { ConfigFault, InvalidDocument } from './document/config-fault.ts';
import { effectiveDocument, effectiveTier } from './effective.ts';
import { canonicalJson, isMatch, tierEtag } from './etag.ts';
import {
  type Authorship,
  type ConfigPorts,
  type ConfigState,
  configState,
  type JudgedConfig,
  judgeConfig,
  newRevision,
} from './judge-config.ts';
import type { Snapshot } from './snapshot.ts';

/** `ifMatch` and `ifNoneMatch` are the headers as they came; null = absent. */
export type TierPrecondition = {
  readonly ifMatch: string | null;
  readonly ifNoneMatch: string | null;
};

export type ChangeResult =
  /** In force now. A change that changes nothing keeps the version. `etag`: the tier's; null for a removal or a whole document. */
  | {
      readonly kind: 'applied';
      readonly version: number;
      readonly etag: string | null;
      readonly isCreated: boolean;
      readonly warnings: readonly ConfigFault[];
    }
  /** The precondition names another state (412). */
  | { readonly kind: 'stale' }
  /** Neither header was sent (428). */
  | { readonly kind: 'precondition_required' }
  | { readonly kind: 'unknown_tier' }
  | ({ readonly kind: 'invalid' } & InvalidDocument)
  /** Another process stored a version first; its config is in force here now. */
  | { readonly kind: 'conflict' };

/** What a draft would do; nothing is changed. */
export type Preview = {
  readonly isValid: boolean;
  readonly faults: readonly ConfigFault[];
  readonly warnings: readonly ConfigFault[];
  readonly changes: readonly Change[];
};

/** A tier as the control plane shows it. */
export type TierDescription = {
  readonly name: string;
  readonly version: number;
  readonly config: JsonObject;
  readonly effective: JsonObject;
  readonly etag: string;
};

export type SnapshotListener = (snapshot: Snapshot, previous: Snapshot) => void;

export class LiveConfig {
  #state: ConfigState;
  readonly #ports: ConfigPorts;
  readonly #listeners = new Set<SnapshotListener>();
  /** Changes run one after the other, so that a precondition holds until its change is stored. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(ports: ConfigPorts, state: ConfigState) {
    this.#ports = ports;
    this.#state = state;
  }

  current(): Snapshot {
    return this.#state.snapshot;
  }

  /** Of the config in force, as they were found when it was loaded. */
  warnings(): readonly ConfigFault[] {
    return this.#state.valid.warnings;
  }

  promptSources(): PromptSources {
    return this.#state.prompts.sources;
  }

  effective(): JsonObject {
    const { valid, prompts } = this.#state;
    return effectiveDocument(valid.values, (name) => prompts.variants.has(name));
  }

  /** In document order. */
  tiers(): readonly TierDescription[] {
    const names = Object.keys(this.#state.valid.values.tiers);
    return names.map((name) => this.tier(name)).filter((tier) => tier !== null);
  }

  /** Null when there is no tier of this name; aliases are not looked at. */
  tier(name: string): TierDescription | null {
    const { snapshot, valid, prompts } = this.#state;
    const config = objectAt(objectAt(valid.document, 'tiers'), name);
    const tier = Object.hasOwn(valid.values.tiers, name) ? valid.values.tiers[name] : undefined;
    if (config === null || tier === undefined) return null;
    const { guardrails } = valid.values;
    const exists = (variant: string): boolean => prompts.variants.has(variant);
    return {
      name,
      version: snapshot.version,
      config,
      effective: effectiveTier({ name, tier, guardrails, exists }),
      etag: tierEtag(config),
    };
  }

  /** Called after each swap; the result stops it. A listener must not throw. */
  onChange(listener: SnapshotListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Makes or replaces one tier: `If-None-Match: *` makes, `If-Match` replaces. */
  replaceTier(
    change: { readonly name: string; readonly config: unknown } & TierPrecondition & Authorship,
  ): Promise<ChangeResult> {
    return this.#inTurn(async () => {
      const now = this.tier(change.name);
      const refusal = preconditionRefusal(change, now);
      if (refusal !== null) return refusal;
      const document = this.#withTier(change.name, change.config);
      const result = await this.#change(document, this.promptSources(), change);
      if (result.kind !== 'applied') return result;
      return { ...result, etag: tierEtag(change.config), isCreated: now === null };
    });
  }

  removeTier(
    change: { readonly name: string } & TierPrecondition & Authorship,
  ): Promise<ChangeResult> {
    return this.#inTurn(async () => {
      const now = this.tier(change.name);
      if (now === null) return { kind: 'unknown_tier' };
      const refusal = preconditionRefusal(change, now);
      if (refusal !== null) return refusal;
      const { document } = this.#state.valid;
      const { [change.name]: _removed, ...tiers } = objectAt(document, 'tiers') ?? {};
      return this.#change({ ...document, tiers }, this.promptSources(), change);
    });
  }

  /** Replaces the whole document, and the prompts where they are given. */
  apply(
    change: { readonly document: unknown; readonly prompts?: PromptSources } & Authorship,
  ): Promise<ChangeResult> {
    return this.#inTurn(() =>
      this.#change(change.document, change.prompts ?? this.promptSources(), change),
    );
  }

  /** What `replaceTier` would do, without preconditions. */
  previewTier(draft: { readonly name: string; readonly config: unknown }): Promise<Preview> {
    return this.preview({ document: this.#withTier(draft.name, draft.config) });
  }

  async preview(draft: {
    readonly document: unknown;
    readonly prompts?: PromptSources;
  }): Promise<Preview> {
    const sources = draft.prompts ?? this.promptSources();
    const judged = await this.#judge(draft.document, sources);
    if (!judged.ok) return { isValid: false, ...judged.fault, changes: [] };
    const { document, warnings } = judged.value.valid;
    const changes = diffDocuments(this.#state.valid.document, document);
    return { isValid: true, faults: [], warnings, changes };
  }

  /** Takes over what another process stored; false when the store holds nothing newer or nothing valid. */
  refresh(): Promise<boolean> {
    return this.#inTurn(() => this.#adoptLatest());
  }

  #inTurn<Outcome>(task: () => Promise<Outcome>): Promise<Outcome> {
    const run = this.#last.then(task, task);
    this.#last = run.catch(() => undefined);
    return run;
  }

  #withTier(name: string, config: unknown): JsonObject {
    const { document } = this.#state.valid;
    return { ...document, tiers: { ...objectAt(document, 'tiers'), [name]: config } };
  }

  async #change(
    document: unknown,
    prompts: PromptSources,
    authorship: Authorship,
  ): Promise<ChangeResult> {
    const judged = await this.#judge(document, prompts);
    if (!judged.ok) return { kind: 'invalid', ...judged.fault };
    const { valid } = judged.value;
    const done = { etag: null, isCreated: false, warnings: valid.warnings };
    const { version } = this.#state.snapshot;
    if (this.#isInForce(valid.document, prompts)) return { kind: 'applied', version, ...done };
    const { store, clock, bindProvider } = this.#ports;
    const { author, note } = authorship;
    const revision = store.append(
      newRevision({ document: valid.document, prompts, authorship: { author, note }, clock }),
      version,
    );
    if (revision === 'conflict') {
      await this.#adoptLatest();
      return { kind: 'conflict' };
    }
    this.#swap(configState(judged.value, revision, bindProvider));
    return { kind: 'applied', version: revision.version, ...done };
  }

  /** The order of tiers decides between aliases, so texts are compared, not hashes. */
  #isInForce(document: JsonObject, prompts: PromptSources): boolean {
    return (
      JSON.stringify(document) === JSON.stringify(this.#state.valid.document) &&
      canonicalJson(prompts) === canonicalJson(this.promptSources())
    );
  }

  #judge(
    document: unknown,
    prompts: PromptSources,
  ): Promise<Result<JudgedConfig, InvalidDocument>> {
    const { resolveSecret } = this.#ports;
    return judgeConfig({ document, prompts, resolveSecret, previous: this.#state.prompts });
  }

  async #adoptLatest(): Promise<boolean> {
    const latest = this.#ports.store.latest();
    if (latest === null || latest.version <= this.#state.snapshot.version) return false;
    const judged = await this.#judge(latest.document, latest.prompts);
    if (!judged.ok) return false;
    this.#swap(configState(judged.value, latest, this.#ports.bindProvider));
    return true;
  }

  #swap(state: ConfigState): void {
    const previous = this.#state.snapshot;
    this.#state = state;
    for (const listener of this.#listeners) listener(state.snapshot, previous);
  }
}

/** Why a change may not go on, or null. A change needs a precondition, so that nobody overwrites what they have not seen. */
function preconditionRefusal(
  precondition: TierPrecondition,
  now: TierDescription | null,
): ChangeResult | null {
  const { ifMatch, ifNoneMatch } = precondition;
  if (ifMatch === null && ifNoneMatch === null) return { kind: 'precondition_required' };
  if (ifMatch !== null && (now === null || !isMatch(ifMatch, now.etag))) return { kind: 'stale' };
  if (ifNoneMatch !== null && now !== null && isMatch(ifNoneMatch, now.etag)) {
    return { kind: 'stale' };
  }
  return null;
}
