/** Text, images, documents and sound as content parts. */
import type { DocumentPart, MediaSource, UserPart } from '../../chat/request.ts';
import { dialectName, type WireInputPart } from './wire.ts';

/** Null: the part has no form here. */
export function encodePart(part: UserPart): WireInputPart | null {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image': {
      const detail = part.detail === null ? {} : { detail: part.detail };
      const fileId = ownFileId(part.source);
      if (fileId !== null) return { type: 'input_image', file_id: fileId, ...detail };
      const url = urlOf(part.source);
      return url === null ? null : { type: 'input_image', image_url: url, ...detail };
    }
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
    case 'document':
      return encodeDocument(part);
  }
}

function ownFileId(source: MediaSource): string | null {
  return source.kind === 'file' && source.dialect === dialectName ? source.fileId : null;
}

function urlOf(source: MediaSource): string | null {
  if (source.kind === 'url') return source.url;
  return source.kind === 'base64' ? `data:${source.mediaType};base64,${source.data}` : null;
}

/** A text file goes as text, which every model reads. */
function encodeDocument({ source, filename }: DocumentPart): WireInputPart | null {
  switch (source.kind) {
    case 'file':
      return source.dialect === dialectName ? { type: 'input_file', file_id: source.fileId } : null;
    case 'url':
      return { type: 'input_file', file_url: source.url };
    case 'base64': {
      if (!source.mediaType.startsWith('text/')) {
        const file_data = `data:${source.mediaType};base64,${source.data}`;
        return { type: 'input_file', filename: filename ?? 'document.pdf', file_data };
      }
      const text = Buffer.from(source.data, 'base64').toString('utf8');
      return { type: 'input_text', text: filename === null ? text : `${filename}:\n${text}` };
    }
  }
}
