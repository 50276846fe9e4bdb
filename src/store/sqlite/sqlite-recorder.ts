/**
 * The served-by log's writer. Rows queue here and go to the writer thread in natural batches: whatever
 * came while the last one was committed. When a commit takes too long the log is degraded, and rows go
 * to the spill until commits succeed again.
 */
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log-port.ts';
import type { RequestTrace } from '../../engine/trace.ts';
import { rowsOf } from '../../served-by/record.ts';
import type { Recorder, RecordOutcome } from '../../served-by/recorder.ts';
import { MarkerWatch, type Started } from './marker-watch.ts';
import type { Spill } from './spill-file.ts';
import { importSpill } from './spill-recovery.ts';
import type { StoreFault } from './store-fault.ts';
import { encodeRows, type ServedColumns } from './writer/row-codec.ts';
import { spillLineOfMarker, spillLineOfRows } from './writer/spill-format.ts';
import type { Marker, WriterReply } from './writer/writer-protocol.ts';
import type { Writer } from './writer/writer-thread.ts';

export type SqliteRecorderOptions = {
  /** Brings the database's schema up to date, or tells what is in the way. Called before the writer opens it. */
  readonly prepare: () => StoreFault | null;
  readonly writer: Writer;
  readonly columns: ServedColumns;
  readonly spill: Spill;
  /** Names this process in markers: those of any other are of the dead. */
  readonly instance: string;
  /** How long an answer waits for its commit; read for each row, since the config may change it. */
  readonly commitWaitMs: () => number;
  /** Rows that may wait; reached only when the database stalls. Default 20,000. */
  readonly waitingRowsMax?: number;
  readonly log: Log;
  readonly clock: Clock;
};

export type RecorderCounts = {
  readonly committed: number;
  readonly spilled: number;
  readonly lost: number;
  /** Batches committed: `committed / batches` tells how well they group. */
  readonly batches: number;
  /** Rows that wait for a commit. */
  readonly waiting: number;
};

type Entry = {
  readonly line: string;
  /** The request's id when a marker of it is to be deleted. */
  readonly endedId: string | null;
  readonly queuedAtMs: number;
  readonly settle: (outcome: RecordOutcome) => void;
};

type Batch = {
  readonly entries: readonly Entry[];
  readonly markers: readonly Marker[];
  readonly isSecondTry: boolean;
};

/**
 * `catching_up`: rows queue as when healthy, but wait until the last of the spill is imported.
 * `degraded`: rows are spilled.
 */
type State =
  | { readonly kind: 'healthy' }
  | { readonly kind: 'catching_up'; readonly reason: string }
  | { readonly kind: 'degraded'; readonly reason: string };

/** Rows a batch: a commit of so many takes some 10 ms. */
const batchRowsMax = 500;
const defaultWaitingRowsMax = 20_000;
/** Turns of the event loop without a new row, after which what was gathered goes. */
const quietTurnsMax = 3;
const gatherMs = 4;
const gatheredRowsMax = 64;
const recoverEveryMs = 1_000;
/** Spilled bytes that live rows may wait for: their import takes some 10 ms. */
const lastStretchBytes = 256 * 1024;
const closeWaitMs = 5_000;

export class SqliteRecorder implements Recorder {
  readonly #options: SqliteRecorderOptions;
  readonly #watch: MarkerWatch;
  readonly #waitingRowsMax: number;
  #state: State = { kind: 'catching_up', reason: 'starting' };
  #queue: Entry[] = [];
  #markers: Marker[] = [];
  #inFlight: Batch | null = null;
  #isGathering = false;
  #cancelOverrun: CancelTimer | null = null;
  #overdue: Entry | null = null;
  #cancelRecovery: CancelTimer | null = null;
  #isRecovering = false;
  #isAlerted = false;
  #isClosed = false;
  #onIdle: (() => void) | null = null;
  #committed = 0;
  #spilled = 0;
  #lost = 0;
  #batches = 0;

  constructor(options: SqliteRecorderOptions) {
    this.#options = options;
    this.#waitingRowsMax = options.waitingRowsMax ?? defaultWaitingRowsMax;
    this.#watch = new MarkerWatch(options.clock, (started) => this.#mark(started));
  }

  /** Opens the database and imports what an earlier process spilled or left marked; then healthy or degraded. */
  start(): Promise<void> {
    return this.#recover();
  }

