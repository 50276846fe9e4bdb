/** What every official SDK is tried with. */

/** Each upstream dialect with the provider of the running gateway that speaks it. */
export const dialects = [
  ['openai-chat', 'p1'],
  ['anthropic-messages', 'p2'],
  ['gemini', 'p3'],
] as const;

/** A PNG image of one pixel, base64. */
export const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
