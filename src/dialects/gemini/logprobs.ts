/** Log probabilities of a candidate: chosen tokens in one list, the likeliest of each step in another. */
import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from '../../base/json.ts';
import type { ChatRequest } from '../../chat/request.ts';
import type { LikelyToken, TokenLogprob } from '../../chat/token-logprob.ts';
import { bytesOfToken, toldLogprobs } from '../token-logprobs.ts';

export function readLogprobs(candidate: unknown): readonly TokenLogprob[] {
  const result = objectAt(candidate, 'logprobsResult');
  if (result === null) return [];
  const tops = arrayAt(result, 'topCandidates');
  return arrayAt(result, 'chosenCandidates').map((chosen, step) => ({
    ...readLikely(chosen),
    top: arrayAt(tops[step], 'candidates').map(readLikely),
  }));
}

/** What is left out has the value that it has by default, as everywhere in this protocol. */
function readLikely(candidate: unknown): LikelyToken {
  const token = stringAt(candidate, 'token') ?? '';
  const logprob = numberAt(candidate, 'logProbability') ?? 0;
  return { token, logprob, bytes: bytesOfToken(token) };
}

/** What a client of this dialect is told of one candidate, chunk by chunk or at once. */
export class CandidateLogprobs {
  readonly #request: ChatRequest | undefined;
  #sum = 0;
  #count = 0;

  constructor(request: ChatRequest | undefined) {
    this.#request = request;
  }

  /** The fields for the text that these are the tokens of. */
  fields(tokens: readonly TokenLogprob[] | undefined): JsonObject {
    const told = toldLogprobs(tokens, this.#request);
    if (told === null) return {};
    for (const { logprob } of told) this.#sum += logprob;
    this.#count += told.length;
    const hasTop = told.some(({ top }) => top.length > 0);
    const topCandidates = told.map(({ top }) => ({ candidates: top.map(written) }));
    return {
      logprobsResult: {
        chosenCandidates: told.map(written),
        ...(hasTop ? { topCandidates } : {}),
      },
    };
  }

  /** The field that stands beside the finish: of all tokens told. */
  average(): JsonObject {
    return this.#count === 0 ? {} : { avgLogprobs: this.#sum / this.#count };
  }
}

/** Without the number that the vendor's own vocabulary gives the token. */
function written({ token, logprob }: LikelyToken): JsonObject {
  return { token, logProbability: logprob };
}
