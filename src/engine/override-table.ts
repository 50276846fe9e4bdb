/** What an operator has decided about a target: it beats the breaker, and shows in status and rows. */

export type OverrideState = 'auto' | 'drained' | 'forced';

export type Override = {
  readonly state: Exclude<OverrideState, 'auto'>;
  /** Wall-clock ms; null = until it is taken back. */
  readonly untilMs: number | null;
  readonly note: string | null;
};

const overridesMax = 10_000;

/** By target id. Instants are wall-clock ms: an operator names a time of day. */
export class OverrideTable {
  readonly #overrides = new Map<string, Override>();
  readonly #listeners = new Set<() => void>();

  /** `auto` takes an override back. False when the table is full. */
  set(target: string, state: OverrideState, details: Pick<Override, 'untilMs' | 'note'>): boolean {
    if (state === 'auto') this.#overrides.delete(target);
    else if (this.#overrides.size >= overridesMax && !this.#overrides.has(target)) return false;
    else this.#overrides.set(target, { state, ...details });
    for (const listener of [...this.#listeners]) listener();
    return true;
  }

  /** Null = none, or its time is over. */
  get(target: string, nowWallMs: number): Override | null {
    if (this.#overrides.size === 0) return null;
    const override = this.#overrides.get(target);
    if (override === undefined) return null;
    if (override.untilMs === null || override.untilMs > nowWallMs) return override;
    this.#overrides.delete(target);
    return null;
  }

  entries(): readonly (readonly [target: string, override: Override])[] {
    return [...this.#overrides];
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
