/** Ids of tool calls as this dialect takes them: a call and its result are joined by them alone. */
import { UniqueCallIds } from '../unique-call-ids.ts';

/** Ids that begin with `tgs_` carry what another vendor signed: none of this dialect's business. */
const accepted = /^(?!tgs_)[^\0]{1,64}$/;

export function toolCallIds(): UniqueCallIds {
  return new UniqueCallIds({ accepted, prefix: 'call_' });
}
