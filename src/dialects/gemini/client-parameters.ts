/** The sampling and output fields of a client's body. Ranges are left to the provider: they differ between models. */
import { type ChatParameters, noParameters, type ResponseFormat } from '../../chat/request.ts';
import { plainName } from '../client-body.ts';
import type { ClientFields } from './client-fields.ts';
import type { PartReading } from './client-media.ts';
import { fromSubset } from './client-schema.ts';
import type { ClientThinking } from './client-thinking.ts';
import { bind } from './client-tools.ts';
import { camelCase } from './proto-names.ts';

/** Fields with a canonical place; media resolution goes with the images. */
const knownFields: ReadonlySet<string> = new Set([
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'maxOutputTokens',
  'stopSequences',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'responseLogprobs',
  'logprobs',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  '_responseJsonSchema',
  'responseModalities',
  'mediaResolution',
  'thinkingConfig',
]);

/** Fields that change what the answer is, and that no other dialect has. */
const bindingFields: ReadonlySet<string> = new Set(['speechConfig', 'imageConfig']);

export function readParameters(
  body: ClientFields,
  { effort }: ClientThinking,
  reading: PartReading,
): ChatParameters {
  const config = body.fieldsOf('generationConfig');
  noteOthers(config, reading);
  return {
    ...noParameters,
    max_tokens: config.integer('maxOutputTokens'),
    temperature: config.number('temperature'),
    top_p: config.number('topP'),
    top_k: config.number('topK'),
    stop: config.strings('stopSequences'),
    seed: config.integer('seed'),
    presence_penalty: config.number('presencePenalty'),
    frequency_penalty: config.number('frequencyPenalty'),
    logprobs: config.boolean('responseLogprobs'),
    top_logprobs: config.integer('logprobs'),
    n: config.positiveInteger('candidateCount'),
    reasoning_effort: effort,
    response_format: readFormat(config, reading),
    service_tier: tierOf(body.string('serviceTier')),
  };
}

function noteOthers(config: ClientFields, { notes, opaqueParts }: PartReading): void {
  for (const [name, value] of Object.entries(config.json)) {
    const known = camelCase(name);
    if (value === undefined || value === null || knownFields.has(known)) continue;
    if (bindingFields.has(known)) bind(known, value, opaqueParts);
    else notes.add(`generationConfig.${plainName(name)}`);
  }
  const modalities = config.strings('responseModalities') ?? [];
  if (modalities.some((each) => each.toUpperCase() !== 'TEXT')) {
    bind('responseModalities', modalities, opaqueParts);
  }
}

function readFormat(config: ClientFields, { opaqueParts }: PartReading): ResponseFormat | null {
  const mimeType = config.string('responseMimeType') ?? '';
  const own = config.object('responseSchema');
  const plain = config.object('responseJsonSchema') ?? config.object('_responseJsonSchema');
  const schema = plain ?? (own === null ? null : fromSubset(own));
  if (mimeType === 'text/plain') return { type: 'text' };
  if (mimeType !== '' && mimeType !== 'application/json') {
    bind('responseMimeType', mimeType, opaqueParts);
    return null;
  }
  if (schema !== null) {
    return { type: 'json_schema', name: 'response', schema, strict: null, description: null };
  }
  return mimeType === '' ? null : { type: 'json_object' };
}

function tierOf(tier: string | null): string | null {
  const word = tier?.toLowerCase().replace(/^service_tier_/, '') ?? null;
  if (word === 'unspecified' || word === '') return null;
  return word === 'standard' ? 'default' : word;
}
