/** A stream that breaks: who may be asked for its rest, for the rest of what, and what the client and the row are told. */
import type { RequestTrace } from '../../src/engine/trace.ts';
import {
  type AttemptSeen,
  allRequests,
  attemptsOf,
  callsOf,
  committedMs,
  isSame,
  ms,
  named,
  toleranceMs,
} from './invariants-reading.ts';
import type { BatchSeen, CallSeen, Observation, RequestSeen } from './simulated-observation.ts';

/** Calls made after the answer had begun to flow. */
export function restCallsOf(observation: Observation, request: RequestSeen): readonly CallSeen[] {
  const { answered } = request;
  if (answered?.kind !== 'stream') return [];
  return callsOf(observation, request).filter(({ at }) => at.seq > answered.seq);
}

/** Asks for the rest that count: a refused prefill is none. */
export function restAsksOf(observation: Observation, request: RequestSeen): number {
  const asks = attemptsOf(request).filter(({ kind }) => kind === 'continuation').length;
  const calls = restCallsOf(observation, request);
  return asks - calls.filter(({ fault }) => fault === 'prefill').length;
}

/** Null: nothing in the request or its tier stands against asking for the rest of its stream. */
export function restBar({ plan, tier }: RequestSeen): string | null {
  const { onInterrupt, maxContinuations } = tier.policies.stream;
  if (onInterrupt !== 'continue') return onInterrupt;
  if (maxContinuations === 0) return 'max_continuations 0';
  if (plan.mayWrite) return 'a tool that may write';
  return plan.asks === 'text' ? null : plan.asks;
}

/** What the client had by then. */
export function textBy({ batches }: RequestSeen, atMs: number): string {
  return textIn(batches.filter((batch) => batch.atMs <= atMs));
}

function batchesBefore({ batches }: RequestSeen, seq: number): readonly BatchSeen[] {
  return batches.filter((batch) => batch.seq < seq);
}

function textIn(batches: readonly BatchSeen[]): string {
  return batches.map(({ text }) => text).join('');
}

/** Nobody, where the request, its tier or what was sent forbids it; no more often than the tier says. */
export function asksForTheRestOnlyWhereItMay(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const { maxContinuations, maxDurationMs } = request.tier.policies.stream;
    const untilMs = (committedMs(request) ?? 0) + maxDurationMs;
    const asks = restAsksOf(observation, request);
    const bar = restBar(request);
    const faults = restCallsOf(observation, request).flatMap((call) => {
      const before = batchesBefore(request, call.at.seq);
      const types = before.flatMap((batch) => batch.types);
      return [
        bar,
        types.includes('tool_call_start') ? 'a tool call was sent' : null,
        before.some(({ isLast }) => isLast) ? 'its end was sent' : null,
        call.at.atMs >= untilMs ? `its time was over at ${ms(untilMs)}` : null,
      ].flatMap((why) => (why === null ? [] : [`${call.provider} asked for the rest: ${why}`]));
    });
    if (asks > maxContinuations) faults.push(`${asks} continuations of ${maxContinuations}`);
    return faults.map((fault) => named(request, fault));
  });
}

/** What stands in a request for the rest is what the client has by then; in any other, nothing. */
export function asksForTheRestOfWhatWasSent(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const rests = restCallsOf(observation, request);
    return callsOf(observation, request).flatMap((call) => {
      const sent = rests.includes(call) ? textIn(batchesBefore(request, call.at.seq)) : '';
      const wanted = sent.trimEnd();
      const given = call.partial?.text ?? '';
      if (given === wanted) return [];
      return [named(request, `${call.provider} has "${given}" to go on with, not "${wanted}"`)];
    });
  });
}

/** Thoughts are bound to their provider: only it begins anew where nothing else was sent. */
export function thinksAnewAtHome(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const home = writersOf(observation, request)[0]?.call?.provider;
    return restCallsOf(observation, request).flatMap((call) => {
      const before = batchesBefore(request, call.at.seq);
      const isThought = before.some(({ types }) => types.includes('reasoning'));
      const isMoved = isThought && textIn(before).trim() === '' && call.provider !== home;
      return isMoved ? [named(request, `${call.provider} thinks on for ${home}`)] : [];
    });
  });
}

type Writer = {
  readonly target: string;
  readonly attempt: number;
  readonly start: number;
  readonly end: number;
  readonly isUncertain: boolean;
  readonly call: CallSeen | undefined;
};

/** Who wrote which part of the client's text, as the row tells it. */
export function writersOf(observation: Observation, request: RequestSeen): readonly Writer[] {
  const { trace, text } = request;
  const { seams = [], serving } = trace ?? {};
  const parts =
    seams.length > 0 || serving == null
      ? seams
      : [{ attempt: serving.n, target: serving.target, start: 0, end: text.length }];
  const calls = callsOf(observation, request);
  const attempts = attemptsOf(request);
  return parts.map((part) => {
    const attempt = attempts[part.attempt - 1];
    const call = calls.findLast((one) => attempt !== undefined && isCallOf(one, attempt));
    return { ...part, isUncertain: 'uncertain' in part && part.uncertain === true, call };
  });
}

