/** The sampling and output fields of a client's body. Ranges are left to the provider: they differ between models. */
import { createHash } from 'node:crypto';
import { type JsonObject, numberAt, objectAt, stringAt } from '../../base/json.ts';
import { type ChatParameters, noParameters, type ResponseFormat } from '../../chat/request.ts';
import type { FirstFault } from '../first-fault.ts';
import { TypedFields } from '../typed-fields.ts';

/** `isParallel` is what the tool choice says. */
export function readParameters(
  json: JsonObject,
  isParallel: boolean | null,
  faults: FirstFault,
): ChatParameters {
  const fields = new TypedFields(json, faults);
  return {
    ...noParameters,
    max_tokens: fields.integer('max_tokens'),
    temperature: fields.number('temperature'),
    top_p: fields.number('top_p'),
    top_k: fields.integer('top_k'),
    stop: fields.strings('stop_sequences'),
    reasoning_effort: readEffort(fields, faults),
    parallel_tool_calls: isParallel,
    response_format: readFormat(fields, faults),
    user: userOf(fields.fieldsOf('metadata').string('user_id')),
    service_tier: tierOf(fields.string('service_tier')),
  };
}

/** From which budget on which effort is meant; what they mean to other dialects. */
const efforts = [
  [32_000, 'xhigh'],
  [16_384, 'high'],
  [8192, 'medium'],
  [2048, 'low'],
] as const;

/** An effort that is named counts before a budget; a model left to itself (`adaptive`) needs none. */
function readEffort(fields: TypedFields, faults: FirstFault): string | null {
  const thinking = fields.fieldsOf('thinking');
  const named = fields.fieldsOf('output_config').string('effort');
  const isGiven = fields.object('thinking') !== null;
  const type = thinking.string('type');
  if (isGiven && type === null) faults.report('thinking.type', 'thinking.type must be a string');
  const budget = thinking.integer('budget_tokens');
  if (type === 'disabled') return 'none';
  if (type !== 'enabled' || named !== null) return named;
  if (budget === null) {
    faults.report('thinking.budget_tokens', 'thinking.budget_tokens must be a whole number');
    return null;
  }
  return efforts.find(([from]) => budget >= from)?.[1] ?? 'minimal';
}

/** The budget itself, where it is what the effort was read from; `open` where the model is left to itself. */
export function readBudget(json: JsonObject): number | 'open' | null {
  if (stringAt(objectAt(json, 'output_config'), 'effort') !== null) return null;
  const thinking = objectAt(json, 'thinking');
  const type = stringAt(thinking, 'type');
  if (type === null || type === 'disabled') return null;
  return type === 'enabled' ? numberAt(thinking, 'budget_tokens') : 'open';
}

/** `output_format` is the field's older place. */
function readFormat(fields: TypedFields, faults: FirstFault): ResponseFormat | null {
  const places = [
    ['output_config.format', fields.fieldsOf('output_config').object('format')],
    ['output_format', fields.object('output_format')],
  ] as const;
  for (const [place, format] of places) {
    if (format === null) continue;
    const inner = new TypedFields(format, faults, `${place}.`);
    const type = inner.string('type');
    if (type === 'text') return { type };
    const schema = inner.object('schema');
    if (type === 'json_schema' && schema !== null) {
      return { type, name: 'response', schema, strict: null, description: null };
    }
    faults.report(place, `${place} must be {type: json_schema, schema}`);
  }
  return null;
}

const userCharactersMax = 64;

/** Other vendors refuse longer ids; a hash of one is as good, as long as it is always the same. */
function userOf(user: string | null): string | null {
  if (user === null || user.length <= userCharactersMax) return user;
  return createHash('sha256').update(user).digest('hex');
}

function tierOf(tier: string | null): string | null {
  return tier === 'standard_only' ? 'default' : tier;
}
