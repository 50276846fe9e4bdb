/** What a request needs of a target for its meaning to survive. */
import type { ChatRequest, Message } from './request.ts';

export const abilities = [
  'tools',
  'images',
  'documents',
  'audio',
  'json_schema',
  'logprobs',
  'n',
  'stop',
] as const;
export type Ability = (typeof abilities)[number];

/** The abilities that `request` cannot do without, in a fixed order. */
export function requirementsOf(request: ChatRequest): readonly Ability[] {
  const needed = new Set<Ability>();
  if (request.tools.length > 0) needed.add('tools');
  if (request.parameters.response_format?.type === 'json_schema') needed.add('json_schema');
  if (request.parameters.logprobs === true) needed.add('logprobs');
  if ((request.parameters.n ?? 1) > 1) needed.add('n');
  if ((request.parameters.stop ?? []).some((sequence) => sequence !== '')) needed.add('stop');
  for (const message of request.messages) addMedia(message, needed);
  return abilities.filter((ability) => needed.has(ability));
}

function addMedia(message: Message, needed: Set<Ability>): void {
  for (const part of message.content) {
    if (part.type === 'image') needed.add('images');
    if (part.type === 'document') needed.add('documents');
    if (part.type === 'audio') needed.add('audio');
  }
}
