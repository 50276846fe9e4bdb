/** Ids of tool calls as this dialect takes them. */
import { UniqueCallIds } from '../unique-call-ids.ts';

/** Ids that begin with `tgs_` carry what another vendor signed: none of this dialect's business. */
const accepted = /^(?!tgs_)[a-zA-Z0-9_-]{1,64}$/;

export function toolCallIds(): UniqueCallIds {
  return new UniqueCallIds({ accepted, prefix: 'toolu_' });
}
