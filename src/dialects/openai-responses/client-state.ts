/** What a client's body asks of an account's memory. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { AccountState } from '../../chat/request.ts';
import type { FirstFault } from '../first-fault.ts';
import { TypedFields } from '../typed-fields.ts';

/** `itemIds` is told when the items have been read. */
export function readAccountState(
  json: JsonObject,
  faults: FirstFault,
): Omit<AccountState, 'itemIds'> {
  const fields = new TypedFields(json, faults);
  const store = fields.boolean('store');
  const isBackground = fields.boolean('background') ?? false;
  const previousId = fields.string('previous_response_id');
  const conversationId = readConversation(json['conversation'], faults);
  const isBound = store === true || isBackground || previousId !== null || conversationId !== null;
  return {
    isBound,
    // Without a word any target may serve the next turn: then nothing is kept at the one of this.
    isKept: isBound && store !== false,
    previousId,
    conversationId,
  };
}

/** Its id, plain or in an object. */
function readConversation(value: unknown, faults: FirstFault): string | null {
  if (value === undefined || value === null) return null;
  const id = isJsonObject(value) ? value['id'] : value;
  if (typeof id === 'string' && id !== '') return id;
  faults.reportType('conversation', 'an id, or an object with an id', value);
  return null;
}
