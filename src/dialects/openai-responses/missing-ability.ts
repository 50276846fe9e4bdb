/** What of a request this dialect cannot say, so that a target that can is asked. */
import type { ChatRequest, Message } from '../../chat/request.ts';
import { foreignAbility } from '../foreign-request.ts';
import { asksTooManyLogprobs } from '../token-logprobs.ts';
import { dialectName } from './wire.ts';

const audioFormats: readonly string[] = ['wav', 'mp3'];

export function missingAbility(request: ChatRequest): string | null {
  if (request.original.dialect === dialectName) return null;
  const { parameters } = request;
  if ((parameters.n ?? 1) > 1) return 'n';
  if (asksTooManyLogprobs(request)) return 'logprobs';
  if ((parameters.stop ?? []).some((each) => each !== '')) return 'stop';
  return foreignAbility(request, dialectName) ?? mediaAbility(request.messages);
}

function mediaAbility(messages: readonly Message[]): string | null {
  const isForeign = messages.some((message) =>
    message.content.some((part) => part.type === 'audio' && !audioFormats.includes(part.format)),
  );
  return isForeign ? 'audio' : null;
}
