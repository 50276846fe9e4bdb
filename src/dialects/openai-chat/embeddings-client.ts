/** The embeddings API as a client speaks it: what is asked for goes on as it came. */
import { fail, type Result, success } from '../../base/result.ts';
import { noParameters } from '../../chat/request.ts';
import { readClientBody, type ScannedBody } from '../client-body.ts';
import type { ClientDialect, DecodedRequest, RequestFault } from '../dialect.ts';
import { FirstFault } from '../first-fault.ts';
import { TypedFields } from '../typed-fields.ts';
import { encodeError } from './client-error.ts';
import { encodeReply } from './client-reply.ts';
import { streamEncoder } from './client-stream.ts';
import { dialectName } from './wire.ts';

export const embeddingsClient: ClientDialect = {
  name: dialectName,
  operation: 'embeddings',
  routes: [],
  sdk: 'OpenAI',
  baseUrl: (origin) => `${origin}/v1`,
  requestIdHeader: 'x-request-id',
  decodeRequest,
  encodeReply,
  streamEncoder,
  encodeError,
};

function decodeRequest(body: Buffer): Result<DecodedRequest, RequestFault> {
  const faults = new FirstFault();
  const read = readClientBody(body, 'input', faults);
  if (read === null || faults.fault !== null) {
    return fail(faults.fault ?? { message: 'the body cannot be read', param: null });
  }
  const { json, extension, fields } = read;
  const model = new TypedFields(json, faults).string('model') ?? '';
  const { input } = json;
  if (typeof input !== 'string' && !Array.isArray(input)) {
    faults.report('input', 'input must be a text, or a list of texts or of tokens');
  }
  if (faults.fault !== null) return fail(faults.fault);
  const original: ScannedBody = { dialect: dialectName, bytes: body, json, fields };
  return success({
    extension,
    request: {
      model,
      messages: [],
      tools: [],
      providerTools: [],
      toolChoice: null,
      parameters: noParameters,
      isStream: false,
      includeUsage: false,
      otherFields: [],
      original,
    },
  });
}
