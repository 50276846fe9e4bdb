/** Chat completions as a client speaks them. */
import type { ClientDialect } from '../dialect.ts';
import { encodeError } from './client-error.ts';
import { encodeReply } from './client-reply.ts';
import { decodeRequest } from './client-request.ts';
import { streamEncoder } from './client-stream.ts';
import { embeddingsClient } from './embeddings-client.ts';
import { dialectName } from './wire.ts';

export const openaiChatClient: ClientDialect = {
  name: dialectName,
  routes: [{ suffix: 'chat/completions' }, { suffix: 'embeddings', speaks: embeddingsClient }],
  sdk: 'OpenAI',
  baseUrl: (origin) => `${origin}/v1`,
  requestIdHeader: 'x-request-id',
  decodeRequest,
  encodeReply,
  streamEncoder,
  encodeError,
};
