/** What of a request this dialect cannot say, so that a target that can is asked. */
import type { ChatRequest, MediaSource, Message } from '../../chat/request.ts';
import { foreignAbility } from '../foreign-request.ts';
import { dialectName, documentFormatOf, imageFormats } from './wire.ts';

export function missingAbility(request: ChatRequest): string | null {
  const { parameters } = request;
  if ((parameters.n ?? 1) > 1) return 'n';
  if (parameters.logprobs === true) return 'logprobs';
  if ((parameters.stop ?? []).some(isBlankStop)) return 'stop';
  return foreignAbility(request, dialectName) ?? mediaAbility(request.messages);
}

/** The service refuses a stop sequence of white space only. */
function isBlankStop(stop: string): boolean {
  return stop !== '' && stop.trim() === '';
}

/** Bytes only: the service reads no links but to its own stores, and none is fetched here. */
function mediaAbility(messages: readonly Message[]): string | null {
  for (const message of messages) {
    for (const part of message.content) {
      if (part.type === 'audio') return 'audio';
      if (part.type === 'image' && !isOfType(part.source, (type) => imageFormats.has(type))) {
        return 'images';
      }
      if (
        part.type === 'document' &&
        !isOfType(part.source, (type) => documentFormatOf(type) !== null)
      ) {
        return 'documents';
      }
    }
  }
  return null;
}

function isOfType(source: MediaSource, isRead: (mediaType: string) => boolean): boolean {
  return source.kind === 'base64' && isRead(source.mediaType);
}
