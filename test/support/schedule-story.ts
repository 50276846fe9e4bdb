/** A run told to people: what a failing seed prints. */
import type { Violation } from './invariants.ts';
import { attemptsOf } from './invariants-reading.ts';
import type { Schedule } from './schedule-model.ts';
import type { CallSeen, Observation, RequestSeen } from './simulated-observation.ts';

/** The schedule as JSON that can be pasted into a test, one line a phase and request. */
export function scheduleText(schedule: Schedule): string {
  const lines = Object.entries(schedule).map(([name, value]) => {
    if (!Array.isArray(value)) return `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    const items = value.map((item) => `\n    ${JSON.stringify(item)}`);
    return `  ${JSON.stringify(name)}: [${items.join(',')}]`;
  });
  return `{\n${lines.join(',\n')}\n}`;
}

export function storyOf(observation: Observation): string {
  const requests = [
    ...observation.requests,
    ...observation.recoveries.map(({ request }) => request),
  ].map(requestStory);
  const changes = observation.changes.map(
    ({ target, at, breaker, obstacle }) =>
      `  ${seconds(at.atMs)} ${target}: breaker ${breaker}, ${obstacle ?? 'askable'}`,
  );
  const calls = observation.calls.map(callStory);
  return ['requests', ...requests, 'calls', ...calls, 'health', ...changes].join('\n');
}

function requestStory(request: RequestSeen): string {
  const { plan, arrived, deadlineAtMs, left, answered, ended, trace } = request;
  const head = [
    `  ${seconds(arrived.atMs)} ${plan.id} ${plan.isStream ? 'stream' : 'whole'} to ${plan.tier}`,
    `due ${seconds(deadlineAtMs)}`,
    plan.pin === null ? '' : `pin ${plan.pin}`,
    plan.isFailoverOff ? 'failover off' : '',
    left === null ? '' : `left ${seconds(left.atMs)}`,
    answered === null ? '' : `${answered.kind} ${seconds(answered.atMs)}`,
    ended === null ? 'no end' : `ended ${seconds(ended.atMs)}`,
    `${trace?.outcome} ${trace?.status} ${trace?.failure?.failureClass ?? ''}`,
    `skips ${JSON.stringify(trace?.skipped.map(({ target, reason }) => `${target} ${reason}`))}`,
    `failovers ${trace?.failoverCount}`,
  ].filter((part) => part !== '');
  const attempts = attemptsOf(request).map((one) => {
    const { failure } = one;
    const why =
      failure === null
        ? ''
        : `${failure.errorClass} ${failure.rule} ${failure.status ?? ''} hint ${failure.hint?.waitMs ?? '-'}`;
    const waited =
      one.delayReason === null ? '' : `after ${one.delayReason} ${one.delayBeforeMs.toFixed(1)}`;
    return `      ${one.n} ${one.kind} ${one.target} ${one.keyAlias ?? ''} ${seconds(one.startedMs)}-${seconds(one.endedMs)} ${one.outcome} ${why} ${waited} [${one.breakerBefore} -> ${one.breakerAfter}]`;
  });
  return [head.join(', '), ...attempts].join('\n');
}

function callStory(call: CallSeen): string {
  const head = call.head.kind === 'answer' ? String(call.head.status) : call.head.kind;
  const end = call.ended === null ? 'open' : `${call.ended.how} ${seconds(call.ended.atMs)}`;
  return `  ${seconds(call.at.atMs)} ${call.requestId} to ${call.provider}/${call.model} ${call.key ?? ''}: ${call.fault ?? 'well'}, ${head}, ${end}`;
}

function seconds(atMs: number): string {
  return `${(atMs / 1000).toFixed(4)}s`;
}

export function violationText(violations: readonly Violation[]): string {
  return violations.map(({ invariant, what }) => `${invariant}: ${what}`).join('\n');
}
