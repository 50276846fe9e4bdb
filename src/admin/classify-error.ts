/** `POST /admin/v1/classify`: what a pasted error would do, by the tables and rules that judge real ones. */
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { type JsonObject, writeJson } from '../base/json.ts';
import { fail, type Result, success } from '../base/result.ts';
import type { UpstreamDialect } from '../dialects/dialect.ts';
import type { Judge } from '../engine/failure-of.ts';
import { judgeAnswer } from '../engine/judge-answer.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import { type Effect, effectOf, type NextTarget, type SameTarget } from '../failure/effects.ts';
import type { Snapshot } from '../routing/snapshot.ts';
import { checkBody } from './checked-body.ts';
import type { ConfigFault } from './tier-admin.ts';

export type ClassifyPorts = {
  readonly snapshot: () => Snapshot;
  readonly dialects: ReadonlyMap<string, UpstreamDialect>;
  readonly clock: Clock;
};

/** The faults name what is wrong with the question. */
export type ClassifyError = (body: JsonObject) => Result<JsonObject, readonly ConfigFault[]>;

const name = z.string({ error: 'must be a name' }).min(1, 'must be a name').max(256).optional();
const headerValue = z.union([z.string(), z.number(), z.array(z.string())], {
  error: 'must be text',
});

const questionSchema = z.strictObject({
  provider: name,
  protocol: name,
  status: z
    .int({ error: 'must be an HTTP status from 200 to 599' })
    .min(200, 'must be an HTTP status from 200 to 599')
    .max(599, 'must be an HTTP status from 200 to 599'),
  headers: z
    .record(z.string().max(256), headerValue, { error: 'must be an object of header values' })
    .default({}),
  body: z.unknown().optional(),
});

type Question = z.output<typeof questionSchema>;

export function createClassifyError(ports: ClassifyPorts): ClassifyError {
  return (body) => {
    const question = checkBody(questionSchema, body);
    if (!question.ok) return question;
    const judge = judgeOf(question.value, ports);
    if (!judge.ok) return judge;
    const { status, headers } = question.value;
    const bytes = bytesOf(question.value.body);
    if (bytes === null) return fail([{ path: 'body', message: 'is nested too deeply' }]);
    const answer = { status, headers: headersOf(headers), bytes };
    const failure = judgeAnswer(judge.value, answer, ports.clock.wallMs());
    if (failure !== null) return success(verdictOf(failure));
    return fail([{ path: 'body', message: 'is an answer of this protocol, not an error' }]);
  };
}

/** A provider's own rules count; a protocol alone has none. */
function judgeOf(
  { provider, protocol }: Question,
  { snapshot, dialects }: ClassifyPorts,
): Result<Judge, readonly ConfigFault[]> {
  if ((provider === undefined) === (protocol === undefined)) {
    return fail([{ path: 'provider', message: 'name either a provider or a protocol' }]);
  }
  if (provider !== undefined) {
    const { providers } = snapshot();
    const found = providers.get(provider);
    return found === undefined
      ? fail([{ path: 'provider', message: unknown('provider', [...providers.keys()]) }])
      : success(found);
  }
  const dialect = dialects.get(protocol ?? '');
  return dialect === undefined
    ? fail([{ path: 'protocol', message: unknown('protocol', [...dialects.keys()]) }])
    : success({ dialect, operatorRules: [] });
}

function unknown(what: string, known: readonly string[]): string {
  return `is no ${what} of this gateway; known are ${known.slice(0, 50).join(', ') || 'none'}`;
}

function headersOf(headers: Question['headers']): Record<string, string> {
  const entries = Object.entries(headers).map(([header, value]) => [
    header.toLowerCase(),
    Array.isArray(value) ? value.join(', ') : String(value),
  ]);
  return Object.fromEntries(entries);
}

/** Text is taken as it came; anything else is the JSON document itself. Null: too deep to be written. */
function bytesOf(body: unknown): Buffer | null {
  if (body === undefined) return Buffer.alloc(0);
  const text = typeof body === 'string' ? body : writeJson(body);
  return text === null ? null : Buffer.from(text);
}

function verdictOf(failure: AttemptFailure): JsonObject {
  const effect = effectOf(failure);
  return {
    class: failure.errorClass,
    retry_after_ms: failure.hint?.waitMs ?? null,
    retry_same_target: isAskedAgain[effect.sameTarget],
    counts_for_breaker: effect.countsForBreaker,
    fail_over: isLeft[effect.nextTarget],
    rule: failure.rule,
    details: detailsOf(failure, effect),
  };
}

/** The same in full, where yes and no are too short. */
function detailsOf(failure: AttemptFailure, effect: Effect): JsonObject {
  return {
    same_target: effect.sameTarget,
    next_target: effect.nextTarget,
    parks: effect.parking?.subject ?? null,
    cools_key: effect.coolsKey,
    alert: effect.alert,
    hint_source: failure.hint?.source ?? null,
    code: failure.code,
    type: failure.type,
    message: failure.message,
  };
}

/** Whether a request asks the target again with the key that failed, while others could be asked too. */
const isAskedAgain = {
  retry: true,
  other_key_then_hint: true,
  stream_rules: true,
  last_resort_only: false,
  other_key_only: false,
  never: false,
} satisfies { readonly [rule in SameTarget]: boolean };

/** Whether a request goes on to the next target, at once or later, under the default policies. */
const isLeft = {
  at_once: true,
  when_sustained: true,
  when_wait_does_not_fit: true,
  larger_window: true,
  stream_rules: true,
  whose_fault: false,
  if_policy_allows: false,
  never: false,
} satisfies { readonly [rule in NextTarget]: boolean };
