/**
 * Places in a text that grows, from one way of counting to another: JavaScript counts UTF-16 units,
 * others code points or the bytes of UTF-8.
 */

/** A stretch of characters that are all as long. `units` and `bytes` are those of one character. */
type Run = {
  readonly atUnit: number;
  readonly atPoint: number;
  readonly atByte: number;
  readonly units: number;
  readonly bytes: number;
};

type Count = 'atUnit' | 'atPoint' | 'atByte';

/** Until then a text is kept as it came: most are never asked about. */
const waitingUnitsMax = 65_536;

export class TextOffsets {
  readonly #runs: Run[] = [];
  #waiting: string[] = [];
  #waitingUnits = 0;
  /** Half of a character, whose other half may follow. */
  #half = '';
  #end = { atUnit: 0, atPoint: 0, atByte: 0 };
  #length = 0;

  /** In UTF-16 units. */
  get length(): number {
    return this.#length;
  }

  push(text: string): void {
    this.#length += text.length;
    this.#waiting.push(text);
    this.#waitingUnits += text.length;
    if (this.#waitingUnits > waitingUnitsMax) this.#count();
  }

  /** A place behind the end is the end, here and below. */
  toPoints(units: number): number {
    return this.#convert(units, 'atUnit', 'atPoint');
  }

  fromPoints(points: number): number {
    return this.#convert(points, 'atPoint', 'atUnit');
  }

  toBytes(units: number): number {
    return this.#convert(units, 'atUnit', 'atByte');
  }

  fromBytes(bytes: number): number {
    return this.#convert(bytes, 'atByte', 'atUnit');
  }

  #convert(place: number, from: Count, to: Count): number {
    this.#count();
    const total = this.#total();
    if (place >= total[from]) return total[to];
    const run = lastAtOrBefore(this.#runs, place, from);
    if (run === undefined) return 0;
    const characters = Math.floor((place - run[from]) / lengthIn(run, from));
    return run[to] + characters * lengthIn(run, to);
  }

  #total(): { readonly atUnit: number; readonly atPoint: number; readonly atByte: number } {
    if (this.#half === '') return this.#end;
    const { atUnit, atPoint, atByte } = this.#end;
    return { atUnit: atUnit + 1, atPoint: atPoint + 1, atByte: atByte + 3 };
  }

  #count(): void {
    if (this.#waiting.length === 0) return;
    let text = this.#half + this.#waiting.join('');
    this.#waiting = [];
    this.#waitingUnits = 0;
    this.#half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? '';
    if (this.#half !== '') text = text.slice(0, -1);
    for (let at = 0; at < text.length; ) {
      const point = text.codePointAt(at) ?? 0;
      this.#add(point > 0xffff ? 2 : 1, bytesOf(point));
      at += point > 0xffff ? 2 : 1;
    }
  }

  #add(units: number, bytes: number): void {
    const last = this.#runs.at(-1);
    if (last?.units !== units || last.bytes !== bytes) {
      this.#runs.push({ ...this.#end, units, bytes });
    }
    this.#end.atUnit += units;
    this.#end.atPoint += 1;
    this.#end.atByte += bytes;
  }
}

function lengthIn({ units, bytes }: Run, count: Count): number {
  switch (count) {
    case 'atUnit':
      return units;
    case 'atPoint':
      return 1;
    case 'atByte':
      return bytes;
  }
}

/** Half a character alone is written as U+FFFD, which takes three. */
function bytesOf(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

function lastAtOrBefore(runs: readonly Run[], place: number, count: Count): Run | undefined {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((runs[middle]?.[count] ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return runs[low - 1];
}
