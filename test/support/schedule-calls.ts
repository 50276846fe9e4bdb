/** What a schedule makes of one call: how it is answered, when, and the text that its answer would hold. */
import { type Random, seededRandom, uniform } from '../../src/base/random.ts';
import type { PartialAnswer } from '../../src/simulator/prompt.ts';
import { isChosen, pick } from './schedule-draws.ts';
import type { Fault, ProviderPlan, Schedule } from './schedule-model.ts';
import { type RestManner, restManners, restOpening } from './schedule-rest.ts';

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
  /** The fault it meets; null = none, its answer is whole and in time. `prefill`: none is taken. */
  readonly fault: Fault['kind'] | 'prefill' | null;
  readonly head: CallHead;
  readonly body: readonly BodyStep[];
  /**
   * The pieces of the answer's text, also where a fault cuts it. Of one that goes on with another, what
   * follows that other's text; empty where it leads elsewhere.
   */
  readonly tokens: readonly string[];
  /** How it goes on; absent where it begins. */
  readonly manner?: RestManner;
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
  /** What it is asked to go on with; absent = nothing. */
  readonly partial?: PartialAnswer;
};

/** The same call of the same schedule is scripted the same, whatever else the schedule holds. */
export function scriptCall(schedule: Schedule, call: CallFacts): CallScript {
  const { provider, model, requestId, nth } = call;
  const name = `${provider}/${model}#${requestId}.${nth}`;
  const random = seededRandom(hashOf(`${schedule.seed}|${name}`));
  const plan = schedule.providers.find((candidate) => candidate.name === provider);
  if (plan === undefined) throw new Error(`no provider ${provider}`);
  const isPrefill = call.partial?.isPrefill === true;
  if (isPrefill && !plan.takesPrefill) return prefillRefusal(plan, random);
  const fault = poisonOf(schedule, call) ?? faultOf(schedule, call, random);
  return scriptOf({ plan, call, name, fault, random });
}

function prefillRefusal({ latencyMs }: ProviderPlan, random: Random): CallScript {
  const afterMs = uniform(random, ...latencyMs);
  const document = JSON.stringify({ error: { message: 'assistant prefill is not supported' } });
  return {
    fault: 'prefill',
    head: { kind: 'answer', afterMs, status: 400, headers: {} },
    body: [document, { end: 'clean' }],
    tokens: [],
  };
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
export const lateEndMs = 300;

/** The longest that an untroubled call of the provider takes, ms. */
export function longestHealthyMs(plan: ProviderPlan): number {
  return 2 * plan.latencyMs[1] + piecesMax * plan.gapMs + lateEndMs;
}

function scriptOf(scripting: Scripting): CallScript {
  const { fault } = scripting;
  const head = headOf(scripting);
  if (head.kind !== 'answer') return { fault: fault?.kind ?? null, head, body: [], tokens: [] };
  if (fault?.kind === 'status') {
    return { fault: 'status', head, body: errorBody(fault), tokens: [] };
  }
  const { lines, ...said } = answerOf(scripting);
  return { fault: fault?.kind ?? null, head, body: bodyOf(scripting, lines), ...said };
}

type SaidAnswer = Pick<CallScript, 'tokens' | 'manner'> & {
  /** Of its wire, from the first content on. */
  readonly lines: readonly string[];
};

function answerOf({ plan, call, name, random }: Scripting): SaidAnswer {
  const { partial } = call;
  const tokens = tokensOf({ plan, name, isRest: partial !== undefined, random });
  const calls = isChosen(random, plan.toolShare) ? ['CALL\n'] : [];
  const thoughts = isChosen(random, plan.thinkShare)
    ? Array.from({ length: pick(random, [1, 3, 8]) }, (_, at) => `THINK:what of ${at}\n`)
    : [];
  const texts = (said: readonly string[]): string[] =>
    said.map((text) => `T:${text.replaceAll('\n', '\\n')}\n`);
  if (partial === undefined) return { lines: [...thoughts, ...texts(tokens), ...calls], tokens };
  const manner = plan.manner ?? pick(random, restManners);
  const opening = restOpening(partial, tokens.join(''), manner);
  const opened = opening.text.match(/[\s\S]{1,20}/g) ?? [];
  const { manner: shown } = opening;
  if (shown === 'anew')
    return { lines: [...thoughts, ...texts(opened)], tokens: [], manner: shown };
  const lines = [...thoughts, ...texts([...opened, ...tokens]), ...calls];
  return { lines, tokens, manner: shown };
}

/** Sentences of words that nobody else says, with the blanks before them or behind. */
function tokensOf(input: {
  readonly plan: ProviderPlan;
  readonly name: string;
  readonly isRest: boolean;
  readonly random: Random;
}): readonly string[] {
  const { plan, name, isRest, random } = input;
  const [fewest, most] = plan.tokens;
  const count = Math.floor(uniform(random, fewest, most + 1));
  const isBlankFirst = isChosen(random, 0.5);
  const author = `${plan.name}-${hashOf(name).toString(36)}`;
  return Array.from({ length: count }, (_, at) => {
    const word = `${author}:${at}${at % 5 === 4 ? '.' : ''}`;
    if (!isBlankFirst) return at === 0 && isRest ? ` ${word} ` : `${word} `;
    return at === 0 && !isRest ? word : ` ${word}`;
  });
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

function bodyOf(scripting: Scripting, said: readonly string[]): readonly BodyStep[] {
  const { plan, fault, random } = scripting;
  const start = [
    `BEGIN:${hashOf(scripting.name)}\n${isChosen(random, 0.3) ? 'USE:7:1\n' : ''}`,
    uniform(random, plan.latencyMs[0], plan.latencyMs[1]),
  ];
  switch (fault?.kind) {
    case 'no_reply':
      return ['what is this\n', { end: 'clean' }];
    case 'empty':
      return ['START\nFIN:stop\nEND\n', { end: 'clean' }];
    case 'pings':
      return ['START\n', ...Array.from({ length: 400 }, () => [fault.everyMs, 'PING\n']).flat()];
    case 'stall':
      return [...start, ...pieces(scripting, said.slice(0, fault.afterTokens))];
    case 'cut':
      return [...start, ...pieces(scripting, said.slice(0, fault.afterTokens)), { end: 'cut' }];
    case 'end_early':
      return [...start, ...pieces(scripting, said.slice(0, fault.afterTokens)), { end: 'clean' }];
    case 'error_event': {
      const told = pieces(scripting, said.slice(0, fault.afterTokens));
      const line = `ERR:${fault.status}:${fault.word}\n`;
      return [...start, ...told, line, { end: 'clean' }];
    }
    case 'bad_events': {
      const told = pieces(scripting, said.slice(0, fault.afterTokens));
      const rest = pieces(scripting, said.slice(fault.afterTokens));
      return [...start, ...told, 'BAD\n'.repeat(fault.count), ...rest, ...ending(random)];
    }
    default:
      return [...start, ...pieces(scripting, said), ...ending(random)];
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

function pieces(scripting: Scripting, lines: readonly string[]): readonly BodyStep[] {
  const { plan, fault } = scripting;
  const gapMs = fault?.kind === 'trickle' ? fault.gapMs : plan.gapMs;
  const size = Math.max(1, Math.ceil(lines.length / piecesMax));
  const steps: BodyStep[] = [];
  for (let index = 0; index < lines.length; index += size) {
    if (index > 0) steps.push(gapMs);
    steps.push(lines.slice(index, index + size).join(''));
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
