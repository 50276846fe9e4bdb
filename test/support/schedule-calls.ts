/** What a schedule makes of one call: how it is answered, when, and the text that its answer would hold. */
import { type Random, seededRandom, uniform } from '../../src/base/random.ts';
import type { Fault, ProviderPlan, Schedule } from './schedule-model.ts';

/** A pause in ms, bytes, or how the body ends. Without an ending it stays open and silent. */
export type BodyStep = number | string | { readonly end: 'clean' | 'cut' };

export type CallHead =
  | { readonly kind: 'refused' | 'reset' | 'stale'; readonly afterMs: number }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'silent' }
  | {
      readonly kind: 'answer';
      readonly afterMs: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
    };

export type CallScript = {
  /** The fault it meets; null = none, its answer is whole and in time. */
  readonly fault: Fault['kind'] | null;
  readonly head: CallHead;
  readonly body: readonly BodyStep[];
  /** The pieces of the answer's text, also where a fault cuts it. */
  readonly tokens: readonly string[];
};

export type CallFacts = {
  readonly provider: string;
  readonly model: string;
  /** Alias; null = none was sent. */
  readonly key: string | null;
  readonly requestId: string;
  /** Counts the calls of this request to this target from 0. */
  readonly nth: number;
  readonly isStream: boolean;
  readonly atMs: number;
};

/** The same call of the same schedule is scripted the same, whatever else the schedule holds. */
export function scriptCall(schedule: Schedule, call: CallFacts): CallScript {
  const { provider, model, requestId, nth } = call;
  const name = `${provider}/${model}#${requestId}.${nth}`;
  const random = seededRandom(hashOf(`${schedule.seed}|${name}`));
  const plan = schedule.providers.find((candidate) => candidate.name === provider);
  if (plan === undefined) throw new Error(`no provider ${provider}`);
  const fault = poisonOf(schedule, call) ?? faultOf(schedule, call, random);
  return scriptOf({ plan, call, name, fault, random });
}

function poisonOf({ poisons, requests }: Schedule, call: CallFacts): Fault | null {
  const body = requests.find(({ id }) => id === call.requestId)?.body;
  const poison = poisons.find(
    (one) => one.body === body && (one.provider === null || one.provider === call.provider),
  );
  if (poison === undefined) return null;
  const { status } = poison;
  return { kind: 'status', status, word: null, afterMs: 5, headers: {}, hangs: false };
}

function faultOf(schedule: Schedule, call: CallFacts, random: Random): Fault | null {
  for (const phase of schedule.phases) {
    if (phase.provider !== call.provider) continue;
    if (call.atMs < phase.fromMs || call.atMs >= phase.toMs) continue;
    if (phase.key !== null && phase.key !== call.key) continue;
    if (random.next() < phase.share) return phase.fault;
  }
  return null;
}

type Scripting = {
  readonly plan: ProviderPlan;
  readonly call: CallFacts;
  readonly name: string;
  readonly fault: Fault | null;
  readonly random: Random;
};

const piecesMax = 5;

/** Some bodies end a while after their terminal marker. */
const lateEndMs = 300;

/** The longest that an untroubled call of the provider takes, ms. */
export function longestHealthyMs(plan: ProviderPlan): number {
  return 2 * plan.latencyMs[1] + piecesMax * plan.gapMs + lateEndMs;
}

function scriptOf(scripting: Scripting): CallScript {
  const { plan, fault, random, name } = scripting;
  const [fewest, most] = plan.tokens;
  const count = Math.floor(uniform(random, fewest, most + 1));
  const tokens = Array.from({ length: count }, (_, index) => `${name}:${index} `);
  const head = headOf(scripting);
  if (head.kind !== 'answer') return { fault: fault?.kind ?? null, head, body: [], tokens: [] };
  if (fault?.kind === 'status') {
    return { fault: 'status', head, body: errorBody(fault), tokens: [] };
  }
  return { fault: fault?.kind ?? null, head, body: bodyOf(scripting, tokens), tokens };
}

