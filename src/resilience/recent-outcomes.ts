/** How a target lately did for its requests, so that one request's failures can be held against the others. */

type Outcome = {
  readonly isSuccess: boolean;
  /** Null: nobody has hashed it. */
  readonly fingerprint: string | null;
  /** The length of the body. */
  readonly bytes: number;
  readonly atMs: number;
};

const othersMax = 20;
/** Below this a share of 90 % says nothing, and a quiet target would pass for healthy in its first outage. */
const othersMin = 10;
const healthyPercent = 90;
const keptMs = 10 * 60_000;

/** The last 20 requests of one target, and room for the one that asks. Instants are monotonic ms. */
export class RecentOutcomes {
  /** Oldest first. */
  readonly #outcomes: Outcome[] = [];

  /**
   * Of one fingerprint only the last outcome stays: an input that fails ten times must not make the target
   * look ill.
   */
  record(outcome: Outcome): void {
    const { fingerprint } = outcome;
    if (fingerprint !== null) {
      const known = this.#outcomes.findIndex((earlier) => earlier.fingerprint === fingerprint);
      if (known !== -1) this.#outcomes.splice(known, 1);
    }
    this.#outcomes.push(outcome);
    if (this.#outcomes.length > othersMax + 1) this.#outcomes.shift();
  }

  /**
   * Whether at least 90 % of the last 20 requests with another input than this one succeeded. False while
   * fewer than 10 of the last 10 minutes are known.
   */
  areOthersHealthy(
    input: { readonly fingerprint: string; readonly bytes: number },
    nowMs: number,
  ): boolean {
    const others = this.#outcomes
      .filter((outcome) => isOther(outcome, input) && nowMs - outcome.atMs < keptMs)
      .slice(-othersMax);
    const successes = others.filter((outcome) => outcome.isSuccess).length;
    return others.length >= othersMin && successes * 100 >= others.length * healthyPercent;
  }
}

/**
 * A body that nobody has hashed is surely another one where its length differs. One as long may be the same:
 * where everybody sends that body, its successes say nothing of any other.
 */
function isOther(
  outcome: Outcome,
  input: { readonly fingerprint: string; readonly bytes: number },
): boolean {
  return outcome.fingerprint === null
    ? outcome.bytes !== input.bytes
    : outcome.fingerprint !== input.fingerprint;
}
