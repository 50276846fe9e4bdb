/** Log probabilities on their way through: to the text that they belong to, and to clients that asked. */
import type { ChatRequest } from '../chat/request.ts';
import type { ChatEvent } from '../chat/stream-event.ts';
import type { TokenLogprob } from '../chat/token-logprob.ts';

type Tokens = readonly TokenLogprob[];

/** More alternatives than the services of either vendor tell at a token's place. */
export const topLogprobsMax = 20;

/** Whether so many alternatives can be asked for; those who compute with them are not given fewer. */
export function asksTooManyLogprobs({ parameters }: ChatRequest): boolean {
  return parameters.logprobs === true && (parameters.top_logprobs ?? 0) > topLogprobsMax;
}

/** What of `tokens` the client is told: only what it asked for. Null: nothing. */
export function toldLogprobs(
  tokens: readonly TokenLogprob[] | undefined,
  request: ChatRequest | undefined,
): readonly TokenLogprob[] | null {
  if (tokens === undefined || tokens.length === 0) return null;
  if (request?.parameters.logprobs !== true) return null;
  const topMax = Math.max(request.parameters.top_logprobs ?? 0, 0);
  return tokens.map((token) =>
    token.top.length <= topMax ? token : { ...token, top: token.top.slice(0, topMax) },
  );
}

/** The bytes of a token whose service tells its text alone; null: the text stands for bytes that are no character. */
export function bytesOfToken(token: string): readonly number[] | null {
  return token.includes('\ufffd') ? null : [...Buffer.from(token)];
}

/**
 * Gives the tokens that a service tells beside the texts of one choice to those that they spell. Tokens of
 * what is no text (a thought, a call, a mark that ends the turn) are left out. Where the tokens do not spell
 * the texts, since a service writes them in a way of its own, they are told as the service allots them.
 */
export class TextLogprobs {
  readonly #type: 'text' | 'refusal';
  /** Told before their text: a part of a character, or what may yet turn out to be no text. */
  #held: Tokens = [];

  constructor(type: 'text' | 'refusal') {
    this.#type = type;
  }

  /** `events`, from `from` on, are what the same piece of the answer said. */
  give(events: ChatEvent[], from: number, told: Tokens): void {
    if (told.length === 0 && this.#held.length === 0) return;
    const tokens = [...this.#held, ...told];
    const places: number[] = [];
    for (let at = from; at < events.length; at += 1) {
      if (events[at]?.type === this.#type) places.push(at);
    }
    const texts = places.map((at) => textOf(events[at]));
    for (const [nth, share] of (shares(texts, tokens) ?? unshared(texts, tokens)).entries()) {
      const at = places[nth] ?? 0;
      const event = events[at];
      if (event?.type === this.#type && share.length > 0)
        events[at] = { ...event, logprobs: share };
    }
    this.#held = events.length === from ? tokens : [];
  }
}

function textOf(event: ChatEvent | undefined): string {
  return event?.type === 'text' || event?.type === 'refusal' ? event.text : '';
}

function unshared(texts: readonly string[], tokens: Tokens): readonly Tokens[] {
  return texts.map((_, nth) => (nth === texts.length - 1 ? tokens : []));
}

/**
 * For each text the tokens that spell it: the last stretch that does, since what comes before an answer
 * (a thought) may hold its words too. A token that a text begins or ends in belongs to it. Null: no such.
 */
function shares(texts: readonly string[], tokens: Tokens): readonly Tokens[] | null {
  const spelled = tokens.map(({ token, bytes }) => Buffer.from(bytes ?? token));
  const all = Buffer.concat(spelled);
  const found: Tokens[] = [];
  let end = all.length;
  let next = tokens.length;
  let nextStart = all.length;
  for (const text of texts.toReversed()) {
    const wanted = Buffer.from(text);
    const start = end < wanted.length ? -1 : all.lastIndexOf(wanted, end - wanted.length);
    if (start === -1) return null;
    const share: TokenLogprob[] = [];
    for (; next > 0 && nextStart > start; next -= 1) {
      const token = tokens[next - 1];
      nextStart -= spelled[next - 1]?.length ?? 0;
      if (token !== undefined && nextStart < start + wanted.length) share.push(token);
    }
    found.push(share.reverse());
    end = start;
  }
  return found.reverse();
}
