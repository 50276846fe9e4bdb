/** How a process comes by its config: from the store, or, on the first start, from its files. */
import { isJsonObject } from '../base/json.ts';
import { type Result, success } from '../base/result.ts';
import type { PromptSources } from '../prompts/load-variants.ts';
import { type Change, diffDocuments } from './diff.ts';
import type { InvalidDocument } from './document/config-fault.ts';
import { type ConfigPorts, configState, judgeConfig, newRevision } from './judge-config.ts';
import { LiveConfig } from './live-config.ts';
import type { Revision } from './revision-store.ts';

export type StartedConfig = {
  readonly config: LiveConfig;
  /** `seeded`: the store was empty. `stored`: it was not. `replaced`: the seed differed and was applied. */
  readonly origin: 'seeded' | 'stored' | 'replaced';
  /** What the files say otherwise than the store, prompts under `prompts`; empty unless `stored`. */
  readonly seedChanges: readonly Change[];
};

type Start = ConfigPorts & {
  readonly seed: { readonly document: unknown; readonly prompts: PromptSources };
  readonly whenSeedDiffers?: 'report' | 'apply';
};

/**
 * The first start stores the seed, later ones use what is stored and tell how the seed differs; with
 * `whenSeedDiffers: 'apply'` (the seed is made anew by each start: simulated providers) it becomes a
 * new version. A stored version that is invalid by now is a fault, never silently replaced.
 */
export async function startLiveConfig(
  input: Start,
): Promise<Result<StartedConfig, InvalidDocument>> {
  const stored = input.store.latest();
  if (stored === null) return plant(input, null);
  const seedChanges = changesOf(stored, input.seed);
  if (input.whenSeedDiffers === 'apply' && seedChanges.length > 0) return plant(input, stored);
  const judged = await judgeConfig({ ...stored, resolveSecret: input.resolveSecret });
  if (!judged.ok) return judged;
  const config = new LiveConfig(input, configState(judged.value, stored, input.bindProvider));
  return success({ config, origin: 'stored', seedChanges });
}

async function plant(
  input: Start,
  stored: Revision | null,
): Promise<Result<StartedConfig, InvalidDocument>> {
  const judged = await judgeConfig({ ...input.seed, resolveSecret: input.resolveSecret });
  if (!judged.ok) return judged;
  const revision = input.store.append(
    newRevision({
      document: judged.value.valid.document,
      prompts: input.seed.prompts,
      authorship: { author: 'seed', note: stored === null ? 'first start' : 'made by this start' },
      clock: input.clock,
    }),
    stored?.version ?? 0,
  );
  // Another process was faster: what it stored is the truth.
  if (revision === 'conflict') return startLiveConfig({ ...input, whenSeedDiffers: 'report' });
  const config = new LiveConfig(input, configState(judged.value, revision, input.bindProvider));
  return success({
    config,
    origin: stored === null ? 'seeded' : 'replaced',
    seedChanges: [],
  });
}

function changesOf(stored: Revision, seed: Start['seed']): readonly Change[] {
  return diffDocuments(
    { ...stored.document, prompts: stored.prompts },
    { ...(isJsonObject(seed.document) ? seed.document : {}), prompts: seed.prompts },
  );
}
