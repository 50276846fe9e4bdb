/** What of a request this dialect cannot say, so that a target that can is asked. */
import type { ChatRequest, MediaSource, Message } from '../../chat/request.ts';
import { foreignAbility } from '../foreign-request.ts';
import { asksTooManyLogprobs } from '../token-logprobs.ts';
import { type GeminiQuirks, ownQuirks } from './gemini-quirks.ts';
import { linkTypeOf } from './link-type.ts';
import { audioFormats, dialectName, imageMediaTypes, isOwnFile, isStoredFile } from './wire.ts';

export const candidatesMax = 8;
export const stopSequencesMax = 5;

/** Links are not fetched here; the service itself fetches from its own stores, and for some models elsewhere. */
export function missingAbility(
  request: ChatRequest,
  model = '',
  quirks: GeminiQuirks = ownQuirks,
): string | null {
  if (!quirks.hasFileStore && request.messages.some(holdsStoredFile)) return 'files';
  if (request.original.dialect === dialectName) return null;
  const { parameters } = request;
  if ((parameters.n ?? 1) > candidatesMax) return 'n';
  if (asksTooManyLogprobs(request)) return 'logprobs';
  if ((parameters.stop ?? []).length > stopSequencesMax) return 'stop';
  return (
    foreignAbility(request, dialectName) ??
    mediaAbility(request.messages, quirks.fetchesLinks(model))
  );
}

function holdsStoredFile({ content }: Message): boolean {
  return content.some(
    (part) =>
      (part.type === 'image' || part.type === 'document') &&
      part.source.kind === 'file' &&
      isStoredFile(part.source.fileId),
  );
}

function mediaAbility(messages: readonly Message[], fetchesLinks: boolean): string | null {
  for (const message of messages) {
    for (const part of message.content) {
      if (part.type === 'audio' && !audioFormats.includes(part.format)) return 'audio';
      if (part.type === 'image' && !isReadable(part.source, isImageType, fetchesLinks))
        return 'images';
      if (part.type === 'document' && !isReadable(part.source, isDocumentType, fetchesLinks))
        return 'documents';
    }
  }
  return null;
}

function isReadable(
  source: MediaSource,
  isType: (mediaType: string) => boolean,
  fetchesLinks: boolean,
): boolean {
  switch (source.kind) {
    case 'base64':
      return isType(source.mediaType);
    case 'url':
      if (isOwnFile(source.url)) return true;
      return fetchesLinks && /^https:/i.test(source.url) && isType(linkTypeOf(source.url) ?? '');
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
