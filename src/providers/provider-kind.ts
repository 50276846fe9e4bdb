/** What is the same for every account of one service: a preset that the document names by `kind`. */
import type { ZodRawShape } from 'zod';
import type { JsonObject } from '../base/json.ts';
import type { DialectName } from '../chat/request.ts';
import type { MessagesQuirks } from '../dialects/anthropic-messages/messages-quirks.ts';
import type { UpstreamDialect } from '../dialects/dialect.ts';
import type { GeminiQuirks } from '../dialects/gemini/gemini-quirks.ts';
import type { ChatQuirks } from '../dialects/openai-chat/chat-quirks.ts';
import type { CredentialPorts, CredentialsOf, KeyProof } from './credential.ts';
import type { ModelFacts, ProviderKey } from './provider.ts';

/** The tiers that are built when there is no document. */
export type DefaultTier = 'fast' | 'smart' | 'reasoning';

export type DefaultTarget = { readonly model: string; readonly params: JsonObject };

/** What a service is known to do otherwise than its dialect's own vendor, by the dialect that reads the table. */
export type Differences =
  | { readonly dialect: 'openai-chat'; readonly quirks: ChatQuirks }
  | { readonly dialect: 'anthropic-messages'; readonly quirks: MessagesQuirks }
  | { readonly dialect: 'gemini'; readonly quirks: GeminiQuirks };

export type ProviderKind = {
  readonly name: string;
  readonly dialect: DialectName;
  /** That dialect as this service speaks it; absent = as it is. */
  readonly upstreamOf?: (own: JsonObject) => UpstreamDialect;
  /** The table that `upstreamOf` goes by, for the documents; absent = there is nothing to tell. */
  readonly differences?: Differences;
  /** What the vendor's own SDK takes; null = the document must say it. */
  readonly baseUrl: string | null;
  /** The environment variable that this vendor's users set; null = there is no custom. */
  readonly keyVariable: string | null;
  readonly isKeyRequired: boolean;
  /** Lower case. */
  readonly authHeader: string;
  readonly authValue: (secret: string) => string;
  /** In place of these two, where the kind's own fields choose; absent = they hold. */
  readonly authOf?: (own: JsonObject) => Pick<ProviderKind, 'authHeader' | 'authValue'>;
  /** How one of `api_keys` proves who asks where it is no value of a header; absent = it is one. */
  readonly proofOf?: (
    key: Pick<ProviderKey, 'alias' | 'resolve'>,
    ports: CredentialPorts,
  ) => KeyProof;
  /** Why the text of a key cannot be one, without asking anybody; null = it may be. Absent = it may. */
  readonly keyFault?: (secret: string) => string | null;
  /** Whether the kind's own fields do without `api_keys`; absent = never. */
  readonly isKeyless?: (own: JsonObject) => boolean;
  /** Credentials from the kind's own fields, used after `api_keys`; absent = it has none. */
  readonly credentialsOf?: CredentialsOf;
  /** The base URL that the kind's own fields make, where the document gives none; absent = `baseUrl`. */
  readonly baseUrlOf?: (own: JsonObject) => string | null;
  /** Sent with every request, lower-case names. */
  readonly fixedHeaders: Readonly<Record<string, string>>;
  /** Client headers that go on when the client speaks this dialect too, lower case. */
  readonly passedHeaders: readonly string[];
  readonly takesIdempotencyKey: boolean;
  /** Takes the seconds for which a whole reply is waited for (lower case); absent = the service takes none. */
  readonly deadlineHeader?: string;
  /** `baseUrl` has no trailing slash. */
  readonly urlFor: (input: {
    readonly baseUrl: string;
    readonly model: string;
    readonly isStream: boolean;
    /** The kind's own fields, as the document has them. */
    readonly own: JsonObject;
  }) => string;
  /** What the service calls a model of the document; absent = the same. */
  readonly nameOf?: (model: string, own: JsonObject) => string;
  /** An unknown model gets `unknownModel` or what its name alone makes certain. */
  readonly modelFacts: (model: string) => ModelFacts;
  /** Keys of the document's entry beyond those that every kind has. */
  readonly configShape: ZodRawShape;
  /** What the default tiers ask of this service; null = it is in none. */
  readonly defaultTargets: { readonly [tier in DefaultTier]: DefaultTarget } | null;
};
