/** The query of `GET /admin/v1/served`, checked: every name is known, every value has its form. */
import { z } from 'zod';
import { fail, type Result, success } from '../base/result.ts';
import type { ServedFilter } from '../served-by/served-query.ts';
import type { ConfigFault } from './tier-admin.ts';

export type ServedPageQuery = {
  readonly filter: ServedFilter;
  readonly limit: number;
  readonly cursor: string | null;
};

const word = z.string().min(1).max(256).optional();
const instant = z.iso
  .datetime({ offset: true, error: 'expected an RFC 3339 time such as 2026-01-31T12:00:00Z' })
  .transform((text) => Date.parse(text))
  .optional();
const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, `expected a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .optional();

const querySchema = z.strictObject({
  tier: word,
  provider: word,
  model: word,
  target: word,
  variant: word,
  config_version: wholeNumber(1, 2 ** 31 - 1),
  outcome: z.enum(['served', 'failed', 'rejected', 'client_gone', 'lost']).optional(),
  class: word,
  eval_run: word,
  run_id: word,
  session: word,
  client_request_id: word,
  upstream_request_id: word,
  key: word,
  recovery: z.enum(['none', 'restarted', 'continued', 'failed_forward']).optional(),
  failed_over: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  from: instant,
  to: instant,
  limit: wholeNumber(1, 1000),
  cursor: z.string().min(1).max(512).optional(),
});

type ParsedQuery = z.output<typeof querySchema>;

const filterNames = {
  tier: 'tier',
  provider: 'provider',
  model: 'model',
  target: 'target',
  variant: 'variant',
  config_version: 'configVersion',
  outcome: 'outcome',
  class: 'errorClass',
  eval_run: 'evalRun',
  run_id: 'runId',
  session: 'session',
  client_request_id: 'clientRequestId',
  upstream_request_id: 'upstreamRequestId',
  key: 'keyId',
  recovery: 'recovery',
  failed_over: 'isFailedOver',
  from: 'fromMs',
  to: 'toMs',
} as const satisfies Record<Exclude<keyof ParsedQuery, 'limit' | 'cursor'>, keyof ServedFilter>;

const limitDefault = 100;

/** `parameters` as they stand in the URL: a name given twice is a fault. */
export function parseServedQuery(
  parameters: Readonly<Record<string, readonly string[]>>,
): Result<ServedPageQuery, readonly ConfigFault[]> {
  const repeated = Object.entries(parameters).filter(([, values]) => values.length > 1);
  if (repeated.length > 0) {
    return fail(repeated.map(([path]) => ({ path, message: 'given more than once' })));
  }
  const single = Object.fromEntries(
    Object.entries(parameters).map(([name, values]) => [name, values[0]]),
  );
  const parsed = querySchema.safeParse(single);
  if (!parsed.success) return fail(faultsOf(parsed.error));
  return success({
    filter: filterOf(parsed.data),
    limit: parsed.data.limit ?? limitDefault,
    cursor: parsed.data.cursor ?? null,
  });
}

function filterOf(query: ParsedQuery): ServedFilter {
  const filter: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(filterNames)) {
    const value = query[name as keyof typeof filterNames];
    if (value !== undefined) filter[field] = value;
  }
  return filter as ServedFilter;
}

/** One fault a wrong parameter, with its name as path. */
function faultsOf(error: z.ZodError): readonly ConfigFault[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((path) => ({
          path,
          message: `unknown query parameter; known are ${Object.keys(querySchema.shape).join(', ')}`,
        }))
      : [{ path: issue.path.join('.'), message: issue.message }],
  );
}
