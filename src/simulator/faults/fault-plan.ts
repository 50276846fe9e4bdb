/** What a struck request gets instead of its answer, or what becomes of its answer. */
import { unreachable } from '../../base/unreachable.ts';
import type { Manner } from '../go-on.ts';
import { type Beat, bytesBeat, type ReplyPlan, silentPlan } from '../reply-plan.ts';
import { estimateTokens } from '../token-estimate.ts';
import type { FaultReplyKind, Frame } from '../vendors/vendor.ts';
import type { Fault, FaultKind } from './fault.ts';

/** How a fault shows: an error reply, nothing at all, or a broken answer. */
export type FaultEffect =
  | { readonly kind: 'error'; readonly reply: FaultReplyKind }
  | { readonly kind: 'page' }
  | { readonly kind: 'plan'; readonly plan: ReplyPlan }
  | { readonly kind: 'slow'; readonly delayMs: number }
  | { readonly kind: 'no_prefill' }
  | { readonly kind: 'rude'; readonly manner: Manner }
  | { readonly kind: 'broken'; readonly how: Breakage };

export type Breakage = Extract<
  FaultKind,
  'cut' | 'stall' | 'truncate' | 'malformed' | 'stream_error'
>;

export function faultEffect(fault: Fault): FaultEffect {
  switch (fault.kind) {
    case 'overload':
    case 'rate_limit':
    case 'quota':
    case 'auth':
    case 'permission':
    case 'not_found':
    case 'context_length':
    case 'content_policy':
    case 'server_error':
      return { kind: 'error', reply: fault.kind };
    case 'refuse_prefill':
      return { kind: 'no_prefill' };
    case 'repeat_sentence':
    case 'announce':
    case 'new_paragraph':
    case 'start_over':
      return { kind: 'rude', manner: fault.kind };
    case 'flap':
      return { kind: 'error', reply: 'overload' };
    case 'bad_gateway':
      return { kind: 'page' };
    case 'refuse':
    case 'down':
      return { kind: 'plan', plan: silentPlan({ kind: 'cut' }) };
    case 'reset':
      return { kind: 'plan', plan: silentPlan({ kind: 'reset' }) };
    case 'silent':
      return { kind: 'plan', plan: silentPlan({ kind: 'hang' }) };
    case 'slow':
      return { kind: 'slow', delayMs: fault.delayMs };
    case 'cut':
    case 'stall':
    case 'truncate':
    case 'malformed':
    case 'stream_error':
      return { kind: 'broken', how: fault.kind };
    default:
      return unreachable(fault.kind);
  }
}

/** What a proxy in front of a dead service says. */
export const badGatewayPlan: ReplyPlan = {
  kind: 'whole',
  delayMs: 0,
  status: 502,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n',
};

export type BrokenStream = {
  readonly frames: readonly Frame[];
  readonly how: Breakage;
  readonly afterTokens: number;
  /** Beats before a frame: the pace. */
  readonly pace: (frame: Frame, isFirstContent: boolean) => readonly Beat[];
  /** `sent`: the frames before it. */
  readonly errorEvent: (sent: readonly Frame[]) => string;
  /** How a frame becomes one that cannot be read. */
  readonly garbled: (frame: string) => string;
};

/** A stream that goes well for `afterTokens` (never to its finish) and then breaks. */
export function* brokenStream({
  frames,
  how,
  afterTokens,
  pace,
  errorEvent,
  garbled,
}: BrokenStream): Iterable<Beat> {
  const lastContent = frames.findLastIndex(({ content }) => content !== '');
  let tokens = 0;
  let sent = 0;
  for (const [index, frame] of frames.entries()) {
    const isOver = (frame.content !== '' && tokens >= afterTokens) || index > lastContent;
    if (isOver && how === 'malformed') {
      for (const rest of frames.slice(index)) yield bytesBeat(garbled(rest.frame));
      return;
    }
    if (isOver) break;
    yield* pace(frame, tokens === 0 && frame.content !== '');
    yield bytesBeat(frame.frame);
    sent += 1;
    tokens += estimateTokens(frame.content);
  }
  yield* breakage(how, () => errorEvent(frames.slice(0, sent)));
}

function* breakage(how: Breakage, errorEvent: () => string): Iterable<Beat> {
  if (how === 'stream_error') yield bytesBeat(errorEvent());
  if (how === 'cut') yield { kind: 'cut' };
  if (how === 'stall') yield { kind: 'hang' };
}

/** The same events with their JSON broken off in the middle. */
export function garbledText(frame: string): string {
  return frame.replace(/^(data: \{.*).{8}$/gm, '$1').replace(/^\{.*/gm, '{"broken":');
}

/** A whole reply that breaks halfway. `truncate` and `malformed` end as if complete. */
export function brokenWhole(
  plan: Extract<ReplyPlan, { kind: 'whole' }>,
  how: Exclude<Breakage, 'stream_error'>,
): ReplyPlan {
  const body = Buffer.from(plan.body);
  const half = body.subarray(0, Math.floor(body.length / 2));
  if (how === 'malformed' || how === 'truncate') return { ...plan, body: half };
  const headers = { ...plan.headers, 'content-length': String(body.length) };
  const end: Beat = how === 'cut' ? { kind: 'cut' } : { kind: 'hang' };
  return {
    kind: 'beats',
    delayMs: plan.delayMs,
    head: { status: plan.status, headers },
    beats: [bytesBeat(half), end],
    splitBytes: 0,
    encoding: null,
  };
}
