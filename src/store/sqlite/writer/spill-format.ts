/** The lines of the spill: newline-delimited JSON that names its columns, so that a later version reads it. */
import { isJsonObject, numberAt, objectAt, parseJson, stringAt } from '../../../base/json.ts';
import { decodeNamed, encodeNamed, type ServedColumns } from './row-codec.ts';
import type { Marker } from './writer-protocol.ts';

/** `line` as `encodeRows` made it. Ends in a line break. */
export function spillLineOfRows(line: string): string {
  return `${encodeNamed(line)}\n`;
}

/** Ends in a line break. */
export function spillLineOfMarker(marker: Marker): string {
  return `${JSON.stringify({ marker })}\n`;
}

export type SpilledLine =
  | { readonly kind: 'rows'; readonly line: string }
  | { readonly kind: 'marker'; readonly marker: Marker }
  | { readonly kind: 'unreadable' };

/** Never throws: a line that a full disk cut short is `unreadable`. */
export function readSpillLine(columns: ServedColumns, text: string): SpilledLine {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return { kind: 'unreadable' };
  const marker = objectAt(parsed.value, 'marker');
  if (marker !== null) return markerOf(marker);
  const line = decodeNamed(columns, parsed.value);
  return line === null ? { kind: 'unreadable' } : { kind: 'rows', line };
}

function markerOf(value: unknown): SpilledLine {
  const id = stringAt(value, 'id');
  const instance = stringAt(value, 'instance');
  const startedAtMs = numberAt(value, 'startedAtMs');
  const tier = stringAt(value, 'tier');
  if (id === null || instance === null || startedAtMs === null || tier === null) {
    return { kind: 'unreadable' };
  }
  const clientRequestId = stringAt(value, 'clientRequestId');
  const keyId = stringAt(value, 'keyId');
  return { kind: 'marker', marker: { id, instance, clientRequestId, startedAtMs, tier, keyId } };
}
