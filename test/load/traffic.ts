/** Clients that ask at a steady rate whatever the gateway does, and how each of them fared. */
import type { JsonObject } from '../../src/base/json.ts';
import type { CaseGateway } from '../support/case-gateway.ts';
import { effort } from '../support/effort.ts';
import { readChatStream } from '../support/running-gateway.ts';

export type Answer = {
  /** Counts the requests of its traffic from 1; stands in the question. */
  readonly nth: number;
  readonly id: string;
  readonly status: number;
  readonly isStream: boolean;
  /** 200 and read to its end: the terminator of a stream, the text of a whole reply. */
  readonly isComplete: boolean;
  /** The class of the error that the client was told of, in the stream or as the answer. */
  readonly error: string | null;
  /** The target that served; null when none did. */
  readonly servedBy: string | null;
  /** Monotonic ms. */
  readonly beganMs: number;
  readonly tookMs: number;
  /** Why it is not complete. */
  readonly complaint: string | null;
};

export type TrafficPlan = {
  readonly tier: string;
  readonly perSecond: number;
  /** Words of each answer. */
  readonly words: number;
  /** Whether every second request is a stream; else all are whole. */
  readonly isMixed: boolean;
};

const waitMsMax = effort(60_000, 300_000);
const tickMs = 5;

/** An open loop: a request is due every 1/rate seconds, also while earlier ones still wait. */
export class Traffic {
  readonly #cases: CaseGateway;
  readonly #plan: TrafficPlan;
  readonly #answers: Answer[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #startedMs = performance.now();
  readonly #timer: ReturnType<typeof setInterval>;
  #sent = 0;

  private constructor(cases: CaseGateway, plan: TrafficPlan) {
    this.#cases = cases;
    this.#plan = plan;
    this.#timer = setInterval(() => this.#sendDue(), tickMs);
  }

  static start(cases: CaseGateway, plan: TrafficPlan): Traffic {
    return new Traffic(cases, plan);
  }

  get sent(): number {
    return this.#sent;
  }

  /** In the order in which they ended. */
  get answers(): readonly Answer[] {
    return this.#answers;
  }

  /** Answers that `isWanted`, from those on that ended after `since` others. */
  count(isWanted: (answer: Answer) => boolean, since = 0): number {
    return this.#answers.slice(since).filter(isWanted).length;
  }

  /** Sends no more, and waits for what is under way. */
  async stop(): Promise<readonly Answer[]> {
    clearInterval(this.#timer);
    await Promise.all(this.#running);
    return this.#answers;
  }

  #sendDue(): void {
    const due = Math.floor(((performance.now() - this.#startedMs) / 1000) * this.#plan.perSecond);
    while (this.#sent < due) {
      this.#sent += 1;
      const asked = this.#ask(this.#sent).finally(() => this.#running.delete(asked));
      this.#running.add(asked);
    }
  }

  async #ask(nth: number): Promise<void> {
    const { tier, words, isMixed } = this.#plan;
    const isStream = isMixed && nth % 2 === 0;
    this.#answers.push(await askOnce(this.#cases, tier, { nth, words, isStream }));
  }
}

/** Which request it is that a provider received; 0 = none of a traffic. */
export function nthOf(body: Buffer): number {
  return Number(/Question (\d+):/.exec(body.toString('utf8'))?.[1] ?? 0);
}

/** What a client found when it had read the answer to its end. */
type Verdict = Pick<Answer, 'isComplete' | 'error' | 'complaint'>;

/** One request, read to its end. A broken connection is an answer too, with status 0. */
export async function askOnce(
  cases: CaseGateway,
  tier: string,
  {
    nth,
    words,
    isStream,
  }: { readonly nth: number; readonly words: number; readonly isStream: boolean },
): Promise<Answer> {
  const beganMs = performance.now();
  const common = { nth, isStream, beganMs };
  // No two alike: equal bytes after a failure would be a client's repeat.
  const content = `Question ${nth}: say it in ${words} words.`;
  const body = { stream: isStream, messages: [{ role: 'user', content }] };
  try {
    const response = await cases.post(tier, body);
    const verdict = isStream ? await judgeStream(response) : await judgeWhole(response);
    return {
      ...common,
      ...verdict,
      id: response.headers.get('x-tiergate-request-id') ?? '',
      status: response.status,
      servedBy: response.headers.get('x-tiergate-served-by'),
      tookMs: performance.now() - beganMs,
    };
  } catch (error) {
    const complaint = error instanceof Error ? `${error.message} ${String(error.cause)}` : 'thrown';
    const none = { id: '', status: 0, servedBy: null, isComplete: false, error: null, complaint };
    return { ...common, ...none, tookMs: performance.now() - beganMs };
  }
}

async function judgeStream(response: Response): Promise<Verdict> {
  const { raw, text, isDone, error, finishReasons } = await readChatStream(response);
  const isWhole = response.status === 200 && isDone && text !== '' && finishReasons.length === 1;
  if (isWhole && error === null) return { isComplete: true, error: null, complaint: null };
  const told = error === null && response.status !== 200 ? errorOf(raw) : error;
  const complaint = `${response.status} ${raw.slice(-400)}`;
  return { isComplete: false, error: classOf(told), complaint };
}

async function judgeWhole(response: Response): Promise<Verdict> {
  const text = await response.text();
  const complaint = `${response.status} ${text.slice(0, 400)}`;
  if (response.status !== 200) {
    return { isComplete: false, error: classOf(errorOf(text)), complaint };
  }
  const reply = JSON.parse(text) as { choices?: { message?: { content?: string } }[] };
  const isComplete = (reply.choices?.[0]?.message?.content ?? '') !== '';
  return { isComplete, error: null, complaint: isComplete ? null : complaint };
}

function errorOf(text: string): JsonObject | null {
  return (JSON.parse(text) as { error?: JsonObject }).error ?? null;
}

function classOf(error: JsonObject | null): string | null {
  return (error as { tiergate?: { class?: string } } | null)?.tiergate?.class ?? null;
}

/** Waits until `holds`, looking every few ms; the error names what did not come. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs: number = waitMsMax,
): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`after ${withinMs} ms still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The middle of `values`. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
