/** The white space between what was sent and what goes on. */

export type Joint = {
  /** What was sent, without the white space at its end. */
  readonly text: string;
  /** The white space that was sent after it. */
  readonly sent: string;
  /** The white space that the continuation begins with. */
  readonly given: string;
  /** What comes after it. */
  readonly rest: string;
  /** It follows what the model repeated, or announced: its white space is that of the text. */
  readonly isTrusted: boolean;
  /** The model was asked in words, and models leave white space out at the beginning of what they say. */
  readonly isInstructed: boolean;
  readonly isInCode: boolean;
};

export type JointSpace = { readonly space: string; readonly isUncertain: boolean };

export function jointSpace(joint: Joint): JointSpace {
  const { given } = joint;
  const meant = joint.isTrusted || joint.isInCode ? given : meantBy(joint);
  return { space: unsent(joint, meant), isUncertain: meant !== given };
}

function meantBy(joint: Joint): string {
  const { text, sent, given, rest, isInstructed } = joint;
  if (text === '' || rest === '') return given;
  if (given !== '' || sent !== '') return withoutParagraph(joint);
  const isNewSentence = /[.!?,;:]$/.test(text) && /^\p{Lu}/u.test(rest);
  return isInstructed && isNewSentence ? ' ' : given;
}

/** Of the `given` white space what was not `sent` already. */
function unsent({ sent, isInCode }: Joint, given: string): string {
  if (given.startsWith(sent)) return given.slice(sent.length);
  const line = given.search(/[\r\n]/);
  const sentLine = sent.search(/[^\r\n]*$/);
  // A new line tells more than the blank that was sent in its place.
  if (line !== -1) return sentLine === 0 ? given.slice(line) : '';
  // The line was begun already; how far it is indented matters in code alone.
  const indent = sent.slice(sentLine);
  return isInCode && sentLine > 0 && given.startsWith(indent) ? given.slice(indent.length) : '';
}

/**
 * A model that was stopped in the middle of a sentence sometimes begins a paragraph: the blank line is
 * its own, what stands after it belongs to the sentence.
 */
function withoutParagraph({ text, given, rest }: Joint): string {
  if (!/\n[^\S\n]*\n/.test(given)) return given;
  const behind = given.slice(given.search(/[^\r\n]*$/));
  const isStrayBlank = behind === ' ' && !/^[-*+>#|\d`]/.test(rest);
  const isInSentence = isSentenceOpen(text) && /^[\p{Ll}\p{Lo}]/u.test(rest);
  return isStrayBlank || isInSentence ? behind : given;
}

/** Not at the end of a sentence, a heading, an item, a row or a line of its own. */
function isSentenceOpen(text: string): boolean {
  if (!/[\p{L}\p{M}\p{N},;(]$/u.test(text)) return false;
  const line = text.slice(text.lastIndexOf('\n') + 1);
  return !/^\s*(?:#|[-*+>|]\s|\d+[.)]\s|\*\*)/.test(line);
}
