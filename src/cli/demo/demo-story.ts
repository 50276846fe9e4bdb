/** What the demo does and when, in ms from its start. */

export const breakAtMs = 5_000;
export const mendAtMs = 13_000;
/** The traffic ends once the primary has served again for `settledMs`, at the latest here. */
export const endAtMs = 21_000;
export const settledMs = 3_000;

export const requestEveryMs = 200;
export const redrawEveryMs = 100;
/** What is still under way when the traffic ends may finish for so long. */
export const lastAnswersMs = 3_000;

/** Shorter rests than the default 5 s to 15 s, so that the way back fits into a short demo. */
export const shortRests = { open_for: '3s', open_for_max: '4s' } as const;

export const tierName = 'smart';

export const questions = [
  'Why is the sky blue?',
  'Name three uses of a paper clip.',
  'Summarise the plot of Hamlet.',
  'What is a good name for a ferry?',
  'Translate "good morning" into Danish.',
] as const;
