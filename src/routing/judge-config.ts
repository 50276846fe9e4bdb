/** Document and prompts judged together, and what follows from a sound pair. */
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import { fail, type Result, success } from '../base/result.ts';
import {
  type LoadedPrompts,
  loadVariants,
  type PromptFault,
  type PromptSources,
} from '../prompts/load-variants.ts';
import type { BindProvider } from '../providers/bind.ts';
import { looksLikeSecret } from '../providers/secret-forms.ts';
import type { SecretResolver } from '../providers/secrets.ts';
import { buildSnapshot } from './build-snapshot.ts';
import { formatPath, type InvalidDocument } from './document/config-fault.ts';
import { documentHash } from './etag.ts';
import type { Revision, RevisionStore } from './revision-store.ts';
import type { Snapshot } from './snapshot.ts';
import { type ValidDocument, validateDocument } from './validate.ts';

export type ConfigPorts = {
  readonly store: RevisionStore;
  readonly bindProvider: BindProvider;
  readonly resolveSecret: SecretResolver;
  readonly clock: Clock;
};

/** Who changes the config, and why. */
export type Authorship = { readonly author: string; readonly note: string | null };

export type JudgedConfig = { readonly valid: ValidDocument; readonly prompts: LoadedPrompts };

/** One version in force. */
export type ConfigState = JudgedConfig & { readonly snapshot: Snapshot };

/** A fault in either refuses both. Variants of `previous` that would be the same are reused. */
export async function judgeConfig(input: {
  readonly document: unknown;
  readonly prompts: PromptSources;
  readonly resolveSecret: SecretResolver;
  readonly previous?: LoadedPrompts;
}): Promise<Result<JudgedConfig, InvalidDocument>> {
  const prompts = await loadVariants(input.prompts, input.previous);
  const promptFaults = [...prompts.faults, ...literalSecrets(input.prompts)].map(
    ({ name, message }) => ({
      path: formatPath(name === '' ? ['prompts'] : ['prompts', name]),
      message,
    }),
  );
  // A prompt that does not compile still exists: its own fault is told, not that it is unknown.
  const valid = validateDocument(input.document, {
    variants: prompts.variants,
    brokenPrompts: new Set(prompts.faults.map((fault) => fault.name)),
    resolveSecret: input.resolveSecret,
  });
  if (!valid.ok) {
    return fail({ ...valid.fault, faults: [...promptFaults, ...valid.fault.faults] });
  }
  if (promptFaults.length > 0) {
    return fail({ faults: promptFaults, warnings: valid.value.warnings });
  }
  return success({ valid: valid.value, prompts });
}

/** Prompts are stored and shown as the document is, so they may hold no secret either. */
function literalSecrets(sources: PromptSources): readonly PromptFault[] {
  return Object.entries(sources)
    .filter(([, source]) => typeof source === 'string' && looksLikeSecret(source))
    .map(([name]) => ({ name, message: 'holds what looks like a key: take it out' }));
}

export function configState(
  judged: JudgedConfig,
  revision: Revision,
  bindProvider: BindProvider,
): ConfigState {
  const snapshot = buildSnapshot({
    version: revision.version,
    createdAtMs: revision.createdAtMs,
    valid: judged.valid,
    variants: judged.prompts.variants,
    bindProvider,
  });
  return { snapshot, valid: judged.valid, prompts: judged.prompts };
}

export function newRevision(input: {
  readonly document: JsonObject;
  readonly prompts: PromptSources;
  readonly authorship: Authorship;
  readonly clock: Clock;
}): Omit<Revision, 'version'> {
  return {
    hash: documentHash(input.document),
    document: input.document,
    prompts: input.prompts,
    author: input.authorship.author,
    note: input.authorship.note,
    createdAtMs: input.clock.wallMs(),
  };
}