  readonly begin = (started: Started): void => {
    if (!this.#isClosed) this.#watch.begin(started);
  };

  readonly record = (trace: RequestTrace): Promise<RecordOutcome> => {
    const endedId = this.#watch.end(trace.id) === 'marked' ? trace.id : null;
    const line = encodeRows(this.#options.columns, rowsOf(trace));
    if (this.#isClosed || this.#state.kind === 'degraded') {
      return Promise.resolve(this.#spillRows(line));
    }
    return new Promise((settle) => {
      const queuedAtMs = this.#options.clock.monotonicMs();
      this.#queue.push({ line, endedId, queuedAtMs, settle });
      if (this.#queue.length > this.#waitingRowsMax) this.#degrade('more rows wait than may');
      else this.#flushSoon();
    });
  };

  readonly degradedReason = (): string | null =>
    this.#state.kind === 'healthy' ? null : this.#state.reason;

  readonly isHealthy = (): boolean => this.#state.kind === 'healthy';

  readonly counts = (): RecorderCounts => ({
    committed: this.#committed,
    spilled: this.#spilled,
    lost: this.#lost,
    batches: this.#batches,
    waiting: this.#queue.length + (this.#inFlight?.entries.length ?? 0),
  });

  readonly close = async (): Promise<void> => {
    if (this.#isClosed) return;
    this.#watch.stop();
    await this.#flushed();
    this.#isClosed = true;
    this.#cancelRecovery?.();
    this.#cancelOverrun?.();
    this.#spillAll();
    this.#options.spill.close();
    await this.#within(closeWaitMs, this.#options.writer.close());
  };

  #mark(started: readonly Started[]): void {
    const { instance } = this.#options;
    for (const { id, clientRequestId = null, startedAtMs, tier, keyId } of started) {
      const marker = { id, instance, clientRequestId, startedAtMs, tier, keyId };
      if (this.#state.kind === 'degraded') this.#options.spill.append(spillLineOfMarker(marker));
      else this.#markers.push(marker);
    }
    this.#flushSoon();
  }

  /**
   * Not at once: each batch costs both threads as much as some ten rows. While turns of the event loop
   * bring rows, they are gathered; when some turns in a row bring none, or it has taken long enough, they
   * go. An idle loop turns within microseconds, so a lone row hardly waits.
   */
  #flushSoon(): void {
    this.#watchOverrun();
    if (this.#isGathering || this.#inFlight !== null) return;
    this.#isGathering = true;
    this.#gather({ sinceMs: this.#options.clock.monotonicMs(), quietTurns: 0, seen: 0 });
  }

  #gather(so: {
    readonly sinceMs: number;
    readonly quietTurns: number;
    readonly seen: number;
  }): void {
    setImmediate(() => {
      const seen = this.#queue.length;
      const quietTurns = seen > so.seen ? 0 : so.quietTurns + 1;
      const tookMs = this.#options.clock.monotonicMs() - so.sinceMs;
      if (quietTurns < quietTurnsMax && seen < gatheredRowsMax && tookMs < gatherMs) {
        this.#gather({ sinceMs: so.sinceMs, quietTurns, seen });
        return;
      }
      this.#isGathering = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#state.kind !== 'healthy' || this.#inFlight !== null) return;
    if (this.#queue.length === 0 && this.#markers.length === 0) {
      this.#onIdle?.();
      return;
    }
    const isWhole = this.#queue.length <= batchRowsMax;
    const entries = isWhole ? this.#queue : this.#queue.splice(0, batchRowsMax);
    if (isWhole) this.#queue = [];
    const markers = this.#markers;
    this.#markers = [];
    this.#send({ entries, markers, isSecondTry: false });
  }

  #send(batch: Batch): void {
    this.#inFlight = batch;
    const rows = batch.entries.map(({ line }) => line);
    const ended = batch.entries.flatMap(({ endedId }) => (endedId === null ? [] : [endedId]));
    void this.#options.writer
      .ask({ kind: 'commit', rows, markers: batch.markers, ended })
      .then((reply) => this.#onReply(batch, reply));
  }

  #onReply(batch: Batch, reply: WriterReply<'commit'>): void {
    /** Its rows went to the spill meanwhile; the import leaves alone what this commit brought. */
    if (this.#inFlight !== batch) return;
    if (!reply.ok) {
      if (reply.fault.kind === 'writer_died' && !batch.isSecondTry) {
        this.#options.log.warn('the served-by writer ended and is started again');
        this.#send({ ...batch, isSecondTry: true });
        return;
      }
      this.#degrade(reply.fault.message);
      return;
    }
    this.#inFlight = null;
    this.#batches += 1;
    const refused = new Set(reply.value.map(({ at }) => at));
    for (const [at, { settle }] of batch.entries.entries()) {
      settle(refused.has(at) ? 'lost' : 'committed');
    }
    this.#committed += batch.entries.length - refused.size;
    for (const { message } of reply.value) this.#countLost(1, message);
    if (this.#queue.length + this.#markers.length > 0) this.#flushSoon();
    else this.#onIdle?.();
  }

  /** One timer for the oldest row that waits. */
  #watchOverrun(): void {
    this.#cancelOverrun ??= this.#options.clock.schedule(this.#options.commitWaitMs(), () =>
      this.#checkOverrun(),
    );
  }

  #checkOverrun(): void {
    this.#cancelOverrun = null;
    const oldest = this.#inFlight?.entries[0] ?? this.#queue[0] ?? null;
    if (oldest === null) return;
    const waitMs = this.#options.commitWaitMs();
    const leftMs = oldest.queuedAtMs + waitMs - this.#options.clock.monotonicMs();
    if (leftMs <= 0 && this.#overdue === oldest) {
      this.#degrade(`a commit took longer than ${waitMs} ms`);
      return;
    }
    /** A busy event loop sees its timers before the messages that came in time: one more turn. */
    if (leftMs <= 0) this.#overdue = oldest;
    this.#cancelOverrun = this.#options.clock.schedule(Math.max(1, leftMs), () =>
      this.#checkOverrun(),
    );
  }

  #degrade(reason: string): void {
    this.#state = { kind: 'degraded', reason };
    if (!this.#isAlerted) {
      this.#isAlerted = true;
      this.#options.log.error('the served-by log is degraded: rows go to the spill', {
        alert: 'log_degraded',
        reason,
      });
    }
    this.#spillAll();
    this.#recoverLater();
  }

  /** Everything that waits, in order: the import must see a marker before the row that ends it. */
  #spillAll(): void {
    const batch = this.#inFlight;
    this.#inFlight = null;
    const markers = [...(batch?.markers ?? []), ...this.#markers];
    const entries = [...(batch?.entries ?? []), ...this.#queue];
    this.#markers = [];
    this.#queue = [];
    for (const marker of markers) this.#options.spill.append(spillLineOfMarker(marker));
    for (const { line, settle } of entries) settle(this.#spillRows(line));
  }

  #spillRows(line: string): RecordOutcome {
    if (this.#options.spill.append(spillLineOfRows(line))) {
      this.#spilled += 1;
      return 'spilled';
    }
    this.#countLost(1, 'the spill could not be written');
    return 'lost';
  }

  #countLost(count: number, reason: string): void {
    this.#lost += count;
    this.#options.log.error('rows of the served-by log are lost', {
      alert: 'row_lost',
      count,
      total: this.#lost,
      reason,
    });
  }

  #recoverLater(): void {
    if (this.#isRecovering || this.#isClosed) return;
    this.#cancelRecovery?.();
    this.#cancelRecovery = this.#options.clock.schedule(recoverEveryMs, () => {
      this.#cancelRecovery = null;
      void this.#recover();
    });
  }

  /** Imports the spill until so little is left that live rows may wait for it; then they take its place. */
  async #recover(): Promise<void> {
    if (this.#isRecovering) return;
    this.#isRecovering = true;
    const fault = await this.#importAll();
    this.#isRecovering = false;
    if (this.#isClosed) return;
    if (fault !== null) {
      this.#degrade(fault);
    } else if (this.#state.kind === 'degraded') {
      this.#recoverLater();
    } else {
      this.#state = { kind: 'healthy' };
      if (this.#isAlerted) this.#options.log.info('the served-by log is healthy again');
      this.#isAlerted = false;
      this.#flush();
    }
  }

  /** Null when nothing is left and rows queue; else what failed. */
  async #importAll(): Promise<string | null> {
    const { spill, writer, log, instance } = this.#options;
    const unprepared = this.#options.prepare();
    if (unprepared !== null) return unprepared.message;
    const checked = await writer.ask({ kind: 'check', instance });
    if (!checked.ok) return checked.fault.message;
    for (;;) {
      const sealed = spill.seal();
      if (sealed === null) return 'the spill cannot be read';
      if (sealed.bytes <= lastStretchBytes && this.#state.kind === 'degraded') {
        this.#state = { kind: 'catching_up', reason: this.#state.reason };
      }
      const imported = await importSpill({
        writer,
        spill,
        paths: sealed.paths,
        isStopped: () => this.#isClosed,
      });
      if (!imported.ok) return imported.fault;
      if (imported.value.unreadable > 0) {
        this.#countLost(imported.value.unreadable, 'lines of the spill cannot be read');
      }
      if (this.#isClosed) return null;
      if (this.#state.kind !== 'degraded') break;
    }
    const adopted = await writer.ask({ kind: 'adopt', instance });
    if (!adopted.ok) return adopted.fault.message;
    if (adopted.value > 0)
      log.warn('requests of an earlier process ended with it', { lost: adopted.value });
    return null;
  }

  /** Resolves when nothing waits, or what waits was spilled, or the time is up. */
  async #flushed(): Promise<void> {
    if (this.#state.kind === 'degraded') return;
    if (this.#queue.length === 0 && this.#markers.length === 0 && this.#inFlight === null) return;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    this.#flush();
    await this.#within(closeWaitMs, idle);
    this.#onIdle = null;
  }

  async #within(limitMs: number, task: Promise<void>): Promise<void> {
    let cancel: CancelTimer = () => undefined;
    const limit = new Promise<void>((resolve) => {
      cancel = this.#options.clock.schedule(limitMs, resolve);
    });
    await Promise.race([task, limit]);
    cancel();
  }
}
