/** What of a request this dialect cannot say, so that a target that can is asked. */
import type { ChatRequest, Message } from '../../chat/request.ts';
import { foreignAbility } from '../foreign-request.ts';
import { dialectName } from './wire.ts';

const audioFormats: readonly string[] = ['wav', 'mp3'];

export function missingAbility(request: ChatRequest): string | null {
  if (request.original.dialect === dialectName) return null;
  return foreignAbility(request, dialectName) ?? mediaAbility(request.messages);
}

function mediaAbility(messages: readonly Message[]): string | null {
  for (const message of messages) {
    for (const part of message.content) {
      if (part.type === 'audio' && !audioFormats.includes(part.format)) return 'audio';
      // A file part holds bytes or an id of the vendor's: a link has no place in it.
      if (part.type === 'document' && part.source.kind === 'url') return 'documents';
    }
  }
  return null;
}
