/** What can be wrong with the database, told apart by what the operator does about it. */

export type StoreFault = {
  readonly kind: /** The directory or file cannot be written (permissions, read-only disk, missing mount). */
    | 'unwritable'
    /** The file is no database, or is damaged. */
    | 'corrupt'
    /** Another program holds a lock on it; it may go away. */
    | 'locked'
    /** The disk is full. */
    | 'full'
    /** A later version of the product made it. */
    | 'newer'
    /** Another gateway serves from this data directory. */
    | 'in_use'
    /** The writer thread ended; the next request starts another. */
    | 'writer_died'
    | 'other';
  /** What failed and what to do; names the file, holds no data. */
  readonly message: string;
};

const kindByCode: readonly (readonly [RegExp, StoreFault['kind']])[] = [
  [/^SQLITE_(BUSY|LOCKED)/, 'locked'],
  [/^SQLITE_(CORRUPT|NOTADB|FORMAT)/, 'corrupt'],
  [/^SQLITE_FULL|^ENOSPC$|^EDQUOT$/, 'full'],
  [/^SQLITE_(READONLY|CANTOPEN|PERM)|^(EACCES|EPERM|EROFS|ENOTDIR|EEXIST|ENOENT)$/, 'unwritable'],
];

const adviceByKind: { readonly [kind in StoreFault['kind']]: string } = {
  unwritable: 'give this user write access to the directory, or choose another with --data',
  corrupt: 'move the file away (and its -wal and -shm) and restart, or restore a copy of it',
  locked: 'another program holds it: end that program, or wait',
  full: 'free space on its disk',
  newer: 'a later version made it: run that version or later, or restore an older copy',
  in_use: 'another gateway serves from this directory: stop it, or choose another with --data',
  writer_died: 'the writer is started again',
  other: 'see the code',
};

/** Reads the kind from the error's code (SQLite's or the system's). */
export function storeFaultOf(error: unknown, file: string): StoreFault {
  const code = codeOf(error);
  const kind = kindByCode.find(([pattern]) => pattern.test(code))?.[1] ?? 'other';
  return faultOfKind(kind, file, code);
}

/** `detail` is a machine word such as an error code; '' = none. */
export function faultOfKind(kind: StoreFault['kind'], file: string, detail: string): StoreFault {
  const told = detail === '' ? '' : ` (${detail})`;
  return {
    kind,
    message: `database ${file} is ${wordsByKind[kind]}${told}: ${adviceByKind[kind]}`,
  };
}

const wordsByKind: { readonly [kind in StoreFault['kind']]: string } = {
  unwritable: 'not writable',
  corrupt: 'damaged or no database',
  locked: 'locked',
  full: 'out of space',
  newer: 'too new',
  in_use: 'in use',
  writer_died: 'without a writer',
  other: 'out of order',
};

/** The query builder wraps what the driver threw. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const code: unknown = (error as { code?: unknown }).code;
  if (typeof code === 'string') return code;
  return error.cause === undefined ? error.name : codeOf(error.cause);
}
