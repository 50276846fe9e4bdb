/** Origins in memory; out of order where a test says so. */
import { fail, success } from '../../src/base/result.ts';
import type { Origin, Origins } from '../../src/engine/origins.ts';

export class MemoryOrigins implements Origins {
  readonly known = new Map<string, Origin>();
  isOutOfOrder = false;

  readonly find: Origins['find'] = (ids) => {
    if (this.isOutOfOrder) return fail('out of order');
    const found = ids.flatMap((id) => {
      const origin = this.known.get(id);
      return origin === undefined ? [] : [[id, origin] as const];
    });
    return success(new Map(found));
  };

  readonly note: Origins['note'] = (ids, origin) => {
    for (const id of ids) this.known.set(id, origin);
    return Promise.resolve();
  };
}
