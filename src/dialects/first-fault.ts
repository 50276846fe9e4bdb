/** What is wrong with a client's body: the first fault found is told, later ones are not kept. */
import type { RequestFault } from './dialect.ts';

export class FirstFault {
  #fault: RequestFault | null = null;

  get fault(): RequestFault | null {
    return this.#fault;
  }

  /** `param` names the field (`messages[3].content`), null the whole body. */
  report(param: string | null, message: string): void {
    this.#fault ??= { param, message };
  }

  /** `param` had to be `wanted` (such as "a string") and is `found`, whose value is never quoted. */
  reportType(param: string, wanted: string, found: unknown): void {
    this.report(param, `${param} must be ${wanted}, not ${kindOf(found)}`);
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (value === '') return 'an empty one';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'boolean') return String(value);
  return `a ${typeof value}`;
}
