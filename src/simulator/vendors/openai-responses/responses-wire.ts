/** OpenAI's Responses API, as `https://api.openai.com/v1` serves it beside chat completions. */
import type { Vendor } from '../vendor.ts';
import { responsesErrorEvents, responsesFault } from './responses-faults.ts';
import { readResponsesBody } from './responses-read.ts';
import { responsesBodyFault } from './responses-rules.ts';
import { responsesFrames, responsesStreamWriter, responsesWhole } from './responses-write.ts';

/** `shared`: what the vendor's endpoints have in common. */
export function responsesWire(shared: Vendor): Vendor {
  const { embedBody: _, wires: __, ...common } = shared;
  return {
    ...common,
    route: ({ method, path }) =>
      method === 'POST' && path === '/v1/responses'
        ? { operation: 'generate', model: null, isStream: null, isArray: false }
        : null,
    validate: (body) => responsesBodyFault(body),
    read: (body) => readResponsesBody(body),
    fault: responsesFault,
    errorEvent: responsesErrorEvents,
    wholeBody: responsesWhole,
    frames: responsesFrames,
    streamWriter: responsesStreamWriter,
    messageId: (hex) => `resp_sim${hex}`,
  };
}
