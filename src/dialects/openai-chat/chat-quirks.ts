/** How a server that speaks this dialect differs from the vendor that made it: data, one table a service. */

import type { JsonObject } from '../../base/json.ts';
import type { ErrorRule } from '../../failure/error-rule.ts';
import type { ParameterName } from './encode-parameters.ts';

/** Every absent entry: as the dialect's own vendor has it, or not known. */
export type ChatQuirks = {
  /** The one name under which it takes the output limit, whatever the model. */
  readonly outputLimit?: 'max_tokens' | 'max_completion_tokens';
  /** Its own names of fields. */
  readonly renamedFields?: { readonly [field: string]: string };
  /** The only top-level fields that it takes: it refuses a request with any other. */
  readonly onlyFields?: readonly string[];
  /** Top-level fields that it refuses, or leaves out of account. */
  readonly refusedFields?: readonly string[];
  /** Parameters of other dialects that it knows, though its kin does not. */
  readonly carriedParameters?: readonly ParameterName[];
  /** What its reasoning models refuse of the sampling fields. */
  readonly refusedByReasoning?: readonly ParameterName[];
  /** What stands for an effort where that is not `reasoning_effort`. */
  readonly effortFields?: { readonly [effort: string]: JsonObject };
  readonly serviceTiers?: readonly string[];
  /** Without it, its streams tell usage unasked. */
  readonly takesStreamOptions?: boolean;
  readonly stopSequencesMax?: number;
  readonly toolsMax?: number;
  readonly imagesMax?: number;
  readonly refusedParts?: readonly ContentKind[];
  /** The only kinds of tools beside functions, and of content (`content:KIND`), that it knows. */
  readonly providerTools?: readonly string[];
  /** `no_subset`: it knows no `allowed_tools`. `ignored`: the model calls what it likes. */
  readonly toolChoice?: 'no_subset' | 'ignored';
  readonly messages?: MessageQuirks;
  /** False: it makes no embeddings. */
  readonly hasEmbeddings?: boolean;
  /** It takes names of tools that are longer than 64 characters. */
  readonly takesLongToolNames?: boolean;
  /** What its errors mean where its kin means another thing; they are looked at first. */
  readonly errorRules?: readonly ErrorRule[];
};

/** `image_link`: an image that the service would have to fetch. `file`: a document that is no text. */
export type ContentKind = 'image' | 'image_link' | 'file' | 'audio';

export type MessageQuirks = {
  /** The only fields of a message that it takes. */
  readonly onlyFields?: readonly string[];
  readonly takesNames?: boolean;
  readonly takesDeveloperRole?: boolean;
  readonly echo?: ReasoningEcho;
  /** Ids of tool calls: exactly so many letters and digits. */
  readonly callIdLength?: number;
  /** What marks a last turn of the assistant as one to go on with. */
  readonly prefillMark?: JsonObject;
};

/** Which reasoning of its own it wants back with the history. */
export type ReasoningEcho = {
  /**
   * What its thoughts go by on their way through clients of other dialects; absent = these bring none back.
   * The place then holds plain text.
   */
  readonly service?: string;
  /** One of the fields of an assistant's turn, or `thinking` parts of its content. */
  readonly place: string;
  /** Only in turns that call tools. */
  readonly isForCallsAlone: boolean;
  /** A reasoning model refuses turns with calls that lack it; empty will do. */
  readonly isRequiredWithCalls: boolean;
};
