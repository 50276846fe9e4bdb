/** A reasoning effort in the words that a model knows. */

/** Rising. */
const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/**
 * `wanted` where the model knows it, else the nearest below, else its lowest; a word that nobody here
 * knows stays as it is. Null: the model takes no effort.
 */
export function nearestEffort(wanted: string, known: readonly string[]): string | null {
  if (known.includes(wanted)) return wanted;
  const rank = efforts.indexOf(wanted);
  if (known.length > 0 && rank === -1) return wanted;
  const rising = known.toSorted((left, right) => efforts.indexOf(left) - efforts.indexOf(right));
  return rising.findLast((effort) => efforts.indexOf(effort) < rank) ?? rising[0] ?? null;
}
