/** Instants of marks in the order they came: bounded, searchable, without an object per mark. */

const capacityFirst = 64;
/** Beyond this the oldest mark is forgotten: at 1,000 marks a second the window is then a minute long. */
export const marksMax = 65_536;

/** Times never fall and orders always rise, so that both are found by halving. Index 0 is the oldest. */
export class MarkRing {
  #times = new Float64Array(capacityFirst);
  #orders = new Float64Array(capacityFirst);
  #head = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(atMs: number, order: number): void {
    if (this.#size === this.#times.length) this.#grow();
    if (this.#size === marksMax) this.#drop(1);
    const slot = this.#slot(this.#size);
    this.#times[slot] = atMs;
    this.#orders[slot] = order;
    this.#size += 1;
  }

  timeAt(index: number): number {
    return this.#times[this.#slot(index)] ?? Number.NaN;
  }

  orderAt(index: number): number {
    return this.#orders[this.#slot(index)] ?? Number.NaN;
  }

  /** How many marks are at least as young as `sinceMs`. */
  countSince(sinceMs: number): number {
    return this.#size - this.#firstIndex((index) => this.timeAt(index) >= sinceMs);
  }

  /** Forgets marks older than `sinceMs`. */
  dropBefore(sinceMs: number): void {
    this.#drop(this.#size - this.countSince(sinceMs));
  }

  /** Takes the mark of that order out, when it is still there. */
  remove(order: number): void {
    const found = this.#firstIndex((index) => this.orderAt(index) >= order);
    if (found === this.#size || this.orderAt(found) !== order) return;
    for (let index = found; index < this.#size - 1; index += 1) {
      this.#times[this.#slot(index)] = this.timeAt(index + 1);
      this.#orders[this.#slot(index)] = this.orderAt(index + 1);
    }
    this.#size -= 1;
  }

  clear(): void {
    this.#head = 0;
    this.#size = 0;
  }

  /** The capacity is a power of two, so a mask does for a remainder. */
  #slot(index: number): number {
    return (this.#head + index) & (this.#times.length - 1);
  }

  #drop(count: number): void {
    this.#head = this.#slot(count);
    this.#size -= count;
  }

  /** The first index for which `holds` is true, given that it stays true from there; the size if none. */
  #firstIndex(holds: (index: number) => boolean): number {
    let low = 0;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (holds(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #grow(): void {
    if (this.#times.length === marksMax) return;
    const times = new Float64Array(this.#times.length * 2);
    const orders = new Float64Array(this.#times.length * 2);
    for (let index = 0; index < this.#size; index += 1) {
      times[index] = this.timeAt(index);
      orders[index] = this.orderAt(index);
    }
    this.#times = times;
    this.#orders = orders;
    this.#head = 0;
  }
}
