/** The embeddings API as a target is asked for it. */
import { arrayAt, isJsonObject, parseJson, stringAt } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { ChatEvent, StreamPart } from '../../chat/stream-event.ts';
import { isScanned } from '../client-body.ts';
import type { EncodedCall, RequestFault, UpstreamCall, UpstreamOperation } from '../dialect.ts';
import { FieldEdit } from '../field-edit.ts';
import { applySplices, isNestedTooDeeply, scanJson } from '../json-spans.ts';
import { readUsage } from './usage.ts';
import { dialectName } from './wire.ts';

export const embeddingsUpstream: UpstreamOperation = {
  urlFrom: (chatUrl) => chatUrl.replace(/\/chat\/completions(?=$|\?)/, '/embeddings'),
  missingAbility: ({ original }) => (original.dialect === dialectName ? null : 'embeddings'),
  encodeCall,
  decodeReply,
};

/** What the gateway writes itself, whatever a target's settings say. */
const ownedFields: ReadonlySet<string> = new Set(['model', 'input', 'tiergate']);

function encodeCall(call: UpstreamCall): Result<EncodedCall, RequestFault> {
  const { original } = call.request;
  const fields = isScanned(original) ? original.fields : scanJson(original.bytes);
  if (fields === null) return fail({ param: null, message: 'the body is no JSON object' });
  const edit = new FieldEdit(original.bytes, fields);
  for (const [name, value] of Object.entries(call.extraFields)) {
    if (!ownedFields.has(name)) edit.set(name, value);
  }
  edit.set('model', call.model);
  edit.remove('tiergate');
  return success({ body: applySplices(original.bytes, edit.splices()), dropped: [] });
}

const unreadable: readonly StreamPart[] = [{ events: [{ type: 'malformed' }], frame: null }];

/** Vectors pass as they came; read along are who made them and what they cost. */
function decodeReply(body: Buffer): readonly StreamPart[] {
  if (isNestedTooDeeply(body)) return unreadable;
  const parsed = parseJson(body.toString('utf8'));
  if (!parsed.ok || !isJsonObject(parsed.value)) return unreadable;
  const { value } = parsed;
  if (isJsonObject(value['error'])) {
    return [{ events: [{ type: 'error', status: null, body: value }], frame: null }];
  }
  const vectors = arrayAt(value, 'data');
  const isWhole = vectors.length > 0 && vectors.every(hasVector);
  if (!isWhole) return unreadable;
  const usage = readUsage(value['usage']);
  const events: ChatEvent[] = [
    { type: 'start', id: null, model: stringAt(value, 'model') },
    ...(usage === null ? [] : [{ type: 'usage', usage } as const]),
    { type: 'finish', choice: 0, reason: 'stop', raw: null },
    { type: 'end' },
  ];
  return [{ events, frame: null }];
}

/** Numbers, or their bytes in base64. */
function hasVector(entry: unknown): boolean {
  if (!isJsonObject(entry)) return false;
  const { embedding } = entry;
  return Array.isArray(embedding) || typeof embedding === 'string';
}
