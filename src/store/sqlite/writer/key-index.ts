/** Enters ids that others made into `request_keys`, in bulk. Runs in the writer thread. */
import type { Connection, Statement } from '../connection.ts';

/** The last `requests.seq` whose ids are entered; those after it are searched row by row. */
export const indexedThroughKey = 'request_keys_through';

/** Requests entered at a time, in one transaction that live rows wait for: some 10 ms. */
export const indexedAtATime = 1_000;

export class KeyIndex {
  readonly #lastSeq: Statement;
  readonly #through: Statement;
  readonly #setThrough: Statement;
  readonly #enter: Statement;
  readonly #remove: Statement;
  readonly #step: () => boolean;

  constructor(connection: Connection) {
    this.#lastSeq = connection.prepare(`select coalesce(max(seq), 0) from requests`).pluck();
    this.#through = connection
      .prepare(`select value from meta where key = '${indexedThroughKey}'`)
      .pluck();
    this.#setThrough = connection.prepare(
      `insert into meta (key, value) values ('${indexedThroughKey}', ?)
       on conflict (key) do update set value = excluded.value`,
    );
    this.#enter = connection.prepare(
      `insert into request_keys (key, request_seq)
       select client_request_id, seq from requests
       where seq > @after and seq <= @through and client_request_id is not null
       union select upstream_request_id, request_seq from attempts
       where request_seq > @after and request_seq <= @through and upstream_request_id is not null
       order by 1, 2 on conflict do nothing`,
    );
    this.#remove = connection.prepare(
      `delete from request_keys where request_seq = @seq and key in (
       select client_request_id from requests where seq = @seq
       union select upstream_request_id from attempts where request_seq = @seq)`,
    );
    this.#step = connection.transaction(() => this.#enterNext()).immediate;
  }

  /** Enters the next requests; true when none is left. */
  step(): boolean {
    return this.#step();
  }

  /** Within a transaction, before the request and its attempts are deleted. */
  remove(seq: number): void {
    this.#remove.run({ seq });
  }

  /** Within a transaction that deleted requests: a table emptied gives the same numbers again. */
  lowerToLast(): void {
    const last = Number(this.#lastSeq.get());
    if (last < this.#indexedThrough()) this.#setThrough.run(String(last));
  }

  #indexedThrough(): number {
    return Number(this.#through.get() ?? 0);
  }

  #enterNext(): boolean {
    const after = this.#indexedThrough();
    const last = Number(this.#lastSeq.get());
    const through = Math.min(last, after + indexedAtATime);
    if (through === after) return true;
    this.#enter.run({ after, through });
    this.#setThrough.run(String(through));
    return through === last;
  }
}
