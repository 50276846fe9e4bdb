/** The load generator, a process of its own: takes a job from its parent, answers with the result. */
import { performance } from 'node:perf_hooks';
import { type LoadConnection, openLoadConnection, requestBytes } from './load-connection.ts';
import type { LoadJob, LoadResult } from './load-job.ts';
import { percentile } from './statistics.ts';

/** A side that fails is not measured to the end. */
const failuresMax = 100;

type Tally = { served: number; failed: number; firstFailure: string | null; bytes: number };

async function run(job: LoadJob): Promise<LoadResult> {
  const { port, host } = new URL(job.origin);
  const request = requestBytes({ host, path: job.path, headers: job.headers, body: job.body });
  const connections = Array.from({ length: job.concurrency }, () =>
    openLoadConnection(Number(port), request),
  );
  const tally: Tally = { served: 0, failed: 0, firstFailure: null, bytes: 0 };
  const latencies: number[] = [];
  const startedMs = performance.now();
  const endsMs = startedMs + job.durationMs;

  const once = async (connection: LoadConnection): Promise<void> => {
    const sentMs = performance.now();
    const { bytes, failure } = await connection.exchange();
    if (failure === null) {
      latencies.push(performance.now() - sentMs);
      tally.served += 1;
      tally.bytes += bytes;
    } else {
      tally.failed += 1;
      tally.firstFailure ??= failure;
    }
  };

  if (job.perSecond === null) {
    await Promise.all(
      connections.map(async (connection) => {
        do await once(connection);
        while (performance.now() < endsMs && tally.failed < failuresMax);
      }),
    );
  } else {
    await pace({ connections, once, perSecond: job.perSecond, endsMs });
  }
  const elapsedMs = performance.now() - startedMs;
  for (const connection of connections) connection.close();
  latencies.sort((a, b) => a - b);
  return {
    ...tally,
    elapsedMs,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

/** Begins requests at even intervals, whatever the answers take; waits for the last of them. */
async function pace(input: {
  readonly connections: readonly LoadConnection[];
  readonly once: (connection: LoadConnection) => Promise<void>;
  readonly perSecond: number;
  readonly endsMs: number;
}): Promise<void> {
  const idle = [...input.connections];
  const running = new Set<Promise<void>>();
  let dueMs = performance.now();
  while (dueMs < input.endsMs) {
    const connection = idle.pop();
    if (connection !== undefined) {
      const exchange = input.once(connection).then(() => {
        idle.push(connection);
        running.delete(exchange);
      });
      running.add(exchange);
    }
    dueMs += 1000 / input.perSecond;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  await Promise.all(running);
}

process.on('message', (job: LoadJob) => {
  run(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
