/** Of the text that was sent, what a model can go on from. */

export type TextToContinue = {
  /** Without white space at its end, which services refuse, and without half a character. */
  readonly text: string;
  /** The white space that was sent after it. */
  readonly space: string;
  /** Half a surrogate pair at the very end; '' = none. */
  readonly half: string;
};

export function textToContinue(sent: string): TextToContinue {
  const half = /[\ud800-\udbff]$/.test(sent) ? sent.slice(-1) : '';
  const whole = half === '' ? sent : sent.slice(0, -1);
  const text = whole.trimEnd();
  return { text, space: whole.slice(text.length), half };
}
