/** A target's `params`: canonical names are checked, names of the target's own dialect pass as they are. */
import { type ZodType, z } from 'zod';
import { decimal, flag, integer, strict, text } from './fields.ts';

/** A value is used where the client said nothing; `{ force: value }` also where it did. */
function settable<Value extends ZodType>(value: Value) {
  return z.union([value, strict({ force: value })]).optional();
}

/** The names of `ChatParameters`; anything else is a field of the target's dialect. */
export const paramsSchema = z
  .object(
    {
      max_tokens: settable(integer(1, 100_000_000)),
      temperature: settable(decimal(0, 2)),
      top_p: settable(decimal(0, 1)),
      top_k: settable(integer(0, 1_000_000)),
      stop: settable(z.array(text(1000)).min(1).max(16)),
      seed: settable(z.int({ error: 'must be a whole number' })),
      presence_penalty: settable(decimal(-2, 2)),
      frequency_penalty: settable(decimal(-2, 2)),
      reasoning_effort: settable(text(32)),
      verbosity: settable(text(32)),
      parallel_tool_calls: settable(flag),
      service_tier: settable(text(64)),
      user: settable(text(512)),
    },
    { error: 'must be a mapping' },
  )
  .catchall(z.unknown());
