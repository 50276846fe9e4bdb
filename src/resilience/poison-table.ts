/** Inputs that reproduce a fault: told apart from a provider's outage by what other requests get (R14). */
import { unreachable } from '../base/unreachable.ts';
import type { ErrorClass } from '../failure/attempt-failure.ts';
import { ExpiringMap } from './expiring-map.ts';

/** What a target answered to one input. */
type TargetRecord = {
  attempts: number;
  /** Attempts by status and error code, where these may be the input's doing. */
  readonly bySignature: Map<string, number>;
  isHealthy: boolean;
};

type InputRecord = { readonly bytes: number; readonly byTarget: Map<string, TargetRecord> };

export type PoisonVerdict = 'clean' | 'poisoned';

const entriesMax = 10_000;
const keptMs = 10 * 60_000;
const targetsMax = 16;
const signaturesMax = 8;
const codeCharactersMax = 128;
const attemptsAtOneMin = 2;
const attemptsAtOneAlone = 3;

/**
 * The last 10,000 inputs that failed, each for 10 minutes after its last attempt. A fingerprint names the
 * input as such, so that attempts at different targets share it. Instants are monotonic ms.
 */
export class PoisonTable {
  readonly #inputs = new ExpiringMap<InputRecord>({ entriesMax, keptMs }, ({ bytes }) =>
    this.#leave(bytes),
  );
  /** How many inputs there are by their length: what is asked before a body is hashed. */
  readonly #lengths = new Map<number, number>();

  /**
   * A failed attempt. `isTargetHealthy`: whether the target's other requests lately succeeded
   * (`RecentOutcomes.areOthersHealthy`); the latest word counts, so that an outage clears its suspects.
   */
  note(attempt: {
    readonly fingerprint: string;
    /** The length of the input. */
    readonly bytes: number;
    readonly target: string;
    readonly errorClass: ErrorClass;
    readonly status: number | null;
    readonly code: string | null;
    readonly isTargetHealthy: boolean;
    readonly nowMs: number;
  }): void {
    const sign = signOf(attempt.errorClass);
    if (sign === 'none') return;
    const { fingerprint, nowMs } = attempt;
    const input = this.#inputs.get(fingerprint, nowMs) ?? this.#enter(attempt.bytes);
    const record = recordOf(input.byTarget, attempt.target);
    record.attempts += 1;
    record.isHealthy = attempt.isTargetHealthy;
    if (sign === 'input' && attempt.status !== null) {
      count(record.bySignature, signatureOf(attempt.status, attempt.code));
    }
    this.#inputs.set(fingerprint, input, nowMs);
  }

  /** An attempt that the target answered well: it does not fail on every attempt with this input. */
  noteSuccess(attempt: {
    readonly fingerprint: string;
    readonly target: string;
    readonly nowMs: number;
  }): void {
    const input = this.#inputs.get(attempt.fingerprint, attempt.nowMs);
    const record = input?.byTarget.get(attempt.target);
    if (record !== undefined) record.attempts += 1;
  }

  /** False: no input of that length has failed lately, so there is nothing to compare a body with. */
  mayHold(bytes: number, nowMs: number): boolean {
    return this.size(nowMs) > 0 && this.#lengths.has(bytes);
  }

  /**
   * `poisoned`: one healthy target gave the same status and error code on every attempt, of at least 3,
   * or of 2 and another target gave it once.
   */
  verdict(fingerprint: string, nowMs: number): PoisonVerdict {
    const input = this.#inputs.get(fingerprint, nowMs);
    if (input === undefined) return 'clean';
    for (const [target, record] of input.byTarget) {
      if (reproduces(input.byTarget, target, record)) return 'poisoned';
    }
    return 'clean';
  }

  /** How many inputs are remembered. */
  size(nowMs: number): number {
    return this.#inputs.size(nowMs);
  }

  #enter(bytes: number): InputRecord {
    this.#lengths.set(bytes, (this.#lengths.get(bytes) ?? 0) + 1);
    return { bytes, byTarget: new Map() };
  }

  #leave(bytes: number): void {
    const left = (this.#lengths.get(bytes) ?? 0) - 1;
    if (left > 0) this.#lengths.set(bytes, left);
    else this.#lengths.delete(bytes);
  }
}

type ByTarget = InputRecord['byTarget'];

function reproduces(byTarget: ByTarget, target: string, record: TargetRecord): boolean {
  const [signature, times] = [...record.bySignature][0] ?? ['', 0];
  if (!record.isHealthy || times !== record.attempts || times < attemptsAtOneMin) return false;
  if (times >= attemptsAtOneAlone) return true;
  return [...byTarget].some(([other, seen]) => other !== target && seen.bySignature.has(signature));
}

function recordOf(byTarget: ByTarget, target: string): TargetRecord {
  const known = byTarget.get(target);
  if (known !== undefined) return known;
  const record = { attempts: 0, bySignature: new Map<string, number>(), isHealthy: false };
  const [oldest] = byTarget.keys();
  if (oldest !== undefined && byTarget.size >= targetsMax) byTarget.delete(oldest);
  byTarget.set(target, record);
  return record;
}

function count(bySignature: Map<string, number>, signature: string): void {
  const times = bySignature.get(signature) ?? 0;
  if (times === 0 && bySignature.size >= signaturesMax) return;
  bySignature.set(signature, times + 1);
}

function signatureOf(status: number, code: string | null): string {
  return JSON.stringify([status, code?.slice(0, codeCharactersMax) ?? null]);
}

/**
 * What a failure says of the input. `input`: it may be its doing. `other`: an answer all the same, after
 * which the attempts no longer all agree. `none`: the target was not heard.
 */
function signOf(errorClass: ErrorClass): 'input' | 'other' | 'none' {
  switch (errorClass) {
    case 'transient_infra':
    case 'malformed_response':
    case 'poisoned':
      return 'input';
    case 'connection':
    case 'timeout':
    case 'overload':
    case 'rate_limit':
    case 'quota_exhausted':
    case 'auth':
    case 'permission':
    case 'not_found':
    case 'context_length':
    case 'invalid_request':
    case 'content_policy':
    case 'stream_interrupted':
      return 'other';
    case 'client_gone':
    case 'internal':
      return 'none';
    default:
      return unreachable(errorClass);
  }
}
