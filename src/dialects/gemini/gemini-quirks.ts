/** How a service that serves this dialect's models differs from the vendor's first one: data. */
export type GeminiQuirks = {
  /** Whether it fetches what lies behind a link of the web, given what kind of thing that is. */
  readonly fetchesLinks: boolean;
  /** Whether ids of the vendor's file store mean something to it. */
  readonly hasFileStore: boolean;
  /** Whether a chat whose tokens are counted is sent whole, in a field of its own. */
  readonly wrapsCountedChat: boolean;
};

export const ownQuirks: GeminiQuirks = {
  fetchesLinks: false,
  hasFileStore: true,
  wrapsCountedChat: true,
};
