/** `DATA/served.spill`: where rows go while the database takes none. One write a row, so `kill -9` loses none. */
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

export const spillName = 'served.spill';
const sealedName = /^served\.spill\.(\d{6,})$/;

/** The spill never takes more of the disk than this, bytes; beyond it rows are lost, and counted. */
const spillBytesMax = 1024 * 1024 * 1024;

export type SealedSpill = {
  /** The oldest first. */
  readonly paths: readonly string[];
  readonly bytes: number;
};

export type Spill = {
  /** Appends one line (with its line break); false when it is not whole on disk. */
  readonly append: (line: string) => boolean;
  /** Closes the open file under a name of its own; tells what is closed and not removed. Null = try later. */
  readonly seal: () => SealedSpill | null;
  /** After all of a sealed file has been imported; false when it could not be removed. */
  readonly remove: (path: string) => boolean;
  readonly close: () => void;
};

/** Touches no file before the first call. `bytesMax` bounds the open file and the sealed ones together. */
export function openSpill(directory: string, bytesMax: number = spillBytesMax): Spill {
  return new SpillFile(directory, bytesMax);
}

class SpillFile implements Spill {
  readonly #directory: string;
  readonly #path: string;
  readonly #bytesMax: number;
  #file: number | null = null;
  #openBytes = 0;
  #sealedBytes = 0;
  /** The last write was cut short: the next line begins on a line of its own. */
  #isTorn = false;

  constructor(directory: string, bytesMax: number) {
    this.#directory = directory;
    this.#path = join(directory, spillName);
    this.#bytesMax = bytesMax;
  }

  readonly append = (line: string): boolean => {
    try {
      const file = this.#openFile();
      const bytes = Buffer.from(this.#isTorn ? `\n${line}` : line);
      if (this.#openBytes + this.#sealedBytes + bytes.length > this.#bytesMax) return false;
      const written = writeSync(file, bytes);
      this.#openBytes += written;
      this.#isTorn = written < bytes.length;
      return !this.#isTorn;
    } catch {
      /** The disk is full or gone: the caller counts the row. */
      return false;
    }
  };

  readonly seal = (): SealedSpill | null => {
    try {
      this.close();
      const names = this.#sealedNames();
      const next = numberOf(names.at(-1) ?? '') + 1;
      if (sizeOf(this.#path) > 0) {
        const name = `${spillName}.${String(next).padStart(6, '0')}`;
        renameSync(this.#path, join(this.#directory, name));
        names.push(name);
      }
      const paths = names.map((name) => join(this.#directory, name));
      this.#sealedBytes = paths.reduce((sum, path) => sum + sizeOf(path), 0);
      return { paths, bytes: this.#sealedBytes };
    } catch {
      /** The directory is gone or not readable: what lies there waits. */
      return null;
    }
  };

  readonly remove = (path: string): boolean => {
    try {
      const bytes = sizeOf(path);
      unlinkSync(path);
      this.#sealedBytes -= bytes;
      return true;
    } catch {
      /** It is imported again later, which changes nothing. */
      return false;
    }
  };

  readonly close = (): void => {
    const file = this.#file;
    this.#file = null;
    this.#openBytes = 0;
    if (file !== null) closeSync(file);
  };

  /** What an earlier process left may end in half a line. */
  #openFile(): number {
    if (this.#file !== null) return this.#file;
    this.#file = openSync(this.#path, 'a', 0o600);
    this.#openBytes = fstatSync(this.#file).size;
    this.#isTorn = this.#openBytes > 0;
    return this.#file;
  }

  #sealedNames(): string[] {
    return readdirSync(this.#directory)
      .filter((name) => sealedName.test(name))
      .sort((left, right) => numberOf(left) - numberOf(right));
  }
}

function numberOf(name: string): number {
  return Number(sealedName.exec(name)?.[1] ?? 0);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
