/** Counting tokens as a target of the Messages API is asked for it: the chat's body without its answer. */
import { type Result, success } from '../../base/result.ts';
import { countedParts } from '../counted-parts.ts';
import type { EncodedCall, RequestFault, UpstreamCall, UpstreamOperation } from '../dialect.ts';
import { FieldEdit } from '../field-edit.ts';
import { applySplices, scanJson } from '../json-spans.ts';
import { encodeCall as encodeChat } from './encode-call.ts';
import { dialectName } from './wire.ts';

export const countTokensUpstream: UpstreamOperation = {
  urlFrom: (chatUrl) => chatUrl.replace(/\/messages(?=$|\?)/, '/messages/count_tokens'),
  missingAbility: ({ original }) => (original.dialect === dialectName ? null : 'count_tokens'),
  encodeCall,
  decodeReply: (body) => countedParts(body, 'input_tokens'),
};

/** Fields that say how to answer: the endpoint refuses them (vendor's API reference, 2026-11). */
const answerFields = [
  'max_tokens',
  'metadata',
  'service_tier',
  'stop_sequences',
  'stream',
  'temperature',
  'top_k',
  'top_p',
  'container',
] as const;

function encodeCall(call: UpstreamCall): Result<EncodedCall, RequestFault> {
  const chat = encodeChat(call);
  if (!chat.ok) return chat;
  const bytes = Buffer.from(chat.value.body);
  const fields = scanJson(bytes);
  if (fields === null) return chat;
  const edit = new FieldEdit(bytes, fields);
  for (const name of answerFields) edit.remove(name);
  return success({ body: applySplices(bytes, edit.splices()), dropped: [] });
}
