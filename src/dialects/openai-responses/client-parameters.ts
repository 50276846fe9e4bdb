/** The sampling and output fields of a client's body. Ranges are left to the provider: they differ between models. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { type ChatParameters, noParameters, type ResponseFormat } from '../../chat/request.ts';
import type { FirstFault } from '../first-fault.ts';
import { TypedFields } from '../typed-fields.ts';

export const knownFormats: readonly string[] = ['text', 'json_object', 'json_schema'];

const logprobsInclude = 'message.output_text.logprobs';

export function readParameters(json: JsonObject, faults: FirstFault): ChatParameters {
  const fields = new TypedFields(json, faults);
  const includes = fields.strings('include') ?? [];
  const text = fields.fieldsOf('text');
  return {
    ...noParameters,
    max_tokens: fields.integer('max_output_tokens'),
    temperature: fields.number('temperature'),
    top_p: fields.number('top_p'),
    logprobs: includes.includes(logprobsInclude) ? true : null,
    top_logprobs: fields.integer('top_logprobs') || null,
    reasoning_effort: fields.fieldsOf('reasoning').string('effort'),
    verbosity: text.string('verbosity'),
    parallel_tool_calls: fields.boolean('parallel_tool_calls'),
    response_format: readFormat(text.object('format'), faults),
    user: fields.string('safety_identifier') ?? fields.string('user'),
    service_tier: fields.string('service_tier'),
  };
}

/** Null also for a format of a type not known here. */
function readFormat(format: JsonObject | null, faults: FirstFault): ResponseFormat | null {
  if (format === null) return null;
  const { type } = format;
  switch (type) {
    case 'text':
    case 'json_object':
      return { type };
    case 'json_schema':
      return readJsonSchema(format, faults);
    default:
      if (typeof type !== 'string') faults.reportType('text.format.type', 'a string', type);
      return null;
  }
}

function readJsonSchema(format: JsonObject, faults: FirstFault): ResponseFormat | null {
  const fields = new TypedFields(format, faults, 'text.format.');
  const { schema } = format;
  if (!isJsonObject(schema)) {
    faults.reportType('text.format.schema', 'an object (a JSON Schema)', schema);
    return null;
  }
  return {
    type: 'json_schema',
    name: fields.string('name') || 'response',
    schema,
    strict: fields.boolean('strict'),
    description: fields.string('description'),
  };
}
