/** Content parts of a user's message or a tool's result. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { MediaSource, UserPart } from '../../chat/request.ts';
import { type DeferredTexts, textIn } from '../deferred-texts.ts';
import type { FirstFault } from '../first-fault.ts';
import { readInputAudio } from '../input-audio.ts';
import { base64Source, deferredTextPart, mediaSourceIn } from '../media-source.ts';
import { noteUnknown } from '../unknown-fields.ts';
import { dialectName } from './wire.ts';

export type MediaReading = {
  readonly faults: FirstFault;
  /** Those that were put off; null = all are there. */
  readonly texts: DeferredTexts | null;
  /** Names of what only tunes and has no canonical place. */
  readonly notes: Set<string>;
};

const knownPartFields: ReadonlySet<string> = new Set([
  'type',
  'text',
  'image_url',
  'input_audio',
  'file',
]);

/** Null when the part's type is not known here, or a fault was reported. `param` is asked only for a fault. */
export function readUserPart(
  part: unknown,
  param: () => string,
  reading: MediaReading,
): UserPart | null {
  const { faults } = reading;
  if (!isJsonObject(part)) {
    faults.reportType(param(), 'an object', part);
    return null;
  }
  noteUnknown(part, knownPartFields, reading.notes, 'content.');
  switch (part['type']) {
    case 'text': {
      const text = textIn(part['text'], reading.texts);
      if (text !== null) return deferredTextPart(text);
      faults.reportType(`${param()}.text`, 'a string', part['text']);
      return null;
    }
    case 'image_url':
      return readImage(part['image_url'], param, reading);
    case 'input_audio':
      return readInputAudio(part['input_audio'], param, reading);
    case 'file':
      return readFile(part['file'], param, reading);
    default:
      if (typeof part['type'] !== 'string') {
        faults.reportType(`${param()}.type`, 'a string', part['type']);
      }
      return null;
  }
}

function readImage(image: unknown, param: () => string, reading: MediaReading): UserPart | null {
  const url = isJsonObject(image) && Object.hasOwn(image, 'url') ? image['url'] : image;
  const source = mediaSourceIn(url, reading.texts);
  if (source === null) {
    reading.faults.reportType(`${param()}.image_url.url`, 'a non-empty string', url);
    return null;
  }
  const detail = isJsonObject(image) ? image['detail'] : null;
  return { type: 'image', source, detail: typeof detail === 'string' ? detail : null };
}

function readFile(file: unknown, param: () => string, reading: MediaReading): UserPart | null {
  const fields: JsonObject = isJsonObject(file) ? file : {};
  const { file_id: fileId, file_data: data, filename: name } = fields;
  const filename = typeof name === 'string' ? name : null;
  if (typeof fileId === 'string') {
    const source: MediaSource = { kind: 'file', fileId, dialect: dialectName };
    return { type: 'document', source, filename };
  }
  const source = mediaSourceIn(data, reading.texts);
  if (source === null) {
    reading.faults.report(`${param()}.file`, `${param()}.file needs file_id or file_data`);
    return null;
  }
  // Bytes without the form of a link: what the vendor takes for a PDF.
  const isBare = source.kind === 'url';
  return {
    type: 'document',
    source: isBare ? base64Source('application/pdf', () => source.url) : source,
    filename,
  };
}
