/** How a service that serves this dialect's models differs from the vendor's first one: data. */
import { fetchesLinks } from './model-family.ts';

export type GeminiQuirks = {
  /** Whether `model` is given what lies behind a link of the web, when told what kind of thing that is. */
  readonly fetchesLinks: (model: string) => boolean;
  /** Whether ids of the vendor's file store mean something to it. */
  readonly hasFileStore: boolean;
  /** Whether a chat whose tokens are counted is sent whole, in a field of its own. */
  readonly wrapsCountedChat: boolean;
};

export const ownQuirks: GeminiQuirks = {
  fetchesLinks,
  hasFileStore: true,
  wrapsCountedChat: true,
};
