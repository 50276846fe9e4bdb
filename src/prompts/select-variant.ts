/** Which wording a target gets. */

/**
 * The one it names; absent, the one named after tier and provider, else the tier's base, else none
 * (null). A named one is returned whether it exists or not: that is checked when the config is.
 */
export function selectVariant(input: {
  readonly named: string | null;
  readonly tier: string;
  readonly provider: string;
  readonly exists: (name: string) => boolean;
}): string | null {
  if (input.named !== null) return input.named;
  const forProvider = `${input.tier}.${input.provider}`;
  if (input.exists(forProvider)) return forProvider;
  return input.exists(input.tier) ? input.tier : null;
}
