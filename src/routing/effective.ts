/** A valid document with everything that it leaves out filled in. */
import type { JsonObject } from '../base/json.ts';
import { selectVariant } from '../prompts/select-variant.ts';
import type { Guardrails } from './document/guardrail-schema.ts';
import type { TierValues } from './document/tier-schema.ts';
import type { DocumentValues } from './document.ts';

/** Whether a prompt variant of this name exists. */
export type VariantExists = (name: string) => boolean;

export function effectiveDocument(values: DocumentValues, exists: VariantExists): JsonObject {
  const tiers = Object.entries(values.tiers).map(([name, tier]) => [
    name,
    effectiveTier({ name, tier, guardrails: values.guardrails, exists }),
  ]);
  return { ...values, tiers: Object.fromEntries(tiers) };
}

/** With ids and the variants that are used, and the whole document's guardrails under the tier's own. */
export function effectiveTier(input: {
  readonly name: string;
  readonly tier: TierValues;
  readonly guardrails: Guardrails;
  readonly exists: VariantExists;
}): JsonObject {
  const { name, tier, guardrails } = input;
  return {
    ...tier,
    guardrails: {
      without_run_id: tier.guardrails.without_run_id ?? guardrails.without_run_id,
      repeat: { ...guardrails.repeat, ...tier.guardrails.repeat },
      tool_failures: { ...guardrails.tool_failures, ...tier.guardrails.tool_failures },
      steps: { ...guardrails.steps, ...tier.guardrails.steps },
      tokens: { ...guardrails.tokens, ...tier.guardrails.tokens },
    },
    targets: tier.targets.map((target) => ({
      id: targetId(target),
      ...target,
      prompt: selectVariant({
        named: target.prompt,
        tier: name,
        provider: target.provider,
        exists: input.exists,
      }),
      timeout: { ...tier.timeout, ...target.timeout },
    })),
  };
}

/** `provider/model` unless the document sets another. */
export function targetId(target: {
  readonly id?: string | undefined;
  readonly provider: string;
  readonly model: string;
}): string {
  return target.id ?? `${target.provider}/${target.model}`;
}
