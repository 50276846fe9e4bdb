/** Entries of `providers`: what all kinds share, and what a kind adds. */
import { z } from 'zod';
import { nearest } from '../../base/nearest.ts';
import { errorClasses } from '../../failure/attempt-failure.ts';
import { baseUrlFault } from '../../providers/base-url.ts';
import type { ProviderKind } from '../../providers/provider-kind.ts';
import { providerKinds } from '../../providers/registry.ts';
import { suggestion } from './config-fault.ts';
import { bufferSize, choice, flag, integer, secretReference, strict, text } from './fields.ts';

/** What an operator may declare an answer to be: not what only the gateway itself can know. */
const ruleClasses = errorClasses.filter(
  (errorClass) =>
    !['poisoned', 'stream_interrupted', 'client_gone', 'internal'].includes(errorClass),
);

/** Hop-by-hop headers, and those that the gateway writes itself. */
const ownHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'accept',
  'accept-encoding',
  'x-client-request-id',
  'idempotency-key',
  'traceparent',
  'tracestate',
]);

const status = integer(100, 599);
const machineWord = z.union([text(200), z.number().transform(String)]);

const ruleSchema = strict({
  status: z.union([status, z.array(status).min(1).max(50)]).optional(),
  code: z.union([machineWord, z.array(machineWord).min(1).max(50)]).optional(),
  type: z.union([text(200), z.array(text(200)).min(1).max(50)]).optional(),
  message: text(500).refine(isPattern, { error: 'must be a regular expression' }).optional(),
  class: choice(ruleClasses),
  retry: flag.nullable().default(null),
}).refine(
  (rule) => [rule.status, rule.code, rule.type, rule.message].some((given) => given !== undefined),
  { error: 'needs at least one of status, code, type and message' },
);

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be a header name of letters, digits and dashes')
  .refine((header) => !ownHeaders.has(header.toLowerCase()), {
    error: 'is written by the gateway and cannot be set',
  });

const headerValue = z
  .string({ error: 'must be text' })
  .regex(/^[\x20-\x7e]{0,1024}$/, 'must be printable ASCII, at most 1024 characters');

const baseUrl = z.string({ error: 'must be a URL' }).superRefine((written, context) => {
  const message = baseUrlFault(written);
  if (message !== null) context.addIssue({ code: 'custom', message });
});

function entrySchema(kind: ProviderKind) {
  return strict({
    kind: z.literal(kind.name),
    base_url: baseUrl.nullable().default(kind.baseUrl),
    api_keys: z.array(secretReference, { error: 'must be a list' }).max(64).default([]),
    headers: z.record(headerName, headerValue, { error: 'must be a mapping' }).default({}),
    allow_missing_finish: flag.default(false),
    max_event: bufferSize.default('16mb'),
    rules: z.array(ruleSchema, { error: 'must be a list' }).max(200).default([]),
    ...kind.configShape,
  });
}

const [firstKind, ...otherKinds] = providerKinds;
const kindNames = providerKinds.map((kind) => kind.name);

export const providerSchema = z.discriminatedUnion(
  'kind',
  [entrySchema(firstKind), ...otherKinds.map(entrySchema)],
  {
    error: (issue) => {
      if (issue.code !== 'invalid_union') return 'must be a mapping';
      const written: unknown = (issue.input as { readonly kind?: unknown } | null)?.kind;
      const meant = typeof written === 'string' ? nearest(written, kindNames) : null;
      return `must be one of ${kindNames.join(', ')}${suggestion(meant)}`;
    },
  },
);

export type ProviderValues = z.output<typeof providerSchema>;

function isPattern(source: string): boolean {
  try {
    new RegExp(source, 'i');
    return true;
  } catch {
    return false;
  }
}
