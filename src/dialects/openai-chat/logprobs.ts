/** Log probabilities of a choice: how they are told of it, and to which of its texts they belong. */
import { type JsonObject, objectAt } from '../../base/json.ts';
import type { ReplyChoice } from '../../chat/reply.ts';
import type { ChatRequest } from '../../chat/request.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import type { TokenLogprob } from '../../chat/token-logprob.ts';
import { readLogprobs, writeLogprobs } from '../openai-logprobs.ts';
import { TextLogprobs, toldLogprobs } from '../token-logprobs.ts';

export class ChoiceLogprobs {
  readonly #text = new TextLogprobs('text');
  readonly #refusal = new TextLogprobs('refusal');

  /** Adds what the choice tells of its tokens to the texts that it said: the events from `from` on. */
  tell(choice: JsonObject, events: ChatEvent[], from: number): void {
    const told = objectAt(choice, 'logprobs');
    this.#text.give(events, from, readLogprobs(told?.['content']));
    this.#refusal.give(events, from, readLogprobs(told?.['refusal']));
  }
}

type Spoken = Pick<ReplyChoice, 'logprobs' | 'refusalLogprobs'>;

/** What stands in a choice's `logprobs`; null: there is nothing, or nothing was asked for. */
export function logprobsOf(spoken: Spoken, request: ChatRequest | undefined): JsonObject | null {
  const content = written(spoken.logprobs, request);
  const refusal = written(spoken.refusalLogprobs, request);
  return content === null && refusal === null ? null : { content, refusal };
}

function written(
  tokens: readonly TokenLogprob[] | undefined,
  request: ChatRequest | undefined,
): readonly JsonObject[] | null {
  const told = toldLogprobs(tokens, request);
  return told === null ? null : writeLogprobs(told, false);
}
