/** The plans of requests that no script answers: the model's own answer, the lists, and refusals. */
import type { JsonObject } from '../base/json.ts';
import { composeAnswer } from './compose-answer.ts';
import type { Fault } from './faults/fault.ts';
import {
  badGatewayPlan,
  brokenStream,
  brokenWhole,
  faultEffect,
  garbledText,
} from './faults/fault-plan.ts';
import type { Manner } from './go-on.ts';
import type { Prompt } from './prompt.ts';
import { type Beat, bytesBeat, type Headers, type ReplyPlan } from './reply-plan.ts';
import type { Pace } from './settings.ts';
import { streamBeats, streamHeaders } from './stream-form.ts';
import type { Frame, ReplyIdentity, Route, Vendor, VendorFault } from './vendors/vendor.ts';

export type AnswerScene = {
  readonly vendor: Vendor;
  readonly route: Route;
  readonly body: JsonObject;
  readonly identity: ReplyIdentity;
  readonly pace: Pace;
  readonly nextCallId: () => string;
  readonly manner?: Manner;
};

const json = 'application/json';

export function refusalPlan(
  vendor: Vendor,
  fault: VendorFault,
  identity: ReplyIdentity,
): Extract<ReplyPlan, { kind: 'whole' }> {
  return {
    kind: 'whole',
    delayMs: 0,
    status: fault.status,
    headers: { 'content-type': json, ...vendor.replyHeaders(identity), ...fault.headers },
    body: vendor.errorBody(fault, identity.requestId),
  };
}

/** The plan of a struck request. */
export function struckPlan(fault: Fault, scene: AnswerScene): ReplyPlan {
  const { vendor, identity, pace } = scene;
  const effect = faultEffect(fault);
  switch (effect.kind) {
    case 'plan':
      return effect.plan;
    case 'page':
      return badGatewayPlan;
    case 'error': {
      const detail = { model: identity.model, retryAfterMs: fault.retryAfterMs };
      return refusalPlan(vendor, vendor.fault(effect.reply, detail), identity);
    }
    case 'slow':
      return answerPlan({ ...scene, pace: { ...pace, firstTokenMs: effect.delayMs } });
    case 'no_prefill':
      return prefillRefusal(promptOf(scene), scene) ?? answerPlan(scene);
    case 'rude':
      return answerPlan({ ...scene, manner: effect.manner });
    case 'broken':
      return brokenPlan(fault, effect.how, scene);
  }
}

/** Null: nothing of the kind is asked for. */
export function prefillRefusal(
  prompt: Prompt | null,
  { vendor, identity }: Pick<AnswerScene, 'vendor' | 'identity'>,
): Extract<ReplyPlan, { kind: 'whole' }> | null {
  if (prompt?.partial?.isPrefill !== true) return null;
  const detail = { model: identity.model, retryAfterMs: 0 };
  return refusalPlan(vendor, vendor.fault('prefill', detail), identity);
}

function brokenPlan(
  fault: Fault,
  how: Parameters<typeof brokenWhole>[1] | 'stream_error',
  scene: AnswerScene,
): ReplyPlan {
  const { vendor, identity, pace } = scene;
  const serverError = vendor.fault('server_error', { model: identity.model, retryAfterMs: 0 });
  const prompt = promptOf(scene);
  if (prompt === null || !prompt.isStream) {
    const plan = answerPlan(scene);
    if (how === 'stream_error' || plan.kind !== 'whole')
      return refusalPlan(vendor, serverError, identity);
    return brokenWhole(plan, how);
  }
  const beats = brokenStream({
    frames: framesOf(prompt, scene),
    how,
    afterTokens: fault.afterTokens,
    pace: (frame, isFirst) => paceBeats(frame, isFirst, pace),
    errorEvent: (sent) => vendor.errorEvent(serverError, identity, sent),
    garbled: vendor.binaryStreams?.garbled ?? garbledText,
  });
  return streamPlan(scene, beats);
}

/** What the provider answers by itself to a request that passed its rules. */
export function answerPlan(scene: AnswerScene, extra: Headers = {}): ReplyPlan {
  const { vendor, route, identity, pace } = scene;
  const headers = { 'content-type': json, ...vendor.replyHeaders(identity), ...extra };
  const whole = { kind: 'whole', delayMs: 0, status: 200, headers } as const;
  const prompt = promptOf(scene);
  if (prompt === null) return { ...whole, body: '{}' };
  if (route.operation === 'embed') {
    return { ...whole, body: vendor.embedBody?.(scene.body, identity) ?? '{}' };
  }
  if (route.operation === 'count') return { ...whole, body: vendor.countBody(prompt.inputTokens) };
  if (prompt.isStream) return streamPlan(scene, pacedBeats(framesOf(prompt, scene), pace), extra);
  const answer = composeAnswer(prompt, speakerOf(scene));
  const delayMs = pace.firstTokenMs + Math.min(1_500, pace.gapMs * answer.usage.output);
  return { ...whole, delayMs, body: vendor.wholeBody(answer, prompt, identity) };
}

function promptOf({ vendor, route, body }: AnswerScene): Prompt | null {
  return route.operation === 'models' ? null : vendor.read(body, route);
}

function speakerOf({ vendor, nextCallId, manner = 'faithful' }: AnswerScene) {
  return { vendorLabel: vendor.label, nextCallId, manner };
}

function isArrayOf(route: Route): boolean {
  return route.operation === 'generate' && route.isArray;
}

function framesOf(prompt: Prompt, scene: AnswerScene): readonly Frame[] {
  const { vendor, identity, route } = scene;
  const answer = composeAnswer(prompt, speakerOf(scene));
  return vendor.frames(answer, prompt, { identity, isArray: isArrayOf(route) });
}

function streamPlan(
  { vendor, identity, route }: AnswerScene,
  beats: Iterable<Beat>,
  extra: Headers = {},
): ReplyPlan {
  const headers = {
    ...streamHeaders(vendor, isArrayOf(route)),
    ...vendor.replyHeaders(identity),
    ...extra,
  };
  const head = { status: 200, headers };
  const framed = streamBeats(vendor, beats);
  return { kind: 'beats', delayMs: 0, head, beats: framed, splitBytes: 0, encoding: null };
}

function* pacedBeats(frames: readonly Frame[], pace: Pace): Iterable<Beat> {
  let isFirst = true;
  for (const frame of frames) {
    yield* paceBeats(frame, isFirst && frame.content !== '', pace);
    if (frame.content !== '') isFirst = false;
    yield bytesBeat(frame.frame);
  }
}

function paceBeats(frame: Frame, isFirstContent: boolean, pace: Pace): readonly Beat[] {
  if (frame.content === '') return [];
  const ms = isFirstContent ? pace.firstTokenMs : pace.gapMs;
  return ms > 0 ? [{ kind: 'wait', ms }] : [];
}
