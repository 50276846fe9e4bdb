/** The Messages API as a client speaks it. */
import type { ClientDialect } from '../dialect.ts';
import { encodeError } from './client-error.ts';
import { modelListing } from './client-models.ts';
import { encodeReply } from './client-reply.ts';
import { decodeRequest } from './client-request.ts';
import { streamEncoder } from './client-stream.ts';
import { countTokensClient } from './count-tokens-client.ts';
import { dialectName } from './wire.ts';

export const anthropicMessagesClient: ClientDialect = {
  name: dialectName,
  routes: [{ suffix: 'messages' }, { suffix: 'messages/count_tokens', speaks: countTokensClient }],
  // The SDK adds `/v1/messages` itself.
  sdk: 'Anthropic',
  baseUrl: (origin) => origin,
  requestIdHeader: 'request-id',
  modelListing,
  decodeRequest,
  encodeReply,
  streamEncoder,
  encodeError,
};