/** An answer with nothing in it is asked for once more: the attempt is older than its last call. */
function isCallOf({ provider, model, at }: CallSeen, attempt: AttemptSeen): boolean {
  if (`${provider}/${model}` !== attempt.target) return false;
  if (isSame(at.atMs, attempt.startedMs)) return true;
  return at.atMs > attempt.startedMs && at.atMs < attempt.endedMs - toleranceMs;
}

/** One id, one finish and one end, none of them where the stream has failed; no tool call twice. */
export function keepsOneAnswer(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const { batches, trace, failure, answered } = request;
    if (answered?.kind !== 'stream') return [];
    const ids = new Set(batches.flatMap((batch) => batch.ids));
    const types = batches.flatMap((batch) => batch.types);
    const count = (wanted: string): number => types.filter((type) => type === wanted).length;
    const most = failure === null ? 1 : 0;
    const least = trace?.outcome === 'served' ? 1 : 0;
    const faults = ['finish', 'end']
      .filter((type) => count(type) > most || count(type) < least)
      .map((type) => `${count(type)} times ${type} in a stream that ${trace?.outcome}`);
    if (ids.size > 1) faults.push(`ids ${[...ids].join(', ')}`);
    if (count('tool_call_start') > 1) faults.push('a tool call twice');
    return faults.map((fault) => named(request, fault));
  });
}

/** The row's recovery is what befell the stream, and each joint was told, by name, where it came. */
export function tellsItsRecovery(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const { trace, batches, failure, answered } = request;
    if (trace === null) return [];
    const { recovery, seams, outcome } = trace;
    const isBroken = answered?.kind === 'stream' && failure !== null;
    const told = batches.flatMap(({ joint }) =>
      joint === null ? [] : [`${joint.from} ${joint.to}`],
    );
    const joints = seams.slice(1).map(({ target }, at) => `${seams[at]?.target} ${target}`);
    const due = outcome === 'client_gone' ? joints.slice(0, told.length) : joints;
    const isRight =
      isBroken === (recovery === 'failed_forward') &&
      seams.length > 0 === (recovery === 'continued' || (isBroken && seams.length > 1));
    const faults = [
      isRight ? null : `recovery ${recovery} of ${seams.length} parts, ${outcome}`,
      told.join() === due.join() ? null : `joints ${told.join()}, not ${due.join()}`,
      ...partFaults(request, trace),
    ];
    return faults.flatMap((fault) => (fault === null ? [] : [named(request, fault)]));
  });
}

/** The parts lie side by side, from the beginning of the text to its end. */
function partFaults({ text }: RequestSeen, { seams }: RequestTrace): readonly string[] {
  if (seams.length === 0) return [];
  const ends = [0, ...seams.map(({ end }) => end)];
  const isWhole = seams.every(({ start, end }, at) => start === ends[at] && end >= start);
  const isTold = isWhole && ends.at(-1) === text.length && seams.length > 1;
  return isTold ? [] : [`${JSON.stringify(seams)} of ${text.length} units`];
}

/** A joint that nothing proves is marked; one that was made as it was asked for is not. */
export function marksDoubtfulJoints(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) =>
    writersOf(observation, request).flatMap(({ target, start, end, isUncertain, call }) => {
      const manner = call?.manner;
      if (manner === undefined || end === start) return [];
      const isDoubtful = manner === 'bare' ? true : manner === 'faithful' ? false : null;
      if (isDoubtful === null || isDoubtful === isUncertain) return [];
      return [named(request, `${target} went on ${manner}: uncertain ${isUncertain}`)];
    }),
  );
}

/** The usage of all that the client was shown, to the client and in the row. */
export function addsUpItsUsage(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const { trace, batches } = request;
    if (trace === null || request.answered?.kind !== 'stream') return [];
    const attempts = trace.seams.map(({ attempt }) => trace.attempts[attempt - 1]?.usage);
    if (attempts.length === 0) return [];
    const sums = (['inputTokens', 'outputTokens'] as const).map((name) => {
      const known = attempts.flatMap((usage) => usage?.[name] ?? []);
      return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0);
    });
    const row = [trace.usage.inputTokens, trace.usage.outputTokens];
    const told = batches.findLast(({ usage }) => usage !== null)?.usage ?? null;
    const isLastTold = attempts.at(-1)?.outputTokens != null && trace.outcome === 'served';
    const isToldRight = !isLastTold || JSON.stringify(told) === JSON.stringify(row);
    return [
      ...(JSON.stringify(row) === JSON.stringify(sums) ? [] : [`usage ${row}, not ${sums}`]),
      ...(isToldRight ? [] : [`told of usage ${told}, not ${row}`]),
    ].map((fault) => named(request, fault));
  });
}
