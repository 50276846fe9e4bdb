/** The clocks that bound one attempt: the table of 4-resilience, Deadlines and clocks. */

/** A target's configured clocks, in ms. */
export type ClockSettings = {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly firstContentSoftMs: number;
  readonly firstContentMs: number;
  readonly idleMs: number;
};

/** In ms from the start of the attempt (`idle*`: from the last progress). Null = that clock is off. */
export type AttemptClocks = {
  readonly headersMs: number | null;
  /** From here on a hedge may ask the next candidate. */
  readonly firstContentSoftMs: number | null;
  readonly firstContentMs: number | null;
  readonly idleMs: number;
  /** In place of `idleMs` while pings or server-tool events still come. Equal to it for a whole reply. */
  readonly idleWithSignsMs: number;
  /** A whole reply is complete by then; a stream has shown its first content by then. */
  readonly wholeMs: number;
  /**
   * What would have cut the attempt had no other candidate been left. A cut before this instant
   * counts for the breaker only when no response headers had come.
   */
  readonly ownLimitMs: number;
  /** Silence for less than this says nothing of the target: the request had no more time to give. */
  readonly fairMs: number;
};

/** No target is called silent for less, however fast it usually is, unless its own clocks say so. */
const fairLeastMs = 1_000;

/** A model that thinks first is silent for longer. */
const thinkingFirstContentMs = 180_000;
/** Signs of life without progress: four times the usual idle clock of 30 s. */
const idleWithSignsFactor = 4;
const softShare = 3;
const hardShare = 2;

/**
 * Every clock but `idle` and `fair` is at most `remainingMs`, the time left until the deadline (R20). While another
 * admissible candidate is left the soft clock is at most a third of it and the hard one at most half,
 * unless a hedge already runs. `ownP99Ms` is the target's own 99th percentile of the same kind of
 * answer (streamed: to the first content; whole: all of it), null while fewer than 20 are known.
 */
export function attemptClocks(input: {
  readonly settings: ClockSettings;
  readonly isStream: boolean;
  readonly isThinking: boolean;
  readonly remainingMs: number;
  readonly isOtherAdmissible: boolean;
  readonly isHedged: boolean;
  readonly ownP99Ms: number | null;
}): AttemptClocks {
  const { settings, isStream, remainingMs } = input;
  const isSplit = input.isOtherAdmissible && !input.isHedged;
  const within = (clockMs: number): number => Math.min(clockMs, remainingMs);
  const firstContentMs = isStream ? firstContentOf(input) : null;
  const hardMs = isSplit ? remainingMs / hardShare : remainingMs;
  const softMs = softOf(input);
  return {
    headersMs: isStream ? within(settings.headersMs) : null,
    firstContentSoftMs: softMs === null ? null : within(split(softMs, isSplit, remainingMs)),
    firstContentMs: firstContentMs === null ? null : Math.min(firstContentMs, hardMs),
    idleMs: settings.idleMs,
    idleWithSignsMs: isStream ? settings.idleMs * idleWithSignsFactor : settings.idleMs,
    wholeMs: hardMs,
    ownLimitMs: Math.min(firstContentMs ?? remainingMs, remainingMs),
    fairMs: Math.min(
      isStream ? settings.headersMs : Number.POSITIVE_INFINITY,
      firstContentMs ?? Number.POSITIVE_INFINITY,
      softMs ?? Number.POSITIVE_INFINITY,
      Math.max(fairLeastMs, input.ownP99Ms ?? 0),
    ),
  };
}

function split(clockMs: number, isSplit: boolean, remainingMs: number): number {
  return isSplit ? Math.min(clockMs, remainingMs / softShare) : clockMs;
}

/** The thinking clock lengthens the shipped setting; one that an operator set longer stays. */
function firstContentOf(input: {
  readonly settings: ClockSettings;
  readonly isThinking: boolean;
}): number {
  const { firstContentMs } = input.settings;
  return input.isThinking ? Math.max(firstContentMs, thinkingFirstContentMs) : firstContentMs;
}

/** Off for whole replies until their usual length is known: a long answer is no sign of a stuck one. */
function softOf(input: {
  readonly settings: ClockSettings;
  readonly isStream: boolean;
  readonly ownP99Ms: number | null;
}): number | null {
  if (!input.isStream && input.ownP99Ms === null) return null;
  return Math.max(input.settings.firstContentSoftMs, input.ownP99Ms ?? 0);
}
