/** Parameters under this dialect's names. */
import type { ChatParameters } from '../../chat/request.ts';
import type { ChatQuirks } from './chat-quirks.ts';

export type ParameterName = keyof ChatParameters;

/** Fields that a reasoning model refuses, with the value that it takes (and that may as well be left out). */
const samplingFields: ReadonlyMap<ParameterName, number | null> = new Map<
  ParameterName,
  number | null
>([
  ['temperature', 1],
  ['top_p', 1],
  ['presence_penalty', 0],
  ['frequency_penalty', 0],
  ['logit_bias', null],
]);

/** What a reasoning model of this server refuses, as above. */
export function refusedSampling(quirks: ChatQuirks): ReadonlyMap<ParameterName, number | null> {
  const refused = quirks.refusedByReasoning;
  if (refused === undefined) return samplingFields;
  return new Map(refused.map((name) => [name, samplingFields.get(name) ?? null]));
}

/** The two names of the output limit; models that reason take only the newer one. */
export const outputLimitFields = ['max_tokens', 'max_completion_tokens'] as const;

/** The field's name on the wire. */
export function fieldOf(name: ParameterName, isReasoningModel: boolean): string {
  return name === 'max_tokens' && isReasoningModel ? 'max_completion_tokens' : name;
}

/** The field's value on the wire; undefined = leave the field out. */
export function wireValueOf(name: ParameterName, parameters: ChatParameters): unknown {
  if (name === 'stop') return stopOf(parameters);
  if (name !== 'response_format') return parameters[name] ?? undefined;
  const format = parameters.response_format;
  if (format === null) return undefined;
  if (format.type !== 'json_schema') return format;
  const { schema, strict, description } = format;
  return {
    type: 'json_schema',
    json_schema: {
      name: format.name,
      ...(description === null ? {} : { description }),
      schema,
      ...(strict === null ? {} : { strict }),
    },
  };
}

/** An empty sequence stops nothing, and some models refuse even an empty list. */
function stopOf({ stop }: ChatParameters): readonly string[] | undefined {
  const filled = (stop ?? []).filter((sequence) => sequence !== '');
  return filled.length === 0 ? undefined : filled;
}
