/** What passes between the main thread and the writer thread. */
import type { Result } from '../../../base/result.ts';
import type { StoreFault } from '../store-fault.ts';

export type Marker = {
  readonly id: string;
  /** The process that serves the request. */
  readonly instance: string;
  readonly clientRequestId: string | null;
  readonly startedAtMs: number;
  readonly tier: string;
  readonly keyId: string | null;
};

export type Batch = {
  /** As `encodeRows` makes them. */
  readonly rows: readonly string[];
  readonly markers: readonly Marker[];
  /** Requests whose marker goes: their row is in this batch or before it. */
  readonly ended: readonly string[];
};

/** Which account made what has this id. */
export type OriginRow = {
  readonly id: string;
  readonly target: string;
  readonly provider: string;
  readonly keyAlias: string | null;
  readonly isKept: boolean;
  readonly madeAtMs: number;
};

export type WriterRequest =
  /** Opens the database and writes to it, or tells why not; every other request opens it too. */
  | { readonly kind: 'check'; readonly instance: string }
  | ({ readonly kind: 'commit' } & Batch)
  /** Imports one portion of a sealed spill file, from a byte offset. */
  | { readonly kind: 'import'; readonly path: string; readonly offset: number }
  /** Makes rows `lost` of markers that other processes left. */
  | { readonly kind: 'adopt'; readonly instance: string }
  | { readonly kind: 'note_origins'; readonly rows: readonly OriginRow[] }
  /** Deletes one portion of the rows that began before `beforeMs`, and of older origins. */
  | { readonly kind: 'prune'; readonly beforeMs: number; readonly originsBeforeMs: number }
  /** Enters one portion of the newest rows' ids into `request_keys`. */
  | { readonly kind: 'index' }
  /** Writes the write-ahead log back into the database file as far as nobody is in the way. */
  | { readonly kind: 'checkpoint' };

export type ImportStep = {
  /** Where the next portion begins. */
  readonly offset: number;
  readonly isDone: boolean;
  /** Lines that hold no rows: a write that the disk cut short. */
  readonly unreadable: number;
};

/** A row that the database refuses for what it holds; `at` counts from 0 within the batch. */
export type RefusedRow = { readonly at: number; readonly message: string };

export type WriterReplies = {
  readonly check: null;
  readonly commit: readonly RefusedRow[];
  readonly import: ImportStep;
  readonly adopt: number;
  readonly note_origins: null;
  /** Whether rows of that age are left. */
  readonly prune: { readonly deleted: number; readonly isDone: boolean };
  readonly index: { readonly isDone: boolean };
  /** Pages in the write-ahead log, and how many of them are written back. */
  readonly checkpoint: { readonly pages: number; readonly writtenBack: number };
};

export type WriterReply<Kind extends keyof WriterReplies> = Result<WriterReplies[Kind], StoreFault>;

/** One message to the thread; `number` comes back with the reply. Null asks it to close and end. */
export type ToWriter = { readonly number: number; readonly request: WriterRequest } | null;
export type FromWriter = {
  readonly number: number;
  readonly reply: WriterReply<keyof WriterReplies>;
};
