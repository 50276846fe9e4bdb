/** What every official SDK is tried with. */

/** Each upstream dialect with the provider of the running gateway that speaks it. */
export const dialects = [
  ['openai-chat', 'p1'],
  ['anthropic-messages', 'p2'],
  ['gemini', 'p3'],
  ['openai-responses', 'p4'],
  ['bedrock-converse', 'p5'],
] as const;

/** Every two of those providers: the one a conversation begins on, and the one it ends on. */
export const failoverPairs = dialects.flatMap(([, first]) =>
  dialects.filter(([, second]) => second !== first).map(([, second]) => [first, second] as const),
);

/** A PNG image of one pixel, base64. */
export const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
