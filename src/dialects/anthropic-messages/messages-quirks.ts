/** How a service that serves this dialect's models differs from their own vendor: data, one table a service. */
import type { JsonObject } from '../../base/json.ts';

export type MessagesQuirks = {
  /** Whether the model is named in the body. */
  readonly namesModel: boolean;
  /** In every body. */
  readonly fixedFields: JsonObject;
  /** Client headers (lower case) that go into the body: lists under the names of these fields. */
  readonly headerFields: { readonly [header: string]: string };
  /** Whether it fetches images and documents by their links. */
  readonly fetchesLinks: boolean;
  readonly hasFileStore: boolean;
  /** Top-level fields whose meaning it has nothing for. */
  readonly refusedFields: readonly string[];
  /** Kinds of tools that it does not run. */
  readonly refusedTools: RegExp;
  /** Where tokens are counted, from the URL of a whole chat. */
  readonly countUrl: (chatUrl: string) => string;
};
