/** What must hold of every simulated run, whatever its schedule. */
import {
  answersWhileSomebodyCan,
  givesOneText,
  rescuesWhileSomebodyCan,
  takesSoundAnswers,
} from './invariants-answers.ts';
import { letsOnlyProbesThrough, probesOneAtATime, recoversInTime } from './invariants-breakers.ts';
import {
  addsUpItsUsage,
  asksForTheRestOfWhatWasSent,
  asksForTheRestOnlyWhereItMay,
  keepsOneAnswer,
  marksDoubtfulJoints,
  tellsItsRecovery,
  thinksAnewAtHome,
} from './invariants-continuations.ts';
import {
  asksInOrder,
  callsPoisonedWhatFailsAgain,
  keepsToOneTargetWhenTold,
  waitsForTheFirstBack,
} from './invariants-inputs.ts';
import {
  asksNobodyDrained,
  asksWithItsKeys,
  boundsItsAttempts,
  countsEveryCall,
  keepsTheRetryBudget,
  repeatsNoWritingTool,
  retriesNoForbiddenClass,
  returnsOnlyToTheResting,
  undercutsNoHintOfItsOwn,
  usesNoCoolingKey,
} from './invariants-retries.ts';
import {
  answersByTheDeadline,
  asksNobodyBesideTheWriter,
  chargesNobodyForLeaving,
  endsEveryPermitOnce,
  endsItsExchanges,
  leavesNothingBehind,
  neverHangsNorThrows,
  startsNoAttemptAfterTheDeadline,
} from './invariants-time.ts';
import {
  countsItsFailovers,
  explainsItsSkips,
  hasOneOutcome,
  hasTheClassOfItsAttempts,
  measuresItsTimes,
  numbersItsAttempts,
  tellsOfTheWantOfRoom,
} from './invariants-trace.ts';
import type { Observation } from './simulated-observation.ts';

/** Returns what is wrong, one line each; empty = it holds. */
export type Invariant = (observation: Observation) => readonly string[];

export const invariants: readonly Invariant[] = [
  neverHangsNorThrows,
  answersByTheDeadline,
  startsNoAttemptAfterTheDeadline,
  asksNobodyBesideTheWriter,
  endsItsExchanges,
  chargesNobodyForLeaving,
  leavesNothingBehind,
  endsEveryPermitOnce,
  retriesNoForbiddenClass,
  undercutsNoHintOfItsOwn,
  usesNoCoolingKey,
  boundsItsAttempts,
  keepsTheRetryBudget,
  repeatsNoWritingTool,
  returnsOnlyToTheResting,
  asksWithItsKeys,
  asksNobodyDrained,
  countsEveryCall,
  probesOneAtATime,
  letsOnlyProbesThrough,
  recoversInTime,
  hasOneOutcome,
  hasTheClassOfItsAttempts,
  numbersItsAttempts,
  countsItsFailovers,
  explainsItsSkips,
  measuresItsTimes,
  givesOneText,
  takesSoundAnswers,
  answersWhileSomebodyCan,
  asksForTheRestOnlyWhereItMay,
  asksForTheRestOfWhatWasSent,
  thinksAnewAtHome,
  keepsOneAnswer,
  tellsItsRecovery,
  marksDoubtfulJoints,
  addsUpItsUsage,
  rescuesWhileSomebodyCan,
  asksInOrder,
  keepsToOneTargetWhenTold,
  callsPoisonedWhatFailsAgain,
  waitsForTheFirstBack,
  tellsOfTheWantOfRoom,
];

export type Violation = { readonly invariant: string; readonly what: string };

export function violationsOf(observation: Observation): readonly Violation[] {
  return invariants.flatMap((invariant) =>
    invariant(observation).map((what) => ({ invariant: invariant.name, what })),
  );
}
