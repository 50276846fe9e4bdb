/** Responses as a client speaks them. */
import type { ClientDialect } from '../dialect.ts';
import { encodeError } from './client-error.ts';
import { encodeReply } from './client-reply.ts';
import { decodeRequest } from './client-request.ts';
import { streamEncoder } from './client-stream.ts';
import { dialectName } from './wire.ts';

export const openaiResponsesClient: ClientDialect = {
  name: dialectName,
  routes: [{ suffix: 'responses' }],
  sdk: 'OpenAI',
  baseUrl: (origin) => `${origin}/v1`,
  requestIdHeader: 'x-request-id',
  decodeRequest,
  encodeReply,
  streamEncoder,
  encodeError,
};
