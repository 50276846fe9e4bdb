/** Errors of the Responses API: the vendor's usual body, and two events where a stream has begun. */
import { openaiFault, refusal } from '../openai/openai-faults.ts';
import type { FaultDetail, FaultReplyKind, Frame, VendorFault } from '../vendor.ts';

/** An unknown model is a 400 here, where the vendor's other endpoints say 404. */
export function responsesFault(kind: FaultReplyKind, detail: FaultDetail): VendorFault {
  switch (kind) {
    case 'not_found':
      return refusal(
        `The requested model '${detail.model}' does not exist.`,
        'model',
        'model_not_found',
      );
    case 'context_length':
      return refusal(
        'Your input exceeds the context window of this model. Please adjust your input and try again.',
        'input',
        'context_length_exceeded',
      );
    case 'prefill':
      return refusal('The last item of the input must be of the user or a tool.', 'input');
    default:
      return openaiFault(kind, detail);
  }
}

/**
 * The nested `error` event as the service sends it, then the failed response that ends the stream; their
 * numbers go on from those of the events `sent`.
 */
export function responsesErrorEvents(
  { type, message, param, code }: VendorFault,
  { id, model, eol }: { readonly id: string; readonly model: string; readonly eol: string },
  sent: readonly Frame[],
): string {
  const error = { type, code: code ?? type, message, param };
  const response = {
    id,
    object: 'response',
    status: 'failed',
    model,
    output: [],
    error: { code: error.code, message },
    usage: null,
  };
  const number = sent.reduce((sum, { frame }) => sum + (frame.match(/^event: /gm)?.length ?? 0), 0);
  return [
    { type: 'error', sequence_number: number, error },
    { type: 'response.failed', sequence_number: number + 1, response },
  ]
    .map((event) => `event: ${event.type}${eol}data: ${JSON.stringify(event)}${eol}${eol}`)
    .join('');
}
