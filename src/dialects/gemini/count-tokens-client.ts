/** Counting tokens as a client of the generateContent API asks for it. */
import { type Result, success } from '../../base/result.ts';
import { readClientBody } from '../client-body.ts';
import type { ClientDialect, DecodedRequest, RequestFault } from '../dialect.ts';
import { FirstFault } from '../first-fault.ts';
import { memberAt } from '../json-spans.ts';
import { encodeError } from './client-error.ts';
import { decodeRequest } from './client-request.ts';
import { streamEncoder } from './client-stream.ts';
import { snakeCase } from './proto-names.ts';
import { dialectName } from './wire.ts';

/** `model` as the path names it. */
export function countTokensClient(model: string): ClientDialect {
  return {
    name: dialectName,
    operation: 'count_tokens',
    routes: [],
    sdk: 'Google Gen AI',
    baseUrl: (origin) => origin,
    requestIdHeader: 'x-request-id',
    decodeRequest: (body) => decodeCount(body, model),
    encodeReply: ({ reply, original }) =>
      original ?? JSON.stringify({ totalTokens: reply.usage.inputTokens ?? 0 }),
    streamEncoder,
    encodeError,
  };
}

const wrapper = 'generateContentRequest';

/** What is counted stands in the body itself, or as a whole request inside it. */
function decodeCount(body: Buffer, model: string): Result<DecodedRequest, RequestFault> {
  const asked = { model, isStream: false };
  const outer = readClientBody(body, wrapper, new FirstFault());
  const inner =
    outer === null
      ? null
      : (memberAt(outer.fields, wrapper) ?? memberAt(outer.fields, snakeCase(wrapper)));
  if (outer === null || inner === null) return decodeRequest(body, asked);
  const decoded = decodeRequest(body.subarray(inner.valueStart, inner.end), asked);
  if (!decoded.ok) return decoded;
  return success({ ...decoded.value, extension: outer.extension ?? decoded.value.extension });
}
