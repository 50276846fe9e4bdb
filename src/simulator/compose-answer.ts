/** The simulated model: a deterministic answer that names who gave it and repeats what was said. */

import { goOn, type Manner } from './go-on.ts';
import type { Answer, OfferedTool, Prompt, SeenImage, ToolCall } from './prompt.ts';
import { schemaInstance } from './schema-instance.ts';
import { cutToTokens, estimateTokens } from './token-estimate.ts';

const echoedCharactersMax = 400;
const wordsMax = 20_000;

/** `nextCallId` gives ids for tool calls; `vendorLabel` is how the answer names its maker. */
export type Speaker = {
  readonly vendorLabel: string;
  readonly nextCallId: () => string;
  /** How it goes on with an answer that broke off. */
  readonly manner?: Manner;
};

/** The answer to `asked`: tool calls when tools are offered, else text or JSON, cut by stops and limit. */
export function composeAnswer(asked: Prompt, speaker: Speaker): Answer {
  const limit = asked.outputTokensMax;
  // An unchecked request may ask for less than nothing.
  const prompt = limit === null ? asked : { ...asked, outputTokensMax: Math.max(0, limit) };
  const calls = toolCalls(prompt, speaker);
  if (calls.length > 0) return withCalls(prompt, calls);
  const full = prompt.output.kind === 'json' ? jsonText(prompt) : plainText(prompt, speaker);
  const stopped = cutAtStop(full, prompt.stops);
  const thinking = thinkingTokensOf(prompt);
  const room = prompt.outputTokensMax === null ? null : prompt.outputTokensMax - thinking;
  const text = room === null ? stopped.text : cutToTokens(stopped.text, room);
  const isCut = text.length < stopped.text.length;
  const end = isCut ? 'length' : stopped.stop === null ? 'complete' : 'stop_sequence';
  return {
    thinking: shownThinking(prompt),
    text,
    calls: [],
    end,
    rawFinish: null,
    stopSequence: isCut ? null : stopped.stop,
    usage: usageOf(prompt, estimateTokens(text), thinking),
  };
}

function withCalls(prompt: Prompt, calls: readonly ToolCall[]): Answer {
  const thinking = thinkingTokensOf(prompt);
  const tokens = calls.reduce(
    (sum, call) => sum + 8 + estimateTokens(call.name) + estimateTokens(call.arguments),
    0,
  );
  const isCut = prompt.outputTokensMax !== null && tokens + thinking > prompt.outputTokensMax;
  return {
    thinking: shownThinking(prompt),
    text: '',
    calls: isCut ? [] : calls,
    end: isCut ? 'length' : 'tools',
    rawFinish: null,
    stopSequence: null,
    usage: usageOf(prompt, isCut ? 0 : tokens, thinking),
  };
}

function usageOf(prompt: Prompt, answerTokens: number, thinking: number): Answer['usage'] {
  return {
    input: prompt.inputTokens,
    cached: prompt.cachedTokens,
    output: answerTokens + thinking,
    thinking,
  };
}

/** Thinking never takes more than half of the limit, so that a small limit still shows an answer. */
function thinkingTokensOf(prompt: Prompt): number {
  if (prompt.outputTokensMax === null) return prompt.thinkingTokens;
  return Math.min(prompt.thinkingTokens, Math.floor(prompt.outputTokensMax / 2));
}

function shownThinking(prompt: Prompt): string {
  if (!prompt.showsThinking || thinkingTokensOf(prompt) === 0) return '';
  return `The user said: "${cutText(prompt.userText, 60)}". I will answer that plainly.`;
}

