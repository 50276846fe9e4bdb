/** The sampling and output fields of a client's body. Ranges are left to the provider: they differ between models. */
import { type ChatParameters, noParameters, type ResponseFormat } from '../../chat/request.ts';
import { plainName } from '../client-body.ts';
import type { ClientFields } from './client-fields.ts';
import type { PartReading } from './client-media.ts';
import { fromSubset } from './client-schema.ts';
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

export function readParameters(body: ClientFields, reading: PartReading): ChatParameters {
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
    reasoning_effort: readEffort(config.fieldsOf('thinkingConfig')),
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

/** Up to which budget which effort is meant: what they mean to this dialect's own models. */
const efforts = [
  [0, 'none'],
  [1024, 'minimal'],
  [4096, 'low'],
  [8192, 'medium'],
  [24_576, 'high'],
] as const;

/** A budget below 0 leaves it to the model, which is the same as saying nothing. */
function readEffort(thinking: ClientFields): string | null {
  const level = thinking.string('thinkingLevel');
  const budget = thinking.integer('thinkingBudget');
  if (level !== null && level !== '' && level !== 'THINKING_LEVEL_UNSPECIFIED') {
    return level.toLowerCase();
  }
  if (budget === null || budget < 0) return null;
  return efforts.find(([most]) => budget <= most)?.[1] ?? 'xhigh';
}

/** The budget itself, where it is what the effort was read from. */
export function readBudget(body: ClientFields): number | null {
  const thinking = body.fieldsOf('generationConfig').fieldsOf('thinkingConfig');
  const budget =
    thinking.value('thinkingLevel') === undefined ? thinking.integer('thinkingBudget') : null;
  return budget !== null && budget > 0 ? budget : null;
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
