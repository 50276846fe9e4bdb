/** A target as a request that is no chat asks it: another path of the same provider, the same keys and rules. */
import type { OperationName } from '../dialects/dialect.ts';
import type { Target } from '../routing/snapshot.ts';

/** `operation` null = a chat. The result is null when the target's dialect has no such call. */
export function askedTarget(target: Target, operation: OperationName | null): Target | null {
  if (operation === null) return target;
  const { provider } = target;
  const asked = provider.dialect.operations?.[operation];
  if (asked === undefined) return null;
  const { urlFrom, ...codec } = asked;
  return {
    ...target,
    // A prompt is put into words, not into vectors.
    variant: operation === 'embeddings' ? null : target.variant,
    provider: {
      ...provider,
      dialect: { ...provider.dialect, ...codec, operation, asksAgainWhenEmpty: false },
      urlFor: (input) => urlFrom(provider.urlFor(input)),
    },
  };
}
