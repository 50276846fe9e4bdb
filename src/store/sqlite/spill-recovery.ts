/** Brings spilled rows back into the database. */
import { fail, type Result, success } from '../../base/result.ts';
import type { Spill } from './spill-file.ts';
import type { Writer } from './writer/writer-thread.ts';

/**
 * Imports sealed files, the oldest first, and removes each when all of it is committed. Portions take
 * turns with live batches. The fault is in words; what was imported before it stays imported.
 */
export async function importSpill(input: {
  readonly writer: Writer;
  readonly spill: Spill;
  readonly paths: readonly string[];
  /** Asked between portions: true ends the import where it stands. */
  readonly isStopped: () => boolean;
}): Promise<Result<{ readonly unreadable: number }, string>> {
  let unreadable = 0;
  for (const path of input.paths) {
    let offset = 0;
    for (;;) {
      if (input.isStopped()) return success({ unreadable });
      const step = await input.writer.ask({ kind: 'import', path, offset });
      if (!step.ok) return fail(step.fault.message);
      offset = step.value.offset;
      unreadable += step.value.unreadable;
      if (step.value.isDone) break;
    }
    if (!input.spill.remove(path)) return fail('an imported spill file cannot be removed');
  }
  return success({ unreadable });
}
