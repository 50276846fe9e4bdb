/** Content parts of a user's message or a tool's result. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { MediaSource, TextPart, UserPart } from '../../chat/request.ts';
import { type DeferredTexts, readText, type Text, textIn } from '../deferred-texts.ts';
import type { FirstFault } from '../first-fault.ts';
import { dialectName } from './wire.ts';

/** `texts` are those that were put off; null = all are there. */
export type MediaReading = { readonly faults: FirstFault; readonly texts: DeferredTexts | null };

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
  switch (part['type']) {
    case 'text': {
      const text = textIn(part['text'], reading.texts);
      if (text !== null) return textPart(text);
      faults.reportType(`${param()}.text`, 'a string', part['text']);
      return null;
    }
    case 'image_url':
      return readImage(part['image_url'], param, reading);
    case 'input_audio':
      return readAudio(part['input_audio'], param, reading);
    case 'file':
      return readFile(part['file'], param, reading);
    default:
      if (typeof part['type'] !== 'string') {
        faults.reportType(`${param()}.type`, 'a string', part['type']);
      }
      return null;
  }
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

function readImage(image: unknown, param: () => string, reading: MediaReading): UserPart | null {
  const url = isJsonObject(image) && Object.hasOwn(image, 'url') ? image['url'] : image;
  const source = sourceIn(url, reading);
  if (source === null) {
    reading.faults.reportType(`${param()}.image_url.url`, 'a non-empty string', url);
    return null;
  }
  const detail = isJsonObject(image) ? image['detail'] : null;
  return { type: 'image', source, detail: typeof detail === 'string' ? detail : null };
}

function readAudio(audio: unknown, param: () => string, reading: MediaReading): UserPart | null {
  const { faults, texts } = reading;
  const fields: JsonObject = isJsonObject(audio) ? audio : {};
  const data = textIn(fields['data'], texts);
  const { format } = fields;
  if (data === null) {
    faults.reportType(`${param()}.input_audio.data`, 'a string', fields['data']);
    return null;
  }
  if (typeof format !== 'string') {
    faults.reportType(`${param()}.input_audio.format`, 'a string', format);
    return null;
  }
  return {
    type: 'audio',
    format,
    get data() {
      return readText(data);
    },
  };
}

function readFile(file: unknown, param: () => string, reading: MediaReading): UserPart | null {
  const fields: JsonObject = isJsonObject(file) ? file : {};
  const { file_id: fileId, file_data: data, filename: name } = fields;
  const filename = typeof name === 'string' ? name : null;
  if (typeof fileId === 'string') {
    const source: MediaSource = { kind: 'file', fileId, dialect: dialectName };
    return { type: 'document', source, filename };
  }
  const source = sourceIn(data, reading);
  if (source === null) {
    reading.faults.report(`${param()}.file`, `${param()}.file needs file_id or file_data`);
    return null;
  }
  // Bytes without the form of a link: what the vendor takes for a PDF.
  const isBare = source.kind === 'url';
  return {
    type: 'document',
    source: isBare ? base64('application/pdf', () => source.url) : source,
    filename,
  };
}

const headBytes = 200;

/** `data:image/png;base64,AAAA` as its bytes, any other text as a link; null when there is none. */
function sourceIn(value: unknown, { texts }: MediaReading): MediaSource | null {
  const text = textIn(value, texts);
  if (text === null || text === '') return null;
  const head = typeof text === 'string' ? text.slice(0, headBytes) : headOf(value, texts);
  const form = /^data:([^;,"\\]+)(?:;[^,"\\]*)?;base64,/.exec(head);
  if (form?.[1] === undefined) return { kind: 'url', url: readText(text) };
  const dataAt = form[0].length;
  return base64(form[1], () => readText(text).slice(dataAt));
}

function headOf(value: unknown, texts: DeferredTexts | null): string {
  return texts?.headOf(value, headBytes) ?? '';
}

function base64(mediaType: string, read: () => string): MediaSource {
  return {
    kind: 'base64',
    mediaType,
    get data() {
      return read();
    },
  };
}
