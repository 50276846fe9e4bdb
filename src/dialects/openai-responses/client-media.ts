/** Content parts of what a user says and of what a tool brings. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { MediaSource, ProviderTool, UserPart } from '../../chat/request.ts';
import { type DeferredTexts, textIn } from '../deferred-texts.ts';
import type { FirstFault } from '../first-fault.ts';
import { readInputAudio } from '../input-audio.ts';
import { base64Source, deferredTextPart, mediaSourceIn } from '../media-source.ts';
import { noteUnknown } from '../unknown-fields.ts';
import { dialectName } from './wire.ts';

export type PartReading = {
  readonly faults: FirstFault;
  /** Texts that were put off; null = all are there. */
  readonly texts: DeferredTexts | null;
  /** Items and parts not known here, kept so that no other dialect leaves them out in silence. */
  readonly opaqueItems: ProviderTool[];
  /** Names of what only tunes and has no canonical place. */
  readonly notes: Set<string>;
};

const knownPartFields: ReadonlySet<string> = new Set([
  'type',
  'text',
  'annotations',
  'logprobs',
  'refusal',
  'image_url',
  'detail',
  'file_id',
  'file_url',
  'file_data',
  'filename',
  'input_audio',
]);

/** Where something stands (`input[3].content[0]`); asked only for a fault. */
export type Place = () => string;

export function keepOpaque(kind: string, raw: JsonObject, reading: PartReading): void {
  reading.opaqueItems.push({ dialect: dialectName, kind, raw });
}

/** A plain string as its one part. */
export function partsOf(value: unknown, place: Place, reading: PartReading): readonly unknown[] {
  if (textIn(value, reading.texts) !== null) return [{ type: 'input_text', text: value }];
  if (Array.isArray(value)) return value;
  reading.faults.reportType(place(), 'a string or an array of parts', value);
  return [];
}

/** The part's type, or null when a fault was reported. */
export function typeOf(part: unknown, place: Place, { faults, notes }: PartReading): string | null {
  if (!isJsonObject(part)) {
    faults.reportType(place(), 'an object', part);
    return null;
  }
  const { type } = part;
  noteUnknown(part, knownPartFields, notes, 'content.');
  if (typeof type === 'string') return type;
  faults.reportType(`${place()}.type`, 'a string', type);
  return null;
}

/** Null: not known here (it was kept), or a fault was reported. */
export function readInputPart(part: unknown, place: Place, reading: PartReading): UserPart | null {
  const type = typeOf(part, place, reading);
  if (type === null || !isJsonObject(part)) return null;
  switch (type) {
    case 'input_text':
    case 'output_text':
      return readTextPart(part, place, reading);
    case 'input_image':
      return readImage(part, place, reading);
    case 'input_file':
      return readFile(part, place, reading);
    case 'input_audio':
      return readInputAudio(part['input_audio'], place, reading);
    default:
      keepOpaque(`content:${type}`, part, reading);
      return null;
  }
}

/** Null when a fault was reported. */
export function readTextPart(
  part: JsonObject,
  place: Place,
  { faults, texts }: PartReading,
): Extract<UserPart, { type: 'text' }> | null {
  const text = textIn(part['text'], texts);
  if (text !== null) return deferredTextPart(text);
  faults.reportType(`${place()}.text`, 'a string', part['text']);
  return null;
}

function readImage(part: JsonObject, place: Place, reading: PartReading): UserPart | null {
  const { file_id: fileId, image_url: url, detail } = part;
  const source = typeof fileId === 'string' ? ownFile(fileId) : mediaSourceIn(url, reading.texts);
  if (source === null) {
    reading.faults.reportType(`${place()}.image_url`, 'a non-empty string', url);
    return null;
  }
  return { type: 'image', source, detail: typeof detail === 'string' ? detail : null };
}

function readFile(part: JsonObject, place: Place, reading: PartReading): UserPart | null {
  const { filename } = part;
  const source = fileSource(part, reading);
  if (source === null) {
    const message = `${place()} needs file_data, file_url or file_id`;
    reading.faults.report(place(), message);
    return null;
  }
  return { type: 'document', source, filename: typeof filename === 'string' ? filename : null };
}

function fileSource(part: JsonObject, { texts }: PartReading): MediaSource | null {
  const { file_id: fileId, file_url: url, file_data: data } = part;
  if (typeof fileId === 'string') return ownFile(fileId);
  if (typeof url === 'string' && url !== '') return { kind: 'url', url };
  const source = mediaSourceIn(data, texts);
  // Bytes without the form of a link: what the vendor takes for a PDF.
  return source?.kind === 'url' ? base64Source('application/pdf', () => source.url) : source;
}

function ownFile(fileId: string): MediaSource {
  return { kind: 'file', fileId, dialect: dialectName };
}
