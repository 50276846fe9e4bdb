/** What one request knows of its open stream: what was sent, and how often the rest was asked for. */
import { addUsage, type Usage, unknownUsage } from '../../chat/usage.ts';
import type { AttemptFailure } from '../../failure/attempt-failure.ts';
import type { AttemptStream } from '../attempt-stream.ts';
import type { CandidateState } from '../candidate-state.ts';
import type { EngineRequest } from '../engine-request.ts';
import type { Candidate, History } from '../history.ts';
import type { Serving } from '../request-run.ts';
import { textToContinue } from '../seam/text-to-continue.ts';
import type { StreamTally } from '../stream-tally.ts';
import { Joiner } from './joiner.ts';
import { refusesPrefill } from './prefill-refusal.ts';
import { type RequestBar, requestBar } from './request-bar.ts';
import { type RestMode, type RestRequest, restMode, restRequest } from './rest-request.ts';
import { SentAnswer, type SentBar } from './sent-answer.ts';

export type ContinuationBar = RequestBar | SentBar | 'spent' | 'no_time';

/** Of a target that has broken off twice nothing more is hoped while another one is left. */
const breaksHoped = 1;

export class Continuation {
  readonly sent = new SentAnswer();
  /** Of every answer that the client was shown a part of. */
  readonly tallies: StreamTally[] = [];
  /** The stream lives at most until then, whoever writes it (monotonic ms). */
  readonly wholeAtMs: number;
  readonly #request: EngineRequest;
  readonly #bar: RequestBar | null;
  /** Of this request's continuations, by candidate. */
  readonly #asked = new Map<CandidateState, number>();
  readonly #broken = new Map<CandidateState, number>();
  readonly #refusedPrefill = new Set<CandidateState>();
  /** Who wrote what was sent last. */
  #writer: CandidateState | null = null;
  #used = 0;
  /** The stream has broken, and somebody is asked for its rest. */
  isUnderWay = false;

  constructor(request: EngineRequest, wholeAtMs: number) {
    this.#request = request;
    this.wholeAtMs = wholeAtMs;
    this.#bar = requestBar(request);
  }

  /** Null: nobody need read along, since nothing will be continued. */
  get keepsText(): boolean {
    return this.#bar === null;
  }

  /** Why the rest is not asked for (once more); null: it may be. */
  bar(nowMs: number): ContinuationBar | null {
    const bar = this.#bar ?? this.sent.bar;
    if (bar !== null) return bar;
    if (this.#used >= this.#request.tier.stream.maxContinuations) return 'spent';
    return nowMs >= this.wholeAtMs ? 'no_time' : null;
  }

  /** Somebody's answer, or the rest of one, flows. `stream` null: it came in one piece. */
  commit({ candidate, record, tally }: Serving, stream: AttemptStream | null): Joiner | null {
    const { sent, tallies } = this;
    const mode = this.isUnderWay ? this.modeFor(candidate) : null;
    const { model } = candidate.target;
    const joiner = mode === null ? null : new Joiner({ sent, mode, model, usage: this.usage() });
    stream?.commit(this.wholeAtMs);
    sent.begin(record.start.n, candidate.target.id);
    tallies.push(tally);
    this.isUnderWay = false;
    return joiner;
  }

  /** Of all that the client was shown. */
  usage(): Usage {
    return this.tallies.reduce((sum, tally) => addUsage(sum, tally.usage), unknownUsage);
  }

  get malformedEvents(): number {
    return this.tallies.reduce((sum, tally) => sum + tally.malformedEvents, 0);
  }

  noteAsk(candidate: CandidateState): void {
    this.#used += 1;
    this.#asked.set(candidate, (this.#asked.get(candidate) ?? 0) + 1);
  }

  /** From now on the rest is asked for, unless something bars it. */
  noteBreak(candidate: CandidateState, nowMs: number): void {
    this.#writer = candidate;
    this.#broken.set(candidate, (this.#broken.get(candidate) ?? 0) + 1);
    this.isUnderWay = this.bar(nowMs) === null;
  }

  /** Whether that is what `failure` is: then it counts for nothing, and the target is asked in words. */
  isPrefillRefusal(candidate: CandidateState, failure: AttemptFailure): boolean {
    if (!this.isUnderWay || this.modeFor(candidate) !== 'prefill') return false;
    if (!refusesPrefill(failure)) return false;
    this.#refusedPrefill.add(candidate);
    this.#used -= 1;
    this.#asked.set(candidate, (this.#asked.get(candidate) ?? 1) - 1);
    return true;
  }

  /** How `candidate` would be asked for the rest; null: in no way. */
  modeFor(candidate: CandidateState): RestMode | null {
    const { text } = textToContinue(this.sent.text);
    const { target } = candidate;
    const isPrefillRefused = this.#refusedPrefill.has(candidate);
    return restMode({ target, chat: this.#request.chat, text, isPrefillRefused });
  }

  /** Null: it can be asked in no way, or the wording cannot be rendered. */
  requestFor(candidate: CandidateState): RestRequest | null {
    const mode = this.modeFor(candidate);
    if (mode === null) return null;
    const { text } = textToContinue(this.sent.text);
    const { chat } = this.#request;
    return restRequest({ mode, target: candidate.target, chat, text });
  }

  /**
   * The request's history as the next ask for the rest sees it: attempts and their limits are those of
   * continuations, which are counted apart, and the time is that of the stream. A refusal is one of our
   * own making, never the client's.
   */
  historyOf(history: History, candidates: readonly CandidateState[]): History {
    const { last } = history;
    const failed = last === null ? undefined : candidates[last.candidate];
    const breaks = failed === undefined ? 0 : (this.#broken.get(failed) ?? 0);
    return {
      ...history,
      deadlineAtMs: this.wholeAtMs,
      limits: {
        ...history.limits,
        attempts: Number.POSITIVE_INFINITY,
        attemptsTotal: Number.POSITIVE_INFINITY,
      },
      candidates: history.candidates.map((view, index) => this.#viewOf(view, candidates[index])),
      isFirstJudgement: false,
      last:
        last === null
          ? null
          : { ...last, isAvoided: isSilence(last.failure) || breaks > breaksHoped },
    };
  }

  #viewOf(view: Candidate, candidate: CandidateState | undefined): Candidate {
    if (candidate === undefined) return view;
    const attempts = this.#asked.get(candidate) ?? 0;
    const isAble = this.modeFor(candidate) !== null && this.#mayThinkAnew(candidate);
    return { ...view, attempts, isSpent: view.isSpent || !isAble };
  }

  /** Thinking is bound to its provider: only the same one begins it anew where it was all that was sent. */
  #mayThinkAnew({ target }: CandidateState): boolean {
    if (!this.sent.hasReasoning || this.sent.text.trim() !== '') return true;
    return target.provider.name === this.#writer?.target.provider.name;
  }
}

/** Who fell silent would be waited for once more. */
function isSilence({ rule }: AttemptFailure): boolean {
  return rule.startsWith('clock:');
}
