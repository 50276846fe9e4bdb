/** What the HTTP edge is built from, and what it offers to whoever starts it. */
import type { Access } from '../admin/access.ts';
import type { TargetAdmin } from '../admin/target-admin.ts';
import type { TierAdmin } from '../admin/tier-admin.ts';
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { Log } from '../base/log-port.ts';
import type { Result } from '../base/result.ts';
import type { ClientDialect } from '../dialects/dialect.ts';
import type { Pipeline } from '../pipeline/answer.ts';
import type { Snapshot } from '../routing/snapshot.ts';
import type { ServedQuery } from '../served-by/served-query.ts';
import type { Questions } from './control/question-routes.ts';

/** `unavailable` only when this process cannot answer requests at all; a sick database is `degraded`. */
export type Readiness = {
  readonly status: 'ok' | 'degraded' | 'unavailable';
  /** Status words without addresses or secrets: `/readyz` is open. */
  readonly reasons: readonly string[];
};

export type HttpServerOptions = {
  readonly pipeline: Pipeline;
  readonly snapshot: () => Snapshot;
  readonly dialects: readonly ClientDialect[];
  readonly access: Access;
  readonly served: ServedQuery;
  readonly tierAdmin: TierAdmin;
  readonly targetAdmin: TargetAdmin;
  readonly questions: Questions;
  /** The body of `GET /admin/v1/status`. */
  readonly status: () => JsonObject;
  readonly readiness: () => Readiness;
  readonly log: Log;
  readonly clock: Clock;
  /** A client whose socket takes nothing for so long while bytes wait is gone. Default 30,000. */
  readonly clientStallMs?: number;
  readonly arrival?: ArrivalLimits;
};

/** How long a request may take to arrive, ms; nothing here bounds an answer. */
export type ArrivalLimits = {
  /** Its head; default 20,000. */
  readonly headMs: number;
  /** All of it; default 120,000. */
  readonly wholeMs: number;
  /** How often the two are looked at; default 5,000. */
  readonly lookMs: number;
};

export type ListenFault = {
  readonly code: 'in_use' | 'not_allowed' | 'no_such_address' | 'other';
  readonly message: string;
};

export type DrainReport = {
  /** Requests cut because the time was up. */
  readonly cut: number;
};

export type HttpServer = {
  /** Port 0 takes any free one. `origin` is what a client on this machine uses. */
  readonly listen: (address: {
    readonly host: string;
    readonly port: number;
  }) => Promise<Result<{ readonly origin: string; readonly port: number }, ListenFault>>;
  /**
   * Not ready from now on and still serving for `delayMs`; then accepts nothing, lets what runs finish
   * for `timeoutMs`, cuts the rest with an error and waits until the pipeline is empty.
   */
  readonly drain: (limits: {
    readonly delayMs: number;
    readonly timeoutMs: number;
  }) => Promise<DrainReport>;
  /** Ends at once: sockets are destroyed, requests aborted. */
  readonly close: () => Promise<void>;
};
