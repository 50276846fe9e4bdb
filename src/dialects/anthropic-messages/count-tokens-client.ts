/** Counting tokens as a client of the Messages API asks for it. */
import type { ClientDialect } from '../dialect.ts';
import { encodeError } from './client-error.ts';
import { decodeRequest } from './client-request.ts';
import { streamEncoder } from './client-stream.ts';
import { dialectName } from './wire.ts';

export const countTokensClient: ClientDialect = {
  name: dialectName,
  operation: 'count_tokens',
  routes: [],
  sdk: 'Anthropic',
  baseUrl: (origin) => origin,
  requestIdHeader: 'request-id',
  decodeRequest,
  encodeReply: ({ reply, original }) =>
    original ?? JSON.stringify({ input_tokens: reply.usage.inputTokens ?? 0 }),
  streamEncoder,
  encodeError,
};
