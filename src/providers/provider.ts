/** A provider: an account at an upstream service, bound to its dialect. */
import type { UpstreamDialect } from '../dialects/dialect.ts';
import type { ErrorRule } from '../failure/error-rule.ts';
import type { Authorize } from './credential.ts';

export type ModelFacts = {
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  readonly isReasoningModel: boolean;
  /** Whether it thinks before it answers when nothing is asked of it; absent = no. */
  readonly thinksByDefault?: boolean;
  readonly acceptsPrefill: boolean;
  /** The reasoning efforts that it knows; none = it takes no effort; absent = unknown. */
  readonly efforts?: readonly string[];
  /** Abilities that the model is known to have or lack; absent = assumed. */
  readonly supports: { readonly [ability: string]: boolean };
};

/** A credential: the reference's name as alias, and how to read its value at the time of use. */
export type ProviderKey = {
  readonly alias: string;
  /** The secret, or null when the reference does not resolve. Never kept, never logged. */
  readonly resolve: () => string | null;
  /** How it is shown instead of in the kind's header; absent = in that header. */
  readonly authorize?: Authorize;
  /**
   * The service refused (401 or 403) `proof`, which `authorize` gave and which should hold: whether
   * another may be had, that the next `authorize` gives. Absent = never.
   */
  readonly renew?: (proof: Readonly<Record<string, string>>, refusal: Refusal) => boolean;
};

/** What an answer says of why it refused; header names in lower case. */
export type Refusal = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
};

export type Provider = {
  readonly name: string;
  readonly kind: string;
  readonly dialect: UpstreamDialect;
  readonly baseUrl: string;
  /** In listed order. Empty for a provider that wants none. */
  readonly keys: readonly ProviderKey[];
  readonly operatorRules: readonly ErrorRule[];
  readonly allowMissingFinish: boolean;
  readonly eventBytesMax: number;
  /** Whether the service takes an `Idempotency-Key`. */
  readonly takesIdempotencyKey: boolean;
  /** As the kind's; absent = the service takes none. */
  readonly deadlineHeader?: string;
  /** Client headers that go on to this dialect when the client speaks it too (lower case). */
  readonly passedHeaders: readonly string[];
  /** By the document's name of the model. */
  readonly modelFacts: (model: string) => ModelFacts;
  /** What the service calls it; absent = the same. */
  readonly nameOf?: (model: string) => string;
  readonly urlFor: (input: { readonly model: string; readonly isStream: boolean }) => string;
  /** content-type, accept, credentials, fixed headers. `secret` null = no key is sent. */
  readonly headersFor: (input: {
    readonly secret: string | null;
    readonly isStream: boolean;
  }) => Record<string, string>;
};
