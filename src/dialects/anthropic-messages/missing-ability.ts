/** What of a request this dialect cannot say, so that a target that can is asked. */
import type { ChatRequest, Message, UserPart } from '../../chat/request.ts';
import { foreignAbility } from '../foreign-request.ts';
import { dialectName, imageMediaTypes } from './wire.ts';

export function missingAbility(request: ChatRequest): string | null {
  if (request.original.dialect === dialectName) return null;
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

function mediaAbility(messages: readonly Message[]): string | null {
  for (const message of messages) {
    for (const part of message.content) {
      if (part.type === 'audio') return 'audio';
      if (part.type === 'image' && !isReadableImage(part)) return 'images';
      if (part.type === 'document' && !isReadableDocument(part)) return 'documents';
    }
  }
  return null;
}

function isReadableImage({ source }: Extract<UserPart, { type: 'image' }>): boolean {
  if (source.kind === 'url') return isFetched(source.url);
  return source.kind === 'file' || imageMediaTypes.includes(source.mediaType);
}

function isReadableDocument({ source }: Extract<UserPart, { type: 'document' }>): boolean {
  if (source.kind === 'url') return isFetched(source.url);
  if (source.kind === 'file') return true;
  return source.mediaType === 'application/pdf' || source.mediaType.startsWith('text/');
}

/** The service fetches links itself, but only over TLS. */
function isFetched(url: string): boolean {
  return /^https:\/\//i.test(url);
}
