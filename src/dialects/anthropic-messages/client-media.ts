/** Text, images and documents in a client's content. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type {
  CacheMarked,
  DocumentPart,
  ImagePart,
  MediaSource,
  ProviderTool,
  TextPart,
} from '../../chat/request.ts';
import { type DeferredTexts, readText, type Text, textIn } from '../deferred-texts.ts';
import type { FirstFault } from '../first-fault.ts';
import { base64Source } from '../media-source.ts';
import { noteUnknown } from '../unknown-fields.ts';
import { dialectName } from './wire.ts';

export type BlockReading = {
  readonly faults: FirstFault;
  /** Texts that were put off; null = all are there. */
  readonly texts: DeferredTexts | null;
  /** Blocks not known here, kept so that no other dialect leaves them out in silence. */
  readonly opaqueParts: ProviderTool[];
  /** Names of what only tunes and has no canonical place. */
  readonly notes: Set<string>;
};

/** Where a block stands (`messages[3].content[0]`); asked only for a fault. */
export type Place = () => string;

export type MediaPart = TextPart | ImagePart | DocumentPart;

/** The block's type, or null when a fault was reported. */
export function typeOf(block: unknown, place: Place, { faults }: BlockReading): string | null {
  if (!isJsonObject(block)) {
    faults.reportType(place(), 'an object', block);
    return null;
  }
  const type = block['type'];
  if (typeof type === 'string') return type;
  faults.reportType(`${place()}.type`, 'a string', type);
  return null;
}

/** Of the blocks that have a canonical form. Who calls a tool (`caller`) is the model, as everywhere. */
const knownBlockFields: ReadonlySet<string> = new Set([
  'type',
  'text',
  'citations',
  'cache_control',
  'source',
  'title',
  'context',
  'id',
  'name',
  'input',
  'caller',
  'tool_use_id',
  'content',
  'is_error',
]);

/** Names what a block holds beside that. */
export function noteFields(block: JsonObject, { notes }: BlockReading): void {
  noteUnknown(block, knownBlockFields, notes, 'content.');
}

export function keepOpaque(type: string, block: JsonObject, reading: BlockReading): void {
  reading.opaqueParts.push({ dialect: dialectName, kind: `content:${type}`, raw: block });
}

/** Null: not known here (it was kept), or a fault was reported. */
export function readMedia(block: unknown, place: Place, reading: BlockReading): MediaPart | null {
  const type = typeOf(block, place, reading);
  if (type === null || !isJsonObject(block)) return null;
  if (type === 'text') return readTextBlock(block, place, reading);
  if (type !== 'image' && type !== 'document') {
    keepOpaque(type, block, reading);
    return null;
  }
  const source = readSource(block['source'], () => `${place()}.source`, reading);
  if (source === 'unknown') keepOpaque(type, block, reading);
  if (source === null || source === 'unknown') return null;
  noteFields(block, reading);
  const mark = cacheMark(block, reading);
  if (type === 'image') return { type: 'image', source, detail: null, ...mark };
  if (isJsonObject(block['citations']) && block['citations']['enabled'] === true) {
    reading.notes.add('citations');
  }
  if (typeof block['context'] === 'string') reading.notes.add('document_context');
  const title = block['title'];
  return { type: 'document', source, filename: typeof title === 'string' ? title : null, ...mark };
}

/** The mark of a block or a tool; most other dialects have none. */
export function cacheMark(value: JsonObject, { notes }: BlockReading): CacheMarked {
  const cacheControl = value['cache_control'];
  if (!isJsonObject(cacheControl)) return {};
  notes.add('cache_control');
  return { cacheControl };
}

/** Null when a fault was reported. */
export function readTextBlock(
  block: JsonObject,
  place: Place,
  reading: BlockReading,
): TextPart | null {
  const { faults, texts, notes } = reading;
  noteFields(block, reading);
  const text = textIn(block['text'], texts);
  if (text === null) {
    faults.reportType(`${place()}.text`, 'a string', block['text']);
    return null;
  }
  if (Array.isArray(block['citations']) && block['citations'].length > 0) notes.add('citations');
  return textPart(text, cacheMark(block, reading));
}

export function textPart(text: Text, mark: CacheMarked = {}): TextPart {
  if (typeof text === 'string') return { type: 'text', text, ...mark };
  return {
    type: 'text',
    get text() {
      return text();
    },
    ...mark,
  };
}

/** `unknown`: a kind of source that only this dialect's services may know. Null: a fault was reported. */
function readSource(
  source: unknown,
  place: Place,
  reading: BlockReading,
): MediaSource | 'unknown' | null {
  const kind = typeOf(source, place, reading);
  if (kind === null || !isJsonObject(source)) return null;
  switch (kind) {
    case 'base64': {
      const mediaType = stringField(source, 'media_type', place, reading);
      const data = textField(source, 'data', place, reading);
      if (mediaType === null || data === null) return null;
      return base64Source(mediaType, () => readText(data));
    }
    case 'text': {
      const data = textField(source, 'data', place, reading);
      if (data === null) return null;
      return base64Source('text/plain', () => Buffer.from(readText(data)).toString('base64'));
    }
    case 'url': {
      const url = textField(source, 'url', place, reading);
      return url === null ? null : { kind: 'url', url: readText(url) };
    }
    case 'file': {
      const fileId = stringField(source, 'file_id', place, reading);
      return fileId === null ? null : { kind: 'file', fileId, dialect: dialectName };
    }
    case 'content':
      return readContentSource(source['content'], reading);
    default:
      return 'unknown';
  }
}

/** A document given as blocks: text alone is a text file elsewhere too. */
function readContentSource(content: unknown, { texts }: BlockReading): MediaSource | 'unknown' {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [{ text: content }];
  const read: Text[] = [];
  for (const block of blocks) {
    const isText = isJsonObject(block) && (block['type'] ?? 'text') === 'text';
    const text = isText ? textIn(block['text'], texts) : null;
    if (text === null) return 'unknown';
    read.push(text);
  }
  return base64Source('text/plain', () =>
    Buffer.from(read.map(readText).join('\n\n')).toString('base64'),
  );
}

/** Null when a fault was reported. */
function stringField(
  value: JsonObject,
  name: string,
  place: Place,
  { faults }: BlockReading,
): string | null {
  const found = value[name];
  if (typeof found === 'string') return found;
  faults.reportType(`${place()}.${name}`, 'a string', found);
  return null;
}

function textField(
  value: JsonObject,
  name: string,
  place: Place,
  { faults, texts }: BlockReading,
): Text | null {
  const found = textIn(value[name], texts);
  if (found === null) faults.reportType(`${place()}.${name}`, 'a string', value[name]);
  return found;
}
