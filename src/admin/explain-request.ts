/** `POST /admin/v1/explain`: who would be asked, with which words, and who would not; nothing is sent. */
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { ClientDialect } from '../dialects/dialect.ts';
import type { Engine } from '../engine/failover.ts';
import type { Origins } from '../engine/origins.ts';
import { CallDraft } from '../pipeline/call-draft.ts';
import { readRequest } from '../pipeline/read-request.ts';
import type { Rejection } from '../pipeline/rejection.ts';
import type { Snapshot } from '../routing/snapshot.ts';

export type ExplainQuestion = {
  /** The client protocol of the body; null = the first there is. */
  readonly protocol: string | null;
  /** For protocols that name the tier in the path; null = the body names it. */
  readonly tier: string | null;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
};

export type ExplainResult =
  | { readonly kind: 'explained'; readonly explanation: JsonObject }
  /** The request would be refused before anyone is asked, with these words. */
  | { readonly kind: 'rejected'; readonly rejection: Rejection }
  | { readonly kind: 'unknown_protocol'; readonly known: readonly string[] };

export type ExplainRequest = (question: ExplainQuestion) => ExplainResult;

export function createExplainRequest(ports: {
  readonly engine: Pick<Engine, 'explain'>;
  readonly origins: Origins;
  readonly clock: Clock;
  readonly snapshot: () => Snapshot;
  readonly dialects: ReadonlyMap<string, ClientDialect>;
}): ExplainRequest {
  return ({ protocol, tier, headers, body }) => {
    const known = [...ports.dialects.keys()];
    const dialect = ports.dialects.get(protocol ?? known[0] ?? '');
    if (dialect === undefined) return { kind: 'unknown_protocol', known };
    const snapshot = ports.snapshot();
    const call = {
      dialect,
      tierInPath: tier,
      headers,
      body,
      arrivedAtMs: ports.clock.monotonicMs(),
      signal: new AbortController().signal,
      keyId: null,
    };
    const request = readRequest(new CallDraft(call, snapshot, ports.clock), ports.origins);
    if (!request.ok) return { kind: 'rejected', rejection: request.fault };
    const { candidates, skipped } = ports.engine.explain(request.value);
    return {
      kind: 'explained',
      explanation: {
        tier: request.value.tier.name,
        config_version: snapshot.version,
        candidates: candidates.map(({ target, variant, renderedSystem, dropped }) => ({
          target,
          variant,
          rendered_system: renderedSystem,
          dropped,
        })),
        skipped,
      },
    };
  };
}