function toolCalls(prompt: Prompt, speaker: Speaker): readonly ToolCall[] {
  const isAnswered = prompt.toolResults.length > 0;
  if (prompt.toolUse.kind === 'none' || prompt.partial !== null) return [];
  if (prompt.toolUse.kind === 'free' && isAnswered) return [];
  const names = prompt.toolUse.kind === 'required' ? prompt.toolUse.names : null;
  const allowed = prompt.tools.filter((tool) => names === null || names.includes(tool.name));
  const first = allowed[0];
  if (first === undefined) return [];
  const isParallel = prompt.allowsParallelCalls && /\bparallel\b/i.test(prompt.userText);
  const chosen = isParallel ? [first, allowed[1] ?? first] : [first];
  return chosen.map((tool) => callOf(tool, prompt, speaker));
}

function callOf(tool: OfferedTool, prompt: Prompt, speaker: Speaker): ToolCall {
  const made = schemaInstance({ type: 'object', ...tool.schema }, topicOf(prompt.userText));
  return { id: speaker.nextCallId(), name: tool.name, arguments: JSON.stringify(made) };
}

/** The last capitalised word that does not begin a sentence ("Paris" in "What is it like in Paris?"). */
function topicOf(text: string): string {
  const words = text.slice(0, 2_000).match(/(?<=[\p{L}\p{N},] )\p{Lu}[\p{L}\p{M}'-]{1,30}/gu) ?? [];
  return words.at(-1) ?? '';
}

function jsonText(prompt: Prompt): string {
  const schema = prompt.output.kind === 'json' ? prompt.output.schema : null;
  if (schema !== null) return JSON.stringify(schemaInstance(schema, topicOf(prompt.userText)));
  return JSON.stringify({
    answer: 'simulated',
    said: cutText(prompt.userText, echoedCharactersMax),
  });
}

function plainText(prompt: Prompt, speaker: Speaker): string {
  const name = `${speaker.vendorLabel} (${prompt.model})`;
  const { partial } = prompt;
  if (partial === null) return wholeText(prompt, name);
  const whole = wholeText({ ...prompt, userText: partial.askedText }, name);
  const rest = goOn(whole, partial, speaker.manner ?? 'faithful');
  return rest ?? `${partial.anchor} And here ${name} goes on.`;
}

function wholeText(prompt: Prompt, name: string): string {
  const words = wordsWanted(prompt.userText);
  const text = [
    `This is a simulated answer from ${name}.`,
    ...prompt.toolResults.map((one) => `The tool ${one.name} returned: ${cutText(one.text, 200)}`),
    ...(prompt.images.length > 0 ? [imagesSentence(prompt.images)] : []),
    ...(prompt.userText === ''
      ? []
      : [`You said: ${cutText(prompt.userText, echoedCharactersMax)}`]),
  ].join(' ');
  return words === null ? text : padWords(text, words);
}

function imagesSentence(images: readonly SeenImage[]): string {
  const list = images.map(({ mediaType, bytes }) =>
    bytes === null ? `${mediaType} by link` : `${mediaType}, ${bytes} bytes`,
  );
  return `I see ${images.length === 1 ? '1 image' : `${images.length} images`}: ${list.join('; ')}.`;
}

/** "in 200 words" asks for an answer of 200 words. */
function wordsWanted(text: string): number | null {
  const digits = /\b(\d{1,5}) words\b/.exec(text.slice(-2_000))?.[1];
  return digits === undefined ? null : Math.min(Number(digits), wordsMax);
}

function padWords(text: string, count: number): string {
  const words = text.split(/\s+/);
  for (let at = words.length; at < count; at += 1) words.push(`word${at + 1}`);
  return words.slice(0, Math.max(1, count)).join(' ');
}

function cutAtStop(
  text: string,
  stops: readonly string[],
): { readonly text: string; readonly stop: string | null } {
  let at = text.length;
  let stop: string | null = null;
  for (const candidate of stops) {
    const found = candidate === '' ? -1 : text.indexOf(candidate);
    if (found >= 0 && found < at) {
      at = found;
      stop = candidate;
    }
  }
  return { text: text.slice(0, at), stop };
}

function cutText(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max).replace(/[\ud800-\udbff]$/, '')}...`;
}
