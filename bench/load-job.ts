/** What the load generator is told to do, and what it answers. Sent between processes as JSON. */

export type LoadJob = {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Connections, each with one request under way. */
  readonly concurrency: number;
  readonly durationMs: number;
  /** Requests a second, begun at even intervals; null = as fast as each connection allows. */
  readonly perSecond: number | null;
};

export type LoadResult = {
  /** Answers with status 200, read to their end. */
  readonly served: number;
  readonly failed: number;
  /** The first failure, in words. */
  readonly firstFailure: string | null;
  readonly elapsedMs: number;
  readonly bytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};
