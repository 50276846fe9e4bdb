/** Content parts of a user's message or a tool's result. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { MediaSource, UserPart } from '../../chat/request.ts';
import type { FirstFault } from '../first-fault.ts';
import { dialectName } from './wire.ts';

/** Null when the part's type is not known here, or a fault was reported. `param` is asked only for a fault. */
export function readUserPart(
  part: unknown,
  param: () => string,
  faults: FirstFault,
): UserPart | null {
  if (!isJsonObject(part)) {
    faults.reportType(param(), 'an object', part);
    return null;
  }
  switch (part['type']) {
    case 'text': {
      const text = part['text'];
      if (typeof text === 'string') return { type: 'text', text };
      faults.reportType(`${param()}.text`, 'a string', text);
      return null;
    }
    case 'image_url':
      return readImage(part['image_url'], param, faults);
    case 'input_audio':
      return readAudio(part['input_audio'], param, faults);
    case 'file':
      return readFile(part['file'], param, faults);
    default:
      if (typeof part['type'] !== 'string') {
        faults.reportType(`${param()}.type`, 'a string', part['type']);
      }
      return null;
  }
}

function readImage(image: unknown, param: () => string, faults: FirstFault): UserPart | null {
  const url = isJsonObject(image) ? image['url'] : image;
  if (typeof url !== 'string' || url === '') {
    faults.reportType(`${param()}.image_url.url`, 'a non-empty string', url);
    return null;
  }
  const detail = isJsonObject(image) ? image['detail'] : null;
  return {
    type: 'image',
    source: dataUrl(url) ?? { kind: 'url', url },
    detail: typeof detail === 'string' ? detail : null,
  };
}

function readAudio(audio: unknown, param: () => string, faults: FirstFault): UserPart | null {
  const fields: JsonObject = isJsonObject(audio) ? audio : {};
  const { data, format } = fields;
  if (typeof data !== 'string') {
    faults.reportType(`${param()}.input_audio.data`, 'a string', data);
    return null;
  }
  if (typeof format !== 'string') {
    faults.reportType(`${param()}.input_audio.format`, 'a string', format);
    return null;
  }
  return { type: 'audio', data, format };
}

function readFile(file: unknown, param: () => string, faults: FirstFault): UserPart | null {
  const fields: JsonObject = isJsonObject(file) ? file : {};
  const { file_id: fileId, file_data: data, filename: name } = fields;
  const filename = typeof name === 'string' ? name : null;
  if (typeof fileId === 'string') {
    const source: MediaSource = { kind: 'file', fileId, dialect: dialectName };
    return { type: 'document', source, filename };
  }
  if (typeof data !== 'string') {
    faults.report(`${param()}.file`, `${param()}.file needs file_id or file_data`);
    return null;
  }
  const source: MediaSource = dataUrl(data) ?? {
    kind: 'base64',
    mediaType: 'application/pdf',
    data,
  };
  return { type: 'document', source, filename };
}

/** `data:image/png;base64,AAAA`, or null for any other text. */
function dataUrl(url: string): MediaSource | null {
  if (!url.startsWith('data:')) return null;
  const commaAt = url.indexOf(',');
  if (commaAt === -1) return null;
  const head = url.slice('data:'.length, commaAt);
  if (!head.endsWith(';base64')) return null;
  const mediaType = head.slice(0, -';base64'.length).split(';', 1)[0] ?? '';
  if (mediaType === '') return null;
  return { kind: 'base64', mediaType, data: url.slice(commaAt + 1) };
}
