/** A map that forgets: entries expire, and the oldest leaves when there are too many. */

type Kept<Value> = { readonly value: Value; readonly atMs: number };

/** `set` alone renews an entry's age. Instants are monotonic ms. */
export class ExpiringMap<Value> {
  /** Oldest first, since `set` moves to the end. */
  readonly #entries = new Map<string, Kept<Value>>();
  readonly #entriesMax: number;
  readonly #keptMs: number;
  readonly #onDrop: (value: Value) => void;

  /** `onDrop` sees each value that leaves: expired, pushed out, replaced by another, or deleted. */
  constructor(
    bounds: { readonly entriesMax: number; readonly keptMs: number },
    onDrop: (value: Value) => void = () => {},
  ) {
    this.#entriesMax = bounds.entriesMax;
    this.#keptMs = bounds.keptMs;
    this.#onDrop = onDrop;
  }

  /** Undefined from `keptMs` after the last `set` on. */
  get(key: string, nowMs: number): Value | undefined {
    const kept = this.#entries.get(key);
    return kept === undefined || this.#isExpired(kept, nowMs) ? undefined : kept.value;
  }

  set(key: string, value: Value, nowMs: number): void {
    const previous = this.#entries.get(key);
    this.#entries.delete(key);
    this.#entries.set(key, { value, atMs: nowMs });
    if (previous !== undefined && previous.value !== value) this.#onDrop(previous.value);
    this.#dropExpired(nowMs);
    if (this.#entries.size > this.#entriesMax) this.#dropOldest();
  }

  delete(key: string): void {
    const kept = this.#entries.get(key);
    if (kept === undefined) return;
    this.#entries.delete(key);
    this.#onDrop(kept.value);
  }

  /** How many are kept now. */
  size(nowMs: number): number {
    this.#dropExpired(nowMs);
    return this.#entries.size;
  }

  /** What is kept now, oldest first. */
  entries(nowMs: number): readonly (readonly [string, Value])[] {
    this.#dropExpired(nowMs);
    return [...this.#entries].map(([key, kept]) => [key, kept.value] as const);
  }

  #isExpired(kept: Kept<Value>, nowMs: number): boolean {
    return nowMs - kept.atMs >= this.#keptMs;
  }

  #dropExpired(nowMs: number): void {
    for (const [key, kept] of this.#entries) {
      if (!this.#isExpired(kept, nowMs)) return;
      this.delete(key);
    }
  }

  #dropOldest(): void {
    const oldest = this.#entries.keys().next();
    if (oldest.done !== true) this.delete(oldest.value);
  }
}
