/** What a request holds that is bound to the dialect it came in, and so cannot be carried to another. */
import type { ChatRequest, MediaSource, Message } from '../chat/request.ts';
import type { RequestFault, UpstreamCall } from './dialect.ts';

/** Fields of client dialects that change what the answer is, by what a target would have to be able to do. */
const boundFields: { readonly [field: string]: string } = {
  audio: 'audio_output',
  background: 'background',
  cachedContent: 'cached_content',
  container: 'container',
  context_management: 'context_management',
  conversation: 'stored_conversation',
  mcp_servers: 'mcp',
  moderation: 'moderation',
  prediction: 'prediction',
  previous_response_id: 'stored_conversation',
  web_search_options: 'web_search',
};

/** What a target must be able to do that is asked for `field`; null = the field only tunes. */
export function boundAbility(field: string): string | null {
  return Object.hasOwn(boundFields, field) ? (boundFields[field] ?? null) : null;
}

/** Why no other dialect than the request's own can carry it, as an ability's name; null = nothing in the way. */
export function foreignAbility(request: ChatRequest, dialect: string): string | null {
  if (request.accountState?.isBound === true) return 'stored_responses';
  // No answer is wanted: it fills a cache that only services of its own dialect have.
  if (request.parameters.max_tokens === 0) return 'cache_warming';
  for (const field of request.otherFields) {
    const ability = boundAbility(field);
    if (ability !== null) return ability;
  }
  if (request.providerTools.some((tool) => tool.dialect !== dialect)) return 'provider_tools';
  if (request.messages.some((message) => hasForeignFile(message, dialect))) return 'files';
  return null;
}

function hasForeignFile(message: Message, dialect: string): boolean {
  return message.content.some(
    (part) =>
      (part.type === 'image' || part.type === 'document') && isForeignFile(part.source, dialect),
  );
}

function isForeignFile(source: MediaSource, dialect: string): boolean {
  return source.kind === 'file' && source.dialect !== dialect;
}

/** An answer of no tokens is asked for by clients of one dialect alone, who mean something else by it. */
export function limitFault({ parameters }: UpstreamCall): RequestFault | null {
  if ((parameters.max_tokens ?? 1) > 0) return null;
  return { message: 'This target writes at least one token.', param: 'max_tokens' };
}
