/** Text, images, documents and sound among a client's parts. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type {
  AudioPart,
  DocumentPart,
  ImagePart,
  MediaSource,
  ProviderTool,
  TextPart,
} from '../../chat/request.ts';
import { plainName } from '../client-body.ts';
import { type DeferredTexts, readText, type Text, textIn } from '../deferred-texts.ts';
import type { FirstFault } from '../first-fault.ts';
import { base64Source } from '../media-source.ts';
import type { ClientFields } from './client-fields.ts';
import { camelCase, fieldAt } from './proto-names.ts';
import { dialectName, isOwnFile } from './wire.ts';

export type PartReading = {
  readonly faults: FirstFault;
  /** Texts that were put off; null = all are there. */
  readonly texts: DeferredTexts | null;
  /** What is bound to this dialect, kept so that no other leaves it out in silence. */
  readonly opaqueParts: ProviderTool[];
  /** Names of what only tunes and has no canonical place. */
  readonly notes: Set<string>;
  /** How closely images are looked at where a part says nothing. */
  readonly detail: string | null;
};

export type MediaPart = TextPart | ImagePart | DocumentPart | AudioPart;

/** Fields that say something of a part, and are no content. */
const sideFields: ReadonlySet<string> = new Set([
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'mediaResolution',
  'partMetadata',
]);

/** Of these a part holds one. */
const contentKinds: ReadonlySet<string> = new Set([
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
]);

/** Reports a second content, and notes what stands beside the first and is not known here. */
export function checkPart(part: ClientFields, { faults, notes }: PartReading): void {
  const names = part.othersThan(sideFields).map(camelCase);
  const [first, second] = names.filter((name) => contentKinds.has(name));
  if (first === undefined) return;
  if (second !== undefined) {
    const place = part.placeOf(second);
    faults.report(place, `${place} stands beside ${first}: a part holds one of them`);
  }
  for (const name of names) {
    if (!contentKinds.has(name) && !sideFields.has(name)) notes.add(plainName(name));
  }
}

/** Null: nothing to say to others (it was kept), or a fault was reported. */
export function readMediaPart(part: ClientFields, reading: PartReading): MediaPart | null {
  const { json } = part;
  if (fieldAt(json, 'text') !== undefined) {
    const text = readPartText(part, reading);
    return text === null || text === '' ? null : textPart(text);
  }
  if (fieldAt(json, 'inlineData') !== undefined) return readInlineData(part, reading);
  if (fieldAt(json, 'fileData') !== undefined) return readFileData(part, reading);
  keepOpaque(json, reading);
  return null;
}

/** Null when a fault was reported. */
export function readPartText(part: ClientFields, { texts }: PartReading): Text | null {
  return textIn(part.value('text'), texts) ?? part.refuse('text', 'a string');
}

export function textPart(text: Text): TextPart {
  if (typeof text === 'string') return { type: 'text', text };
  return {
    type: 'text',
    get text() {
      return text();
    },
  };
}

/** A part whose content no other dialect knows; one without any content says nothing. */
export function keepOpaque(part: JsonObject, { opaqueParts }: PartReading): void {
  const kinds = Object.keys(part)
    .map(camelCase)
    .filter((name) => !sideFields.has(name) && fieldAt(part, name) !== undefined);
  if (kinds.length > 0) {
    opaqueParts.push({ dialect: dialectName, kind: `content:${kinds.join('+')}`, raw: part });
  }
}

function readInlineData(part: ClientFields, reading: PartReading): MediaPart | null {
  const inline = part.fieldsOf('inlineData');
  const mimeType = inline.string('mimeType');
  const data = textIn(inline.value('data'), reading.texts);
  if (data === null) return inline.refuse('data', 'a string');
  if (mimeType === null) return inline.refuse('mimeType', 'a string');
  const source = base64Source(mimeType, () => plainBase64(readText(data)));
  return mediaOf(part, mimeType, reading, source);
}

/** The service takes the alphabet of URLs too; no other does. */
function plainBase64(data: string): string {
  return /[-_]/.test(data) ? data.replaceAll('-', '+').replaceAll('_', '/') : data;
}

function readFileData(part: ClientFields, reading: PartReading): MediaPart | null {
  const file = part.fieldsOf('fileData');
  const uri = file.string('fileUri');
  if (uri === null || uri === '') return file.refuse('fileUri', 'a non-empty string');
  const source: MediaSource = isOwnFile(uri)
    ? { kind: 'file', fileId: uri, dialect: dialectName }
    : { kind: 'url', url: uri };
  return mediaOf(part, file.string('mimeType') ?? mimeTypeOf(uri), reading, source);
}

const mimeTypes: { readonly [ending: string]: string } = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  txt: 'text/plain',
};

/** '' when the name does not tell. */
function mimeTypeOf(uri: string): string {
  const ending = /\.([a-z]{3,4})(?:[?#]|$)/i.exec(uri)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(mimeTypes, ending) ? (mimeTypes[ending] ?? '') : '';
}

/** What no other dialect carries (moving pictures, sound by link, a kind that is not told) stays opaque. */
function mediaOf(
  part: ClientFields,
  mimeType: string,
  reading: PartReading,
  source: MediaSource,
): MediaPart | null {
  const [kind, subtype = ''] = mimeType.toLowerCase().split(';')[0]?.split('/') ?? [];
  if (kind === 'image') return { type: 'image', source, detail: detailOf(part, reading) };
  if (kind === 'text' || kind === 'application') {
    const name = part.fieldsOf('inlineData').string('displayName');
    return { type: 'document', source, filename: name };
  }
  if (kind === 'audio' && source.kind === 'base64') {
    return {
      type: 'audio',
      format: audioFormatOf(subtype),
      get data() {
        return source.data;
      },
    };
  }
  keepOpaque(part.json, reading);
  return null;
}

function audioFormatOf(subtype: string): string {
  switch (subtype) {
    case 'mpeg':
      return 'mp3';
    case 'x-wav':
    case 'wave':
      return 'wav';
    default:
      return subtype;
  }
}

function detailOf(part: ClientFields, reading: PartReading): string | null {
  const value = part.value('mediaResolution');
  if (value === undefined) return reading.detail;
  const level = isJsonObject(value) ? fieldAt(value, 'level') : value;
  return detailWord(level, reading.notes);
}

/** `MEDIA_RESOLUTION_LOW` and its kin; a middle way, which others do not have, is named as left out. */
export function detailWord(level: unknown, notes: Set<string>): string | null {
  const word = typeof level === 'string' ? level.replace(/^MEDIA_RESOLUTION_/, '') : '';
  if (word === 'LOW') return 'low';
  if (word === 'HIGH' || word === 'ULTRA_HIGH') return 'high';
  if (word !== '' && word !== 'UNSPECIFIED') notes.add('mediaResolution');
  return null;
}
