/** Sound in a client's body, `{data, format}`, as the vendor's two dialects have it. */
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { AudioPart } from '../chat/request.ts';
import { type DeferredTexts, readText, textIn } from './deferred-texts.ts';
import type { FirstFault } from './first-fault.ts';

/** Null when a fault was reported. `param` is the part's place, asked only for a fault. */
export function readInputAudio(
  audio: unknown,
  param: () => string,
  { faults, texts }: { readonly faults: FirstFault; readonly texts: DeferredTexts | null },
): AudioPart | null {
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
