/** Reasoning in the forms that servers of this dialect give it beside the plain text fields. */
import { isJsonObject } from '../../base/json.ts';
import { type DeferredTexts, readText, textIn } from '../deferred-texts.ts';

/** `{type: "thinking", thinking: [{type: "text", text}]}`: reasoning as a part of `content`. */
export function thinkingText(thinking: unknown, texts: DeferredTexts | null = null): string {
  if (typeof thinking === 'string') return thinking;
  return Array.isArray(thinking) ? joined(thinking, 'text', texts) : '';
}

/** `reasoning_details: [{type: "reasoning.text", text} | {type: "reasoning.summary", summary} | ...]`. */
export function reasoningDetailText(details: readonly unknown[]): string {
  let text = '';
  for (const detail of details) text += joined([detail], 'text') || joined([detail], 'summary');
  return text;
}

function joined(
  pieces: readonly unknown[],
  field: string,
  texts: DeferredTexts | null = null,
): string {
  let text = '';
  for (const piece of pieces) {
    if (isJsonObject(piece)) text += readText(textIn(piece[field], texts) ?? '');
  }
  return text;
}
