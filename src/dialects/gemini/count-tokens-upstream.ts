/** Counting tokens as a target of the generateContent API is asked for it. */
import { type Result, success } from '../../base/result.ts';
import { countedParts } from '../counted-parts.ts';
import type { EncodedCall, RequestFault, UpstreamCall, UpstreamOperation } from '../dialect.ts';
import { FieldEdit } from '../field-edit.ts';
import { applySplices, scanJson } from '../json-spans.ts';
import { encodeCall as encodeChat } from './encode-call.ts';
import type { GeminiQuirks } from './gemini-quirks.ts';
import { camelCase } from './proto-names.ts';
import { dialectName } from './wire.ts';

export const countTokensUpstream: UpstreamOperation = {
  urlFrom: (chatUrl) => chatUrl.replace(/:generateContent(?=$|\?)/, ':countTokens'),
  missingAbility: ({ original }) => (original.dialect === dialectName ? null : 'count_tokens'),
  encodeCall,
  decodeReply: (body) => countedParts(body, 'totalTokens'),
};

/** Where a chat need not be wrapped, what of it counts. */
const countedFields: readonly string[] = [
  'contents',
  'systemInstruction',
  'tools',
  'generationConfig',
];

export function countTokensWith({ wrapsCountedChat }: GeminiQuirks): UpstreamOperation {
  return wrapsCountedChat
    ? countTokensUpstream
    : { ...countTokensUpstream, encodeCall: encodeBareCall };
}

function encodeBareCall(call: UpstreamCall): Result<EncodedCall, RequestFault> {
  const chat = encodeChat(call);
  if (!chat.ok) return chat;
  const bytes = Buffer.from(chat.value.body);
  const fields = scanJson(bytes);
  if (fields === null) return chat;
  const edit = new FieldEdit(bytes, fields);
  for (const name of edit.names()) {
    if (!countedFields.includes(camelCase(name))) edit.remove(name);
  }
  return success({ body: applySplices(bytes, edit.splices()), dropped: [] });
}

/** The whole chat, wrapped: beside bare contents the endpoint takes no system words and no tools. */
function encodeCall(call: UpstreamCall): Result<EncodedCall, RequestFault> {
  const chat = encodeChat(call);
  if (!chat.ok) return chat;
  const body = Buffer.from(chat.value.body).toString('utf8').trimStart();
  const model = JSON.stringify(`models/${call.model}`);
  const rest = body.slice(1).trimStart();
  const comma = rest.startsWith('}') ? '' : ',';
  return success({
    body: `{"generateContentRequest":{"model":${model}${comma}${rest}}`,
    dropped: [],
  });
}
