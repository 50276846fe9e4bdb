/** The port through which the served-by log is read. */
import type { JsonObject } from '../base/json.ts';

/** Exact matches on columns; `from` <= started_at < `to` (epoch ms). Absent = any. */
export type ServedFilter = {
  readonly tier?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly target?: string;
  readonly variant?: string;
  readonly configVersion?: number;
  readonly outcome?: string;
  readonly errorClass?: string;
  readonly evalRun?: string;
  readonly runId?: string;
  readonly session?: string;
  readonly clientRequestId?: string;
  readonly upstreamRequestId?: string;
  readonly keyId?: string;
  readonly recovery?: string;
  readonly isFailedOver?: boolean;
  readonly fromMs?: number;
  readonly toMs?: number;
};

/** A row under its column names (6-log); times RFC 3339 with ms. */
export type ServedRow = JsonObject;

export type ServedPage = {
  readonly rows: readonly ServedRow[];
  readonly nextCursor: string | null;
};

export type ServedQuery = {
  /** Newest first. `cursor` from the page before; limit 1..1000. A cursor that is none of ours gives null. */
  readonly page: (input: {
    readonly filter: ServedFilter;
    readonly limit: number;
    readonly cursor: string | null;
  }) => ServedPage | null;
  /** One row with `attempts`, or null. */
  readonly byId: (id: string) => ServedRow | null;
  /** A key's own row by row id or client request id (the newest), with attempts. `keyId` null = no keys exist. */
  readonly ownRow: (input: {
    readonly id: string;
    readonly keyId: string | null;
  }) => ServedRow | null;
};
