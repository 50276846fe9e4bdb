/** What of a request this dialect cannot say, so that a target that can is asked. */
import type { ChatRequest, MediaSource, Message } from '../../chat/request.ts';
import { foreignAbility } from '../foreign-request.ts';
import { audioFormats, dialectName, imageMediaTypes, isOwnFile } from './wire.ts';

export const candidatesMax = 8;
export const stopSequencesMax = 5;

/** Links are not fetched here, and the service itself fetches only from its own stores. */
export function missingAbility(request: ChatRequest): string | null {
  if (request.original.dialect === dialectName) return null;
  const { parameters } = request;
  if ((parameters.n ?? 1) > candidatesMax) return 'n';
  // It can compute them, but an answer in another dialect has no place for them.
  if (parameters.logprobs === true) return 'logprobs';
  if ((parameters.stop ?? []).length > stopSequencesMax) return 'stop';
  return foreignAbility(request, dialectName) ?? mediaAbility(request.messages);
}

function mediaAbility(messages: readonly Message[]): string | null {
  for (const message of messages) {
    for (const part of message.content) {
      if (part.type === 'audio' && !audioFormats.includes(part.format)) return 'audio';
      if (part.type === 'image' && !isReadable(part.source, isImageType)) return 'images';
      if (part.type === 'document' && !isReadable(part.source, isDocumentType)) return 'documents';
    }
  }
  return null;
}

function isReadable(source: MediaSource, isType: (mediaType: string) => boolean): boolean {
  switch (source.kind) {
    case 'base64':
      return isType(source.mediaType);
    case 'url':
      return isOwnFile(source.url);
    case 'file':
      return true;
  }
}

function isImageType(mediaType: string): boolean {
  return imageMediaTypes.includes(mediaType);
}

function isDocumentType(mediaType: string): boolean {
  return mediaType === 'application/pdf' || mediaType.startsWith('text/');
}
