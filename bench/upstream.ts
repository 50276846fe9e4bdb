/** The simulated upstream, a process of its own. */
export type UpstreamFacts = {
  readonly chatOrigin: string;
  readonly messagesOrigin: string;
  readonly slowOrigin: string;
};
