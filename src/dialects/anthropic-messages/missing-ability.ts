/** What of a request this dialect, or one service that serves it, cannot say: a target that can is asked. */
import type { ChatRequest, Message, UserPart } from '../../chat/request.ts';
import { boundAbility, foreignAbility } from '../foreign-request.ts';
import type { MessagesQuirks } from './messages-quirks.ts';
import { dialectName, imageMediaTypes } from './wire.ts';

export function missingAbility(
  request: ChatRequest,
  quirks: MessagesQuirks | null = null,
): string | null {
  const missing = quirks === null ? null : unserved(request, quirks);
  if (missing !== null || request.original.dialect === dialectName) return missing;
  const { parameters } = request;
  if ((parameters.n ?? 1) > 1) return 'n';
  if (parameters.logprobs === true) return 'logprobs';
  if ((parameters.stop ?? []).some(isBlankStop)) return 'stop';
  return foreignAbility(request, dialectName) ?? mediaAbility(request.messages);
}

function unserved(request: ChatRequest, quirks: MessagesQuirks): string | null {
  const field = request.otherFields.find((name) => quirks.refusedFields.includes(name));
  if (field !== undefined) return boundAbility(field) ?? 'provider_tools';
  if (request.providerTools.some(({ kind }) => quirks.refusedTools.test(kind))) {
    return 'provider_tools';
  }
  for (const { content } of request.messages) {
    for (const part of content) {
      if (part.type !== 'image' && part.type !== 'document') continue;
      const { kind } = part.source;
      if (kind === 'file' && !quirks.hasFileStore) return 'files';
      if (kind === 'url' && !quirks.fetchesLinks) {
        return part.type === 'image' ? 'images' : 'documents';
      }
    }
  }
  return null;
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
  if (source.kind === 'url') return isFetched(source.url) && !isNamedOther(source.url);
  if (source.kind === 'file') return true;
  return source.mediaType === 'application/pdf' || source.mediaType.startsWith('text/');
}

/** Behind a link it reads PDFs alone. */
function isNamedOther(url: string): boolean {
  return /\.(txt|md|csv|json|xml|html?|rtf|docx?|xlsx?|pptx?|odt)(?:[?#]|$)/i.test(url);
}

/** The service fetches links itself, but only over TLS. */
function isFetched(url: string): boolean {
  return /^https:\/\//i.test(url);
}