function headOf({ plan, call, fault, random }: Scripting): CallHead {
  const latencyMs = uniform(random, plan.latencyMs[0], plan.latencyMs[1]);
  // Some services answer a streamed call with one JSON document.
  const isJson = !call.isStream || random.next() < 0.03;
  const headers = { 'content-type': isJson ? 'application/json' : 'text/event-stream' };
  const healthy = { kind: 'answer', afterMs: latencyMs, status: 200, headers } as const;
  switch (fault?.kind) {
    case 'refuse':
      return { kind: 'refused', afterMs: fault.afterMs };
    case 'reset':
    case 'stale':
      return { kind: fault.kind, afterMs: fault.afterMs };
    case 'unreachable':
      return { kind: 'unreachable' };
    case 'silence':
      return { kind: 'silent' };
    case 'slow':
      return { ...healthy, afterMs: latencyMs + fault.addMs };
    case 'status': {
      const { status, afterMs, headers: own } = fault;
      return { kind: 'answer', status, afterMs, headers: { ...own } };
    }
    default:
      return healthy;
  }
}

function errorBody(fault: Extract<Fault, { kind: 'status' }>): readonly BodyStep[] {
  const { word } = fault;
  const error = word === null ? { message: 'x' } : { code: word, message: 'x' };
  const document = JSON.stringify({ error });
  return fault.hangs ? [document] : [document, { end: 'clean' }];
}

function bodyOf(scripting: Scripting, tokens: readonly string[]): readonly BodyStep[] {
  const { plan, fault, random } = scripting;
  const start = ['START\n', uniform(random, plan.latencyMs[0], plan.latencyMs[1])];
  switch (fault?.kind) {
    case 'no_reply':
      return ['what is this\n', { end: 'clean' }];
    case 'empty':
      return ['START\nFIN:stop\nEND\n', { end: 'clean' }];
    case 'pings':
      return ['START\n', ...Array.from({ length: 400 }, () => [fault.everyMs, 'PING\n']).flat()];
    case 'stall':
      return [...start, ...pieces(scripting, tokens.slice(0, fault.afterTokens))];
    case 'cut':
      return [...start, ...pieces(scripting, tokens.slice(0, fault.afterTokens)), { end: 'cut' }];
    case 'end_early':
      return [...start, ...pieces(scripting, tokens.slice(0, fault.afterTokens)), { end: 'clean' }];
    case 'error_event': {
      const told = pieces(scripting, tokens.slice(0, fault.afterTokens));
      const line = `ERR:${fault.status}:${fault.word}\n`;
      return [...start, ...told, line, { end: 'clean' }];
    }
    case 'bad_events': {
      const told = pieces(scripting, tokens.slice(0, fault.afterTokens));
      const rest = pieces(scripting, tokens.slice(fault.afterTokens));
      return [...start, ...told, 'BAD\n'.repeat(fault.count), ...rest, ...ending(random)];
    }
    default:
      return [...start, ...pieces(scripting, tokens), ...ending(random)];
  }
}

/** All ways in which a complete answer may end. */
function ending(random: Random): readonly BodyStep[] {
  const draw = random.next();
  if (draw < 0.7) return ['FIN:stop\nUSE:3:2\nEND\n', { end: 'clean' }];
  if (draw < 0.8) return ['FIN:stop\n', 'USE:3:2\n', 'END\n', lateEndMs, { end: 'clean' }];
  if (draw < 0.9) return ['FIN:stop\n', { end: 'clean' }];
  return ['FIN:stop\nEND\n', { end: 'clean' }];
}

function pieces(scripting: Scripting, tokens: readonly string[]): readonly BodyStep[] {
  const { plan, fault } = scripting;
  const gapMs = fault?.kind === 'trickle' ? fault.gapMs : plan.gapMs;
  const size = Math.max(1, Math.ceil(tokens.length / piecesMax));
  const steps: BodyStep[] = [];
  for (let index = 0; index < tokens.length; index += size) {
    if (index > 0) steps.push(gapMs);
    const lines = tokens.slice(index, index + size).map((token) => `T:${token}\n`);
    steps.push(lines.join(''));
  }
  return steps;
}

/** FNV-1a, 32 bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
}
