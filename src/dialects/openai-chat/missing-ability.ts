/** What of a request this dialect, or one server that speaks it, cannot say: a target that can is asked. */
import type { ChatRequest, MediaSource, Message } from '../../chat/request.ts';
import { boundAbility, foreignAbility } from '../foreign-request.ts';
import { asksTooManyLogprobs } from '../token-logprobs.ts';
import type { ChatQuirks, ContentKind } from './chat-quirks.ts';
import { takesField } from './fit-body.ts';
import { bindingRequestFields, dialectName } from './wire.ts';

const audioFormats: readonly string[] = ['wav', 'mp3'];

export function missingAbility(request: ChatRequest, quirks: ChatQuirks = {}): string | null {
  const missing = unserved(request, quirks);
  if (missing !== null || request.original.dialect === dialectName) return missing;
  if (asksTooManyLogprobs(request)) return 'logprobs';
  return foreignAbility(request, dialectName) ?? mediaAbility(request.messages);
}

function mediaAbility(messages: readonly Message[]): string | null {
  for (const message of messages) {
    for (const part of message.content) {
      if (part.type === 'audio' && !audioFormats.includes(part.format)) return 'audio';
      if (part.type === 'document' && !isSendable(part.source)) return 'documents';
    }
  }
  return null;
}

/**
 * A file part holds the bytes of a PDF (the vendor's own message, February 2026) or an id of the vendor's:
 * a link has no place in it. Text goes as text.
 */
function isSendable(source: MediaSource): boolean {
  if (source.kind !== 'base64') return source.kind === 'file';
  return source.mediaType === 'application/pdf' || source.mediaType.startsWith('text/');
}

/** What the server would refuse, or answer as if it had not been asked. */
function unserved(request: ChatRequest, quirks: ChatQuirks): string | null {
  const { stopSequencesMax: stopMax = Number.POSITIVE_INFINITY } = quirks;
  if ((request.parameters.stop ?? []).length > stopMax) return 'stop';
  const { toolsMax = Number.POSITIVE_INFINITY } = quirks;
  if (request.tools.length > toolsMax) return 'tools';
  const mode = request.toolChoice?.mode ?? 'auto';
  if (quirks.toolChoice === 'ignored' && mode !== 'auto' && mode !== 'none') return 'tool_choice';
  for (const field of request.otherFields) {
    const ability = takesField(quirks, field) ? null : boundAbility(field);
    if (ability !== null) return ability;
  }
  for (const { kind } of request.providerTools) {
    const isField = bindingRequestFields.some((field) => field === kind);
    const known = quirks.providerTools;
    if (!(isField ? takesField(quirks, kind) : (known?.includes(kind) ?? true))) {
      return 'provider_tools';
    }
  }
  return contentAbility(request, quirks);
}

const abilityOf: { readonly [kind in ContentKind]: string } = {
  image: 'images',
  image_link: 'images',
  file: 'documents',
  audio: 'audio',
};

function contentAbility({ messages, original }: ChatRequest, quirks: ChatQuirks): string | null {
  const { refusedParts = [], imagesMax = Number.POSITIVE_INFINITY } = quirks;
  // The texts of others are written as text; a client of this dialect has its files sent as they are.
  const areTextsFiles = original.dialect === dialectName;
  let images = 0;
  for (const message of messages) {
    for (const part of message.content) {
      const kinds = kindsOf(part, areTextsFiles);
      if (kinds.includes('image')) images += 1;
      const refused = kinds.find((kind) => refusedParts.includes(kind));
      if (refused !== undefined) return abilityOf[refused];
    }
  }
  return images > imagesMax ? 'images' : null;
}

function kindsOf(part: Message['content'][number], areTextsFiles: boolean): readonly ContentKind[] {
  switch (part.type) {
    case 'image':
      return part.source.kind === 'url' ? ['image', 'image_link'] : ['image'];
    case 'document': {
      const isText = part.source.kind === 'base64' && part.source.mediaType.startsWith('text/');
      return isText && !areTextsFiles ? [] : ['file'];
    }
    case 'audio':
      return ['audio'];
    default:
      return [];
  }
}
