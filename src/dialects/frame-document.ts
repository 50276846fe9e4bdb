/** What a frame of an event stream carries, for client sides that pass frames on and read along. */
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts';

/** The document; null when the frame is a comment, or holds no JSON object. */
export function documentIn(frame: Buffer): JsonObject | null {
  const data = dataIn(frame);
  const parsed = data === '' ? null : parseJson(data);
  return parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : null;
}

/** The text of its data lines. */
export function dataIn(frame: Buffer): string {
  const lines = frame.toString('utf8').split(/\r\n|\n|\r/);
  return lines
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length))
    .join('\n')
    .trim();
}
