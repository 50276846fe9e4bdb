/** How likely a model held the tokens that it wrote, for clients that ask. */

/** One token that could have been written at its place. */
export type LikelyToken = {
  readonly token: string;
  /** Natural logarithm of its probability: 0 = certain, else negative. */
  readonly logprob: number;
  /** The token in UTF-8, which may be a part of a character; null: the service did not tell, and `token` does not say. */
  readonly bytes: readonly number[] | null;
};

/** The token that was written. `top`: the likeliest ones, the most likely first; it may be among them itself. */
export type TokenLogprob = LikelyToken & { readonly top: readonly LikelyToken[] };
