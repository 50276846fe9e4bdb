/** What a model's name tells: to whom its signatures are bound, and how it is told to think. */

/** Endings that name a snapshot, not another model: `-preview-05-20`, `-001`, `-exp-0827`, `-latest`. */
const snapshotEnding = /-(preview|latest|exp|experimental|\d{2}-\d{4}|\d{2}-\d{2}|\d{3,4})$/;

/** The family of `model` as a request names it (`models/x`, a path) or an answer reports it. */
export function familyOf(model: string): string {
  let family = (model.split('/').at(-1) ?? '').split('@')[0]?.toLowerCase() ?? '';
  for (let cut = family.replace(snapshotEnding, ''); cut !== family; ) {
    family = cut;
    cut = family.replace(snapshotEnding, '');
  }
  return family;
}

/** `budget`: a number of tokens. `level`: a word. `none`: it does not think, or we do not know. */
export type ThinkingControl =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'budget';
      /** It can be kept from thinking, with a budget of 0. */
      readonly canBeOff: boolean;
      readonly min: number;
      readonly max: number;
    }
  | { readonly kind: 'level'; readonly lowest: 'MINIMAL' | 'LOW'; readonly hasMedium: boolean };

export function thinkingControlOf(model: string): ThinkingControl {
  const version = versionOf(model);
  if (version === null || version < 205) return { kind: 'none' };
  const isPro = /-pro\b/.test(familyOf(model));
  if (version < 300) {
    const isLite = /-lite\b/.test(familyOf(model));
    const min = isPro ? 128 : isLite ? 512 : 1;
    return { kind: 'budget', canBeOff: !isPro, min, max: isPro ? 32_768 : 24_576 };
  }
  return { kind: 'level', lowest: isPro ? 'LOW' : 'MINIMAL', hasMedium: !isPro || version > 300 };
}

/** The budget nearest to `wanted` that the model takes. */
export function fittingBudget(
  wanted: number,
  { canBeOff, min, max }: Extract<ThinkingControl, { readonly kind: 'budget' }>,
): number {
  return wanted === 0 && canBeOff ? 0 : Math.min(Math.max(wanted, min), max);
}

/** Whether a JSON answer and tools can be asked for at once. */
export function takesFormatWithTools(model: string): boolean {
  const version = versionOf(model);
  return version === null || version >= 300;
}

/** Whether the vendor's own service fetches public links for it (ai.google.dev, file input methods, 2026). */
export function fetchesLinks(model: string): boolean {
  return (versionOf(model) ?? 0) >= 300;
}

/** Major times 100 plus minor (2.5 = 205); null for other names. An alias without a number is a current model. */
function versionOf(model: string): number | null {
  const match = /gemini-(\d{1,2})(?:\.(\d{1,2}))?(?![\d.])/.exec(model);
  if (match !== null) return Number(match[1]) * 100 + Number(match[2] ?? 0);
  return /gemini-[a-z-]*latest$/.test(model) ? 301 : null;
}
