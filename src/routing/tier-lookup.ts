/** From the name that a client sent to a tier: names first, then aliases in document order, then the default. */
import type { Tier } from './snapshot.ts';

/** `tiers` in document order. The result is null for a name that leads nowhere. */
export function tierLookup(
  tiers: ReadonlyMap<string, Tier>,
  defaultTier: string | null,
): (name: string) => Tier | null {
  const aliases = [...tiers.values()].flatMap((tier) =>
    tier.aliases.map((alias) => ({ matches: aliasMatcher(alias), tier })),
  );
  const fallback = defaultTier === null ? null : (tiers.get(defaultTier) ?? null);
  return (name) =>
    tiers.get(name) ?? aliases.find((alias) => alias.matches(name))?.tier ?? fallback;
}

/** `*` stands for any characters, also none. Linear in the name, whatever the glob. */
export function aliasMatcher(alias: string): (name: string) => boolean {
  const [first = '', ...rest] = alias.split('*');
  const last = rest.pop();
  if (last === undefined) return (name) => name === alias;
  return (name) => {
    if (name.length < first.length + last.length) return false;
    if (!name.startsWith(first) || !name.endsWith(last)) return false;
    const end = name.length - last.length;
    let from = first.length;
    for (const piece of rest) {
      const found = name.indexOf(piece, from);
      if (found < 0 || found + piece.length > end) return false;
      from = found + piece.length;
    }
    return from <= end;
  };
}
