/** The generateContent API as a client speaks it. */
import { fail } from '../../base/result.ts';
import type { ClientDialect, PathQuery } from '../dialect.ts';
import { encodeError } from './client-error.ts';
import { modelListing } from './client-models.ts';
import { encodeReply } from './client-reply.ts';
import { decodeRequest } from './client-request.ts';
import { arrayEncoder, streamEncoder } from './client-stream.ts';
import { countTokensClient } from './count-tokens-client.ts';
import { dialectName } from './wire.ts';

const callNames: readonly string[] = ['generateContent', 'streamGenerateContent', 'countTokens'];

/** `v1beta1` and what follows `publishers` are Vertex AI's (SDK for JavaScript 3.3, `tModel`, seen 2026-11). */
const versions: readonly string[] = ['v1beta', 'v1', 'v1beta1'];
const publisherModels = 'publishers/:publisher/models';
const collections: readonly string[] = [
  'models',
  'tunedModels',
  publisherModels,
  `projects/:project/locations/:location/${publisherModels}`,
];

/** As it stands it reads bodies that name their model; calls over HTTP name it in the path. */
export const geminiClient: ClientDialect = {
  name: dialectName,
  routes: [],
  pathCalls: { versions, collections, names: callNames, dialectFor },
  modelListing,
  sdk: 'Google Gen AI',
  baseUrl: (origin) => origin,
  requestIdHeader: 'x-request-id',
  // A blank line. The SDK for Python takes every line but those for part of a document, comments too
  // (google-genai 1.x, `_iter_response_stream`, seen 2026-11); between documents of an array it is blank.
  keepAlive: '\r\n',
  decodeRequest: (body) => decodeRequest(body, { model: null, isStream: false }),
  encodeReply,
  streamEncoder,
  encodeError,
};

/** A collection that the SDK puts before the name of another. */
const innerCollection = /^(?:models|tunedModels|publishers\/[^/]+\/models)\//;

function dialectFor(call: string, query: PathQuery): ClientDialect | null {
  const [, model, operation] = /^(.+):([^:]+)$/.exec(call.replace(innerCollection, '')) ?? [];
  if (model === undefined || operation === undefined || !callNames.includes(operation)) return null;
  if (operation === 'countTokens') return countTokensClient(model);
  const isStream = operation === 'streamGenerateContent';
  const alt = query('alt') ?? query('$alt') ?? 'json';
  const form: ClientDialect = {
    ...geminiClient,
    decodeRequest: (body) =>
      alt === 'json' || alt === 'sse' ? decodeRequest(body, { model, isStream }) : unknownForm,
  };
  if (!isStream || alt === 'sse') return form;
  return { ...form, streamEncoder: arrayEncoder, streamType: 'application/json; charset=utf-8' };
}

const unknownForm = fail({ message: 'alt must be json or sse', param: 'alt' });
