/** What an answer names by ids: itself and its items. Its account may keep them, and alone can read its reasoning. */
import { arrayAt, objectAt, stringAt } from '../../base/json.ts';
import type { MadeItem } from '../../chat/stream-event.ts';

const none: readonly MadeItem[] = [];

/** What one event of a stream tells of as complete, or as begun where it is the answer itself. */
export function madeInEvent(event: unknown): readonly MadeItem[] {
  switch (stringAt(event, 'type')) {
    case 'response.created':
    case 'response.completed':
    case 'response.incomplete':
      return madeInResponse(objectAt(event, 'response'));
    case 'response.output_item.done':
      return madeOf(objectAt(event, 'item'));
    default:
      return none;
  }
}

export function madeInResponse(response: unknown): readonly MadeItem[] {
  return [...madeOf(response), ...arrayAt(response, 'output').flatMap(madeOf)];
}

function madeOf(value: unknown): readonly MadeItem[] {
  const id = stringAt(value, 'id');
  if (id === null || id === '') return none;
  return [{ id, isReasoning: stringAt(value, 'type') === 'reasoning' }];
}
