/** How a client wants the model to think, and whether it wants to see that. */
import type { ChatRequest } from '../../chat/request.ts';
import { plainName } from '../client-body.ts';
import type { ClientFields } from './client-fields.ts';
import { camelCase } from './proto-names.ts';

export type ClientThinking = {
  readonly effort: string | null;
  readonly fields: Pick<ChatRequest, 'thinkingBudget' | 'hidesThoughts'>;
};

const knownFields: ReadonlySet<string> = new Set([
  'includeThoughts',
  'thinkingBudget',
  'thinkingLevel',
]);

/** Up to which budget which effort is meant: what they mean to this dialect's own models. */
const efforts = [
  [0, 'none'],
  [1024, 'minimal'],
  [4096, 'low'],
  [8192, 'medium'],
  [24_576, 'high'],
] as const;

/** What has no place in another dialect is told to `notes`. */
export function readThinking(body: ClientFields, notes: Set<string>): ClientThinking {
  const thinking = body.fieldsOf('generationConfig').fieldsOf('thinkingConfig');
  const note = (name: string) => notes.add(`generationConfig.thinkingConfig.${plainName(name)}`);
  for (const [name, value] of Object.entries(thinking.json)) {
    const isSaid = value !== undefined && value !== null;
    if (isSaid && !knownFields.has(camelCase(name))) note(name);
  }
  const level = levelIn(thinking);
  const budget = thinking.integer('thinkingBudget');
  const isShown = thinking.boolean('includeThoughts');
  const hidden = isShown === false ? { hidesThoughts: true } : {};
  if (level !== null) {
    // The service refuses both at once.
    if (budget !== null) note('thinkingBudget');
    return { effort: level, fields: hidden };
  }
  if (budget === null || budget < 0) {
    // Below 0 the model decides, and so it does where thoughts are to be shown and nothing else is said.
    const isOpen = budget !== null || isShown === true;
    return { effort: null, fields: { ...(isOpen ? { thinkingBudget: 'open' } : {}), ...hidden } };
  }
  const effort = efforts.find(([most]) => budget <= most)?.[1] ?? 'xhigh';
  return { effort, fields: { ...(budget > 0 ? { thinkingBudget: budget } : {}), ...hidden } };
}

function levelIn(thinking: ClientFields): string | null {
  const level = thinking.string('thinkingLevel');
  const isSaid = level !== null && level !== '' && level !== 'THINKING_LEVEL_UNSPECIFIED';
  return isSaid ? level.toLowerCase() : null;
}
